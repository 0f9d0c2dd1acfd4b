"""The inspector: exactly what a model would be sent here, item by item, and what steers it (law 7).

The frame is the place that the address names, the view model is the rows of a request (views/context.py), and
pages/ui/context draws it.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from forky_core.conversation.replies.preparing import PreparedRequest
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.context import ContextRow, compared, rows
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import asking, label_of
from pages.ui.components.notice import done
from pages.ui.components.only_reading import draw_refusal, may_write, why_not_write
from pages.ui.components.undoing import page_top
from pages.ui.context.facts import draw_facts
from pages.ui.context.items import MOST, draw_compared, draw_items, hear_steering
from pages.ui.context.memory import draw_memory
from pages.ui.context.style import apply_context_style
from pages.ui.drafts import drafts
from pages.ui.frame import Frame, go, locate, place, saying
from pages.ui.made_pages import linked
from pages.ui.page import Page

PAGE = Page(title="Context", icon="fact_check", order=60, shown=False)

_VIEWS = ("Items", "Compare", "Exact request")
_SHOWN = "context.shown"


def main() -> None:
    apply_context_style()
    here = locate()
    if here is None:
        st.subheader("Context", anchor=False)
        st.caption(
            "There is no conversation yet. Begin one; what its model is sent is shown here, item by item."
        )
        st.page_link(linked("library.py"), label="Go to the Library", icon=":material/library_books:")
        return
    page_top(f"What “{here.chat.branch_name}” sends", here.forky, here.session, here.chat)
    _draw_place(here)
    try:
        made = _prepared(here)
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
        _draw_all(here, made, line)
    elif view == "Compare":
        _draw_compared(here, made)
    else:
        st.caption(
            "Byte for byte what the model gets when this is sent now. Keys, addresses and how the answer is to travel are "
            "no part of it."
        )
        st.code(showable(made.json), language="json", height=560, wrap_lines=True)
    hear_steering(lambda name, id: _steer(here, name, id), key="context.steer")


def _prepared(here: Frame) -> PreparedRequest:
    """With what is being typed here, as the composer would send it."""
    at = "" if here.at_head else f"/{here.at}"
    draft = drafts().at(f"{here.chat.id}/{here.chat.branch_name}{at}")
    return here.chat.calls.prepare(
        draft.text, at=here.at, model=asking(here).name, attachments=draft.files, search=draft.search
    )


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
        st.page_link(
            linked("chat.py"),
            label="Back to the chat",
            icon=":material/arrow_back:",
            query_params=place(here.chat, here.at),
        )


def _switch(here: Frame) -> None:
    with saying(here.session):
        go(here.chat.checkout(st.session_state["context.branch"]))


def _rows(here: Frame, made: PreparedRequest) -> tuple[ContextRow, ...]:
    known = here.chat.visible.messages
    asked = made.asked

    def lookup(id: MessageId) -> Message | None:
        return asked if asked is not None and id == asked.id else known.get(id) or here.chat.message(id)

    return rows(
        made.context,
        lookup,
        cached=made.cached,
        exclusions=here.chat.rules.current.exclusions,
        typed=asked.id if asked is not None else None,
        author=here.chat.people.author_of,
    )


def _draw_all(here: Frame, made: PreparedRequest, line: DeltaGenerator) -> None:
    """Keys: `context.filter`, `context.more`."""
    found = _rows(here, made)
    with line:
        only = st.segmented_control(
            "Show",
            ("All", "Sent", "Not sent"),
            default="All",
            required=True,
            key="context.filter",
            label_visibility="collapsed",
        )
        chosen = [row for row in found if only == "All" or row.item.included == (only == "Sent")]
        shown = int(st.session_state.get(_SHOWN, MOST))
        if len(chosen) > shown:
            st.button(
                f"Show {min(MOST, len(chosen) - shown):,} earlier of {len(chosen) - shown:,}",
                key="context.more",
                type="tertiary",
                icon=":material/expand_less:",
                on_click=_show_more,
                args=(shown,),
            )
    if not chosen:
        st.caption("Nothing." if found else "Nothing has been said here yet: only a question would be sent.")
        return
    draw_items(chosen, here.chat.id, shown=shown, steers=may_write(here.chat, here.chat.branch_name))


def _show_more(shown: int) -> None:
    st.session_state[_SHOWN] = shown + MOST


def _draw_compared(here: Frame, made: PreparedRequest) -> None:
    """Keys: `context.other`."""
    others = [name for name in here.branch_names() if name != here.chat.branch_name]
    if not others:
        st.caption("There is no other branch to compare with. Fork somewhere, and come back.")
        return
    other = st.selectbox("Compare with", others, key="context.other", format_func=showable, width=320)
    there = here.chat.checkout(other)
    theirs = there.calls.prepare(model=made.request.model)
    visible = here.chat.visible.messages
    one = _rows(here, made)
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


def _steer(here: Frame, name: str, id: str) -> None:
    """A switch of a row. The id comes from a browser, so it is looked up like any other."""
    verbs = {
        "pin": here.chat.rules.pin,
        "unpin": here.chat.rules.unpin,
        "exclude": here.chat.rules.exclude,
        "include": here.chat.rules.include,
    }
    if name in verbs:
        with saying(here.session):
            done(here.session, verbs[name](id))


main()
