"""The dialog that exports a conversation, or makes a link to it or to a part of it.

For a file it asks for the format and how much to export, and shows what is lost and what looks private.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.redaction import (
    PrivateValue,
    findings,
    found_in,
    redacted,
    reworded,
    unread_files,
)
from forky_core.formats.exporting.registry import exporter, exporters
from forky_core.formats.exporting.sharing import (
    export_value,
    exported_part,
    file_name,
    hidden_content,
    holds_log,
    pieces,
)
from forky_core.formats.exporting.writers.message_arrays import DIALECTS, Messages
from forky_core.formats.forky_file.chat import Chat
from forky_core.gateway.downloading import Download
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.captions import opening_of
from forky_core.views.graph import line_of_text
from forky_core.views.listed import listed_branches
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.choices import choose_one
from pages.ui.components.downloads import download_link
from pages.ui.components.giving import file_or_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.private_values import draw_private_values
from pages.ui.components.showing import demo_link
from pages.ui.links.making import draw_link_form, draw_link_scope, forget_link
from pages.ui.person import Viewer, threads_file, viewer

_DIALECTS: dict[str, str] = dict(zip(DIALECTS, ("OpenAI", "Anthropic", "ShareGPT"), strict=True))
_SCOPES = {"all": "All of it", "branch": "One branch", "messages": "Chosen messages"}
_MOST_MESSAGES = 500
"""How many messages are offered one by one: the last ones of the branch."""
_CACHED = "share.held"


class _ExportScope(NamedTuple):
    """What was worked out for one scope, cached so that a tick does not work it out again."""

    what: tuple[object, ...]
    part: str
    """"branch" or "messages"; "" for all of the conversation."""
    whole: Chat
    """Everything in the scope; a format names its losses of it."""
    chat: Chat
    """What is exported of it."""
    seen: tuple[PrivateValue, ...]
    unread: tuple[str, ...]
    lost: dict[str, tuple[str, ...]]
    """The losses of each format that was chosen so far, by its name and dialect."""


@st.dialog("Export or share", width="large", icon=":material/ios_share:")
def _share(forky: Workspace, chat: Conversation) -> None:
    draw_share(forky, chat)


def share(forky: Workspace, chat: Conversation) -> None:
    """Open the dialog in this run."""
    forget_link()
    _share(forky, chat)


def draw_share(forky: Workspace, chat: Conversation) -> None:
    """Keys: `share.format`, `share.dialect`, `share.scope`, `share.branch`, `share.messages`, `share.log`,
    `share.download`, `share.tick.<n>`, `share.threads`, `share.threads_download`, `share.as`, and those of
    `draw_link_form` and `draw_link_scope`.
    """
    if file_or_link("share.as"):
        demo_link(chat, "share.demo", {"b": chat.branch_name})
        thing, which = draw_link_scope(chat)
        draw_link_form(forky, chat, thing, which)
        return
    st.markdown(f"**{plain_label(title_or_placeholder(chat.title))}**")
    name = st.selectbox(
        "Format",
        [one.name for one in exporters()],
        key="share.format",
        format_func=lambda name: exporter(name).label,
    )
    dialect = (
        choose_one("Dialect", _DIALECTS, "share.dialect", labelled=True) if name == Messages.name else ""
    )
    to = exporter(name, dialect)
    try:
        scope = _scope(forky, chat, to)
    except ForkyError as error:
        st.caption(plain_label(str(error), 400))
        return
    if scope is None:
        st.caption("Choose the messages that are to be in the file.")
        return
    _draw_losses(to, scope, f"{name} {dialect}")
    who = viewer()
    ticked = _draw_findings(scope)
    download_link(
        Download(
            file_name(reworded(scope.chat.title, ticked), to),
            to.media_type,
            lambda: who.noted(pieces(redacted(scope.chat, ticked), to), chat.id, to.name, scope.part),
        ),
        key="share.download",
    )
    _draw_threads(who, chat, scope)


def _draw_threads(who: Viewer, chat: Conversation, scope: _ExportScope) -> None:
    """Offer the threads at the exported messages as a second file, if there are any."""
    if who.alone:
        return
    threads = [one for one in who.threads(chat.id).all() if one.message in scope.chat.messages]
    if not threads or not st.toggle(
        f"With a file of the {count(len(threads), 'thread')} that people have about it",
        key="share.threads",
        help="What people say to each other about messages is in no other file",
    ):
        return
    messages = chat.visible.messages
    text = threads_file(
        chat.title, threads, who.name_of, lambda id: opening_of(messages.get(id), chat.people.author_of)
    )
    ticked = draw_private_values(found_in([("the threads", text)]), f"share.threads.{chat.id}")
    download_link(
        Download(
            f"{file_name(reworded(scope.chat.title, ticked), exporter('markdown')).removesuffix('.md')}-threads.md",
            "text/markdown; charset=utf-8",
            lambda: who.noted([reworded(text, ticked).encode()], chat.id, "markdown", "threads"),
        ),
        key="share.threads_download",
    )


def _scope(forky: Workspace, chat: Conversation, to: Exporter) -> _ExportScope | None:
    """Ask what is to be exported and collect it; return None while no message is chosen."""
    scope = choose_one("How much", _SCOPES, "share.scope", labelled=True)
    branch: str | None = None
    messages: tuple[MessageId, ...] = ()
    if scope != "all":
        names = list(listed_branches(chat.view, {chat.branch_name}))
        branch = st.selectbox(
            "Branch", names, index=names.index(chat.branch_name), key="share.branch", format_func=showable
        )
    if scope == "messages" and branch is not None:
        path = [one for one in chat.checkout(branch).path() if not one.hidden][-_MOST_MESSAGES:]
        label = {one.id: f"{at}. {one.role}: {line_of_text(one)}" for at, one in enumerate(path, 1)}
        chosen = st.multiselect(
            "Messages", list(label), key="share.messages", format_func=lambda id: showable(label.get(id, ""))
        )
        messages = tuple(id for id in label if id in chosen)
        if not messages:
            return None
    ours = holds_log(to)
    log = ours and scope == "all" and _log_wanted()
    what = (chat.id, chat.view.version, scope, branch, messages, ours, log)
    cached = st.session_state.get(_CACHED)
    if not isinstance(cached, _ExportScope) or cached.what != what:
        whole = export_value(forky.store, chat, branch=branch if not messages else None, messages=messages)
        made = exported_part(whole, to, log=log)
        cached = _ExportScope(
            what, "" if scope == "all" else str(scope), whole, made, findings(made), unread_files(made), {}
        )
        st.session_state[_CACHED] = cached
    return cached


def _log_wanted() -> bool:
    """Ask whether to export the log and what was undone, which others should not get without being shown it."""
    return st.toggle(
        "With undone messages, what was put aside and the log",
        key="share.log",
        help="For a backup of your own. A copy with placeholders never has them.",
    )


def _draw_losses(to: Exporter, scope: _ExportScope, named: str) -> None:
    if named not in scope.lost:
        scope.lost[named] = to.losses(scope.whole)
    lost = scope.lost[named]
    unseen = hidden_content(scope.whole)
    if unseen and holds_log(to):
        st.caption(f"{'Leaving with it' if hidden_content(scope.chat) else 'Not in the file'}: {unseen}.")
        if not lost:
            return
    if not lost:
        st.caption("This format holds all of it.")
        return
    with st.container(key="share-losses", gap=None):
        st.markdown("What this format does not hold")
        st.caption("\n".join(f"- {plain_label(sentence, 300)}" for sentence in lost))


def _draw_findings(scope: _ExportScope) -> list[PrivateValue]:
    """Draw the private values with checkboxes, and return those that are ticked; at first all are."""
    if scope.unread:
        names = ", ".join(plain_label(name, 40) for name in scope.unread[:5])
        st.caption(f"Not looked into: {names}{' …' if len(scope.unread) > 5 else ''}")
    return draw_private_values(scope.seen, f"share.tick.{scope.what[0]}")
