"""What is new in a conversation to whoever opens it: a quiet bar that steps to it, and what happened before they came.

Only a team's server has them. What is new is worked out once, when somebody comes to the conversation; from then on
what others do is seen as it happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.captions import opening_of
from forky_core.views.shelf import count
from forky_core.views.times import since
from pages.ui.chat.acting import goto
from pages.ui.chat.arrival import Arrival
from pages.ui.chat.cells import message_leads
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame, saying
from pages.ui.note import note_html
from pages.ui.person import News, Viewer, viewer

_MAIN = "main"
_CSS = """
<style>
.st-key-line-news { padding: .3rem .7rem; border-radius: .5rem; flex-wrap: wrap; gap: .2rem .6rem !important;
  border: 1px solid color-mix(in srgb, var(--fk-accent) 45%, transparent);
  background: color-mix(in srgb, var(--fk-accent) 7%, transparent); }
.st-key-line-news :is(p, [data-testid="stMarkdownContainer"]) { margin: 0 !important; }
.st-key-line-news > :first-child { flex: 1 1 12rem; }
.st-key-chat-top > div:has(> .st-key-line-news) { flex: 1 1 100%; order: 3; }
.st-key-chat-so-far .fk-merge { max-height: 45vh; overflow: auto; }
.st-key-chat-so-far { padding: .8rem .9rem; border-radius: .6rem; gap: .4rem !important;
  border: 1px solid color-mix(in srgb, var(--fk-accent) 45%, transparent); }
.fk-so-far-top { font-size: .88rem; opacity: .82; line-height: 1.5; }
</style>
"""


def arrive(here: Frame) -> Arrival | None:
    """How this tab came to the conversation that is shown; None on the server of one person."""
    who, tab = viewer(), here.session
    if who.alone:
        return None
    asked = st.query_params.pop("so_far", None) is not None
    if tab.arrival is None or tab.arrival.conversation != here.chat.id:
        seen = who.seen(here.chat.id)
        news = who.news_since(here.chat.id, seen) if seen is not None else None
        added = seen is None and who.sharing(here.chat.id).takes_part_by_share
        tab.arrival = Arrival(
            here.chat.id,
            (seen.operation, seen.event) if seen is not None else (0, 0),
            news if news is not None and news.count else None,
            added,
        )
    tab.arrival.so_far |= asked
    return tab.arrival


def note_seen(here: Frame, arrival: Arrival | None, version: int) -> None:
    """Note that the reader has seen the conversation up to this operation, as this run drew it."""
    who = viewer()
    if arrival is None:
        return
    upto = (version, who.threads_version(here.chat.id) or 0)
    if upto != arrival.noted:
        with suppress(ForkyError):  # It is a convenience: the page is drawn.
            who.note_seen(here.chat.id, *upto)
            arrival.noted = upto


def draw_news(here: Frame, arrival: Arrival | None) -> None:
    """Draw the bar of what is new, in the part of the page that stays in sight.

    Keys: `chat.news`, `chat.news_close`.
    """
    if arrival is not None and arrival.news is not None and not arrival.so_far:
        st.html(_CSS)
        _draw_bar(here, viewer(), arrival, arrival.news)


def draw_so_far(here: Frame, arrival: Arrival | None) -> None:
    """Draw what happened so far, below the newest message, where the page opens. Keys: `chat.so_far_close`."""
    if arrival is not None and arrival.so_far:
        st.html(_CSS)
        _draw_so_far(here, viewer(), arrival)


def _draw_bar(here: Frame, who: Viewer, arrival: Arrival, news: News) -> None:
    places = [place for place in news.places if place[1] in here.chat.visible.messages]
    by = names_of([plain_label(who.name_of(person), 40) for person in news.people])
    with st.container(key="line-news", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{news.count} new** since {since(news.since, now())}, by {by}", width="stretch")
        if not places:
            page_link("history.py", "Show", {"c": str(here.chat.id)}, icon="history")
        elif arrival.step < len(places):
            label = f"Next, {arrival.step + 1} of {len(places)}" if arrival.step else "Show"
            st.button(
                label,
                key="chat.news",
                icon=":material/arrow_downward:",
                help="Go to the next message that is new",
                on_click=_step,
                args=(here, arrival, places),
            )
        else:
            st.caption("That was all", width="content")
        quiet_button(
            "Close this line", "chat.news_close", _close_news, arrival, icon="close", help="Close this line"
        )


def names_of(names: Sequence[str]) -> str:
    """Names joined for a sentence: “Ada”, “Ada and Ben”, “Ada, Ben and 3 others”."""
    if len(names) < 3:
        return " and ".join(names) or "somebody"
    others = len(names) - 2
    return f"{names[0]}, {names[1]} and {names[2] if others == 1 else f'{others} others'}"


def _step(here: Frame, arrival: Arrival, places: Sequence[tuple[str, MessageId]]) -> None:
    branch, message = places[arrival.step]
    arrival.step += 1
    with saying(here.session):
        on_it = branch in here.chat.branches
        goto(
            Frame(here.forky, here.session, here.chat.checkout(branch) if on_it else here.chat, here.at),
            message,
        )
        if not branch:
            here.session.acting = ("threads", message)


def _close_news(arrival: Arrival) -> None:
    arrival.news = None


def _draw_so_far(here: Frame, who: Viewer, arrival: Arrival) -> None:
    chat = here.chat.checkout(_MAIN) if _MAIN in here.chat.branches else here.chat
    with st.container(key="chat-so-far"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**What happened so far**", width="stretch")
            quiet_button("Close", "chat.so_far_close", _close_so_far, arrival, icon="close")
        told = [f"{count(len(chat.path()), 'message')} on “{showable(chat.branch_name)}”"]
        others = len(here.branch_names(chat.branch_name)) - 1
        told += [count(others, "more branch")] if others else []
        sharing = who.sharing(here.chat.id)
        owner = sharing.owner
        whose = f"It belongs to {owner.name}; you are {sharing.own_role.phrase} of it. " if owner else ""
        st.html(
            f'<div class="fk-so-far-top">{escape(showable(whose))}{escape(", ".join(told))}. These are the lines that matter, '
            "chosen by rules; each number leads to the message that it is from.</div>"
        )
        if not arrival.note:
            part = chat.merges.so_far()
            messages = here.chat.visible.messages
            author = here.chat.people.author_of
            leads = message_leads(
                here.chat.id,
                lambda id: opening_of(messages.get(id), author),
                author,
                only_reads=bool(why_only_reads(here.chat)),
            )
            arrival.note = note_html(part, leads, summary=False, exact=False) if part is not None else ""
        if arrival.note:
            st.html(arrival.note)
        else:
            st.caption("Nothing has been said yet.")


def _close_so_far(arrival: Arrival) -> None:
    arrival.so_far = False
