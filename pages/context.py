"""The inspector: exactly what a model would be sent here, item by item, and what steers it (law 7).

The frame is the place that the address names, the view model is the rows of a request (views/context.py), and
pages/ui/context draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.replies.preparing import PreparedRequest
from forky_core.model.errors import ForkyError
from forky_core.views.context import compared, rows
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import asking, label_of
from pages.ui.components.only_reading import draw_refusal, why_not_write
from pages.ui.components.undoing import page_top
from pages.ui.context.facts import draw_facts
from pages.ui.context.items import draw_compared, hear_steering
from pages.ui.context.memory import draw_memory
from pages.ui.context.panel import draw_sent, prepared, rows_of, steer
from pages.ui.context.style import apply_context_style
from pages.ui.frame import Frame, go, locate, place, saying
from pages.ui.page import Page

PAGE = Page(title="What the model reads", icon="fact_check", order=60, shown=False)

_VIEWS = ("Items", "Compare", "Exact request")
ABOUT = "Exactly what would be sent with the next question: each item, and why it is in or out."


def main() -> None:
    apply_context_style()
    here = locate()
    if here is None:
        st.subheader("What the model reads", anchor=False)
        st.caption(
            "There is no conversation yet. Begin one; what its model is sent is shown here, item by item."
        )
        page_link("library.py", "Go to the Library", icon="library_books")
        return
    title = f"What the model reads on “{here.chat.branch_name}”"
    page_top(title, here.forky, here.session, here.chat, about=ABOUT)
    _draw_place(here)
    try:
        made = prepared(here)
    except ForkyError as error:
        st.info(plain_label(str(error), 400))
        return
    draw_facts(here, made)
    if len(here.chat.people.room.models) > 1 and not asking(here).once:
        _tell_turns(here)
    if not draw_refusal(why_not_write(here.chat, here.chat.branch_name)):
        draw_memory(here)
    line = st.container(key="line-view", horizontal=True, vertical_alignment="center")
    view = line.segmented_control(
        "View", _VIEWS, default=_VIEWS[0], required=True, key="context.view", label_visibility="collapsed"
    )
    if view == "Items":
        draw_sent(here, made, line)
    elif view == "Compare":
        _draw_compared(here, made)
    else:
        st.caption(
            "Byte for byte what the model gets when this is sent now. Keys, addresses and how the answer is to travel are "
            "no part of it."
        )
        st.code(showable(made.json), language="json", height=560, wrap_lines=True)
    hear_steering(lambda name, id: steer(here, name, id), key="context.steer")


def _tell_turns(here: Frame) -> None:
    first, *others = (label_of(here.forky.models, name) for name in here.chat.people.room.models)
    st.caption(
        plain_label(
            f"This is what {first} is sent. Then comes {', then '.join(others)}, who reads what was answered before.",
            300,
        )
    )


def _draw_place(here: Frame) -> None:
    """Keys: `context.branch`, `context.back`."""
    with st.container(key="line-context", horizontal=True, vertical_alignment="center"):
        names = here.branch_names()
        st.session_state["context.branch"] = here.chat.branch_name
        st.selectbox(
            "Branch",
            names,
            key="context.branch",
            format_func=showable,
            label_visibility="collapsed",
            icon=":material/account_tree:",
            on_change=_switch,
            args=(here,),
            width=260,
        )
        if not here.at_head:
            st.html('<span class="fk-quiet">at an earlier message</span>', width="content")
        page_link("chat.py", "Back to the chat", place(here.chat, here.at), icon="arrow_back")


def _switch(here: Frame) -> None:
    with saying(here.session):
        go(here.chat.checkout(st.session_state["context.branch"]))


def _draw_compared(here: Frame, made: PreparedRequest) -> None:
    """Keys: `context.other`."""
    others = [name for name in here.branch_names() if name != here.chat.branch_name]
    if not others:
        st.caption("There is no other branch to compare with. Start a branch somewhere, and come back.")
        return
    other = st.selectbox("Compare with", others, key="context.other", format_func=showable, width=320)
    there = here.chat.checkout(other)
    theirs = there.calls.prepare(model=made.request.model)
    visible = here.chat.visible.messages
    one = rows_of(here, made)
    two = rows(theirs.context, lambda id: visible.get(id) or there.message(id), author=there.people.author_of)
    difference = theirs.context.tokens - made.context.tokens
    sign = "more" if difference > 0 else "fewer"
    said = (
        f"“{other}” sends {abs(difference):,} tokens {sign}."
        if difference
        else f"“{other}” sends as many tokens."
    )
    st.caption(plain_label(f"{said} Left-out items are not compared.", 300))
    draw_compared(compared(one, two), here.chat.branch_name, other, here.chat.id)


main()
