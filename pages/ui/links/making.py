"""The form that makes a link: what it shows, what looks private in it, what goes along, and for how long.

What looks private comes first, and is replaced unless somebody takes the tick away. The secret of a new address is held
by this tab until the dialog is opened anew; then nobody can show it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import PrivateValue
from forky_core.gateway.downloading import Download
from forky_core.gateway.links import PREFIX
from forky_core.model.errors import ForkyError
from forky_core.people.links.content import LinkContent, content_of
from forky_core.people.links.link import DAYS, LinkDraft, NewLink, value_digest
from forky_core.people.links.making import make_link_to
from forky_core.people.links.shared_part import WITH_PATH
from forky_core.views.graph import line_of_text
from forky_core.views.listed import listed_branches
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from pages.ui.components.choices import choose_one
from pages.ui.components.downloads import download_link
from pages.ui.components.links import server_address
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.private_values import draw_private_values
from pages.ui.links.listing import FRESH, draw_links
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import links_of

_HELD = "link.held"
_DAYS = {1: "a day", 7: "a week", DAYS: f"{DAYS} days", 90: "90 days", 366: "a year"}
_SCOPES = {"branch": "This branch", "conversation": "All branches", "message": "One message"}
_MOST_MESSAGES = 500
_ALONG = {
    "hidden": ("Hidden messages", "Instructions and notes that the notebook does not show"),
    "rules": ("System prompt and settings", "System prompts, and the parameters of model calls"),
    "costs": ("Costs", "Money, tokens and time of each answer"),
    "documents": ("Files and documents", "Attached files, and which documents an answer cites"),
}


class _CachedPreview(NamedTuple):
    """What was drawn for one choice, so that a tick does not draw it again."""

    what: tuple[object, ...]
    content: LinkContent


def forget_link() -> None:
    """Forget what the form held when it was open last, an address among it."""
    for kept in (_HELD, FRESH):
        st.session_state.pop(kept, None)


def draw_link_scope(chat: Conversation) -> tuple[str, tuple[str, ...]]:
    """Choose a part of a conversation: the thing, and which one. Keys: `link.scope`, `link.branch`, `link.message`,
    `link.path`.
    """
    scope = choose_one("What", _SCOPES, "link.scope", labelled=True)
    if scope == "conversation":
        st.caption("Every branch that is listed now; with “live”, also those that somebody begins later.")
        return scope, ()
    names = list(listed_branches(chat.view, {chat.branch_name}))
    branch = str(
        st.selectbox(
            "Branch", names, index=names.index(chat.branch_name), key="link.branch", format_func=showable
        )
    )
    if scope == "branch":
        return scope, (branch,)
    path = [one for one in chat.checkout(branch).path() if not one.hidden][-_MOST_MESSAGES:]
    label = {str(one.id): f"{at}. {one.role}: {line_of_text(one)}" for at, one in enumerate(path, 1)}
    if not label:
        return scope, ()
    chosen = str(
        st.selectbox(
            "Message",
            list(reversed(label)),
            key="link.message",
            format_func=lambda id: showable(label.get(id, ""))[:120],
        )
    )
    whole = st.toggle(
        "With everything that led to it",
        key="link.path",
        help="Then others can make it their own, too. Otherwise they read this message alone.",
    )
    return scope, (chosen, WITH_PATH) if whole else (chosen,)


def draw_link_form(forky: Workspace, chat: Conversation, thing: str, which: Sequence[str]) -> None:
    """Keys: `link.` with `live`, `along.<name>`, `tick.<thing>.<n>`, `returns`, `days`, `see`, `make`,
    `revoke.<id>`.
    """
    if not viewer().may("edit", chat.id):
        st.info(
            "Links are made by the editors of a conversation and by whoever it belongs to. Ask one of them.",
            icon=":material/lock:",
        )
        return
    along = _along()
    draft = LinkDraft(chat.id, thing, tuple(which), chat.branch_name, included=along)
    try:
        content = _content(forky, chat, draft)
    except ForkyError as error:
        st.caption(plain_label(str(error), 400))
        return
    _say_what(content)
    ticked = draw_private_values(content.seen, f"link.tick.{thing}", where="on the page")
    if content.draft.can_be_forked:
        st.checkbox(
            "Forks of it may be given back",
            key="link.returns",
            help="Whoever has the address can send a fork back, which waits as a merge request until somebody lands it.",
        )
    _draw_making(forky, content, ticked)
    _draw_fresh()
    draw_links(forky, links_of(forky).all(chat.id), key="link")


def _along() -> tuple[str, ...]:
    with st.expander("What goes along", icon=":material/visibility_off:"):
        st.caption("Without a tick, a link shows what people and models said, and nothing of these.")
        return tuple(
            name
            for name, (label, help) in _ALONG.items()
            if st.checkbox(label, key=f"link.along.{name}", help=help)
        )


def _content(forky: Workspace, chat: Conversation, draft: LinkDraft) -> LinkContent:
    what = (chat.view.version, draft)
    held = st.session_state.get(_HELD)
    if not isinstance(held, _CachedPreview) or held.what != what:
        held = st.session_state[_HELD] = _CachedPreview(what, content_of(forky, draft))
    return held.content


def _say_what(content: LinkContent) -> None:
    st.markdown(f"**{plain_label(content.shown_title(()), 200)}**")
    if not content.draft.can_be_forked:
        return
    said = f"{count(content.messages, 'message')}, with all that was brought back into them."
    if content.ids_hold and not content.seen:
        said += " Who is signed in can make it their own; the messages keep their ids, so that it can be brought back."
    else:
        said += " Who is signed in can make it their own; from the first message that is changed or left out, ids differ."
    st.caption(said)


def _draw_making(forky: Workspace, content: LinkContent, ticked: Sequence[PrivateValue]) -> None:
    spared = frozenset(value_digest(one.value) for one in content.seen if one not in ticked)
    with st.container(key="line-link-make", horizontal=True, vertical_alignment="bottom"):
        shows = {False: "As it is now", True: "What comes, too"}
        live = choose_one("Shows", shows, "link.live", labelled=True)
        days = st.selectbox(
            "Open for", list(_DAYS), index=2, key="link.days", format_func=_DAYS.__getitem__, width=130
        )
        st.button(
            "Make the link",
            key="link.make",
            type="primary",
            icon=":material/add_link:",
            on_click=_make,
            args=(forky, content, spared, days),
            kwargs={"live": bool(live)},
        )
    if live:
        st.caption(
            "What looks private later is replaced as well. It closes when you may share this no longer."
        )
    who = viewer()
    download_link(
        Download(
            "link.html",
            "text/html",
            lambda: who.noted(content.page(spared), content.draft.conversation, "html", content.draft.thing),
        ),
        key="link.see",
        label="See the page first",
        main=False,
    )


def _make(forky: Workspace, content: LinkContent, spared: frozenset[str], days: int, *, live: bool) -> None:
    by = viewer().id or session().person or forky.actor
    returns = content.draft.can_be_forked and bool(st.session_state.get("link.returns"))
    try:
        wanted = replace(content, draft=replace(content.draft, live=live, returns=returns))
        st.session_state[FRESH] = make_link_to(wanted, spared, links=links_of(forky), days=days, by=by)
    except ForkyError as error:
        st.session_state[FRESH] = str(error)


def _draw_fresh() -> None:
    fresh = st.session_state.get(FRESH)
    if isinstance(fresh, NewLink):
        st.code(f"{server_address()}{PREFIX}/{fresh.secret}", language=None, wrap_lines=True)
        st.caption(
            f"Whoever has it reads this without signing in, and nothing else. Copy it now: it is not shown again. "
            f"It leads here until {stamp(fresh.link.until)}."
        )
    elif isinstance(fresh, str):
        st.caption(plain_label(fresh, 300))
