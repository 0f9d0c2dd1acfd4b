"""The dialog that gives one thing away: as a file in one of several forms, or as a page at an address.

Whatever is published is listed in it, and on the Settings page, where it can be revoked. The secret of a new address is
held by this tab until the dialog is opened anew; then nobody can show it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import PrivateValue, reworded
from forky_core.gateway.downloading import Download
from forky_core.gateway.published import PREFIX
from forky_core.model.errors import ForkyError
from forky_core.publishing.forms.form import PAGE, PublicationForm, pieces, report_file_name
from forky_core.publishing.private_texts import private_values, without_private
from forky_core.publishing.published_pages import DAYS, NewPage, PublishedPages
from forky_core.publishing.publishing import report_of
from forky_core.publishing.registry import publication_form, publication_forms
from forky_core.publishing.report import Report
from forky_core.publishing.things.replay import EVERYTHING
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from pages.ui.components.downloads import download_link
from pages.ui.components.links import server_address
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.private_values import draw_private_values
from pages.ui.components.published import FRESH, draw_published
from pages.ui.session import session
from pages.ui.workspace import reader_id, workspace_path

_HELD = "give.held"
_DAYS = {1: "a day", 7: "a week", DAYS: f"{DAYS} days", 90: "90 days", 366: "a year"}


class _Held(NamedTuple):
    """What was worked out for one choice, so that a tick does not work it out again."""

    what: tuple[object, ...]
    report: Report
    seen: tuple[PrivateValue, ...]


def open_giving(forky: Workspace, chat: Conversation, thing: str, which: Sequence[str] = ()) -> None:
    """Open the dialog in this run."""
    forget_given()
    _give(forky, chat, thing, tuple(which))


def forget_given() -> None:
    """Forget what the dialog held when it was open last, an address among it."""
    for kept in (_HELD, FRESH):
        st.session_state.pop(kept, None)


@st.dialog("Give away", width="large", icon=":material/ios_share:")
def _give(forky: Workspace, chat: Conversation, thing: str, which: tuple[str, ...]) -> None:
    draw_giving(forky, chat, thing, which)


def draw_giving(forky: Workspace, chat: Conversation, thing: str, which: Sequence[str]) -> None:
    """Keys: `give.form`, `give.merge`, `give.everything`, `give.tick.<n>`, `give.download`, `give.days`,
    `give.publish`, `give.revoke.<id>`.
    """
    chosen = _chosen(chat, thing, which)
    try:
        held = _held(forky, chat, thing, chosen)
    except ForkyError as error:
        st.caption(plain_label(str(error), 400))
        return
    st.markdown(f"**{plain_label(held.report.title, 200)}**")
    form = _form(held.report)
    ticked = draw_private_values(held.seen, f"give.tick.{thing}")
    title = reworded(held.report.title, ticked)
    download_link(
        Download(
            report_file_name(title, held.report.kind, form),
            form.media_type,
            lambda: pieces(without_private(held.report, ticked), form),
        ),
        key="give.download",
    )
    _draw_address(forky, chat, held.report, ticked, form)


def _chosen(chat: Conversation, thing: str, which: Sequence[str]) -> tuple[str, ...]:
    """Which one is given away, where the dialog lets one choose."""
    if thing == "replay":
        everything = st.toggle(
            "With what was undone",
            key="give.everything",
            help="Every operation, with the first lines of messages that were undone. Else only what can be seen.",
        )
        return (EVERYTHING,) if everything else ()
    if thing == "merge" and not which:
        merges = {one.id: one for one in reversed(chat.path()) if one.merges}
        if not merges:
            return ()
        picked = st.selectbox(
            "Which merge",
            list(merges),
            key="give.merge",
            format_func=lambda id: showable(
                f"{', '.join(m.source for m in merges[id].merges)} · {line_of_text(merges[id])}"
            )[:120],
        )
        return (str(picked),)
    return tuple(which)


def _held(forky: Workspace, chat: Conversation, thing: str, which: tuple[str, ...]) -> _Held:
    what = (chat.id, chat.branch_name, chat.view.version, thing, which)
    held = st.session_state.get(_HELD)
    if not isinstance(held, _Held) or held.what != what:
        report = report_of(forky, chat, thing, which)
        held = st.session_state[_HELD] = _Held(what, report, private_values(report))
    return held


def _form(report: Report) -> PublicationForm:
    name = st.selectbox(
        "As",
        [one.name for one in publication_forms()],
        key="give.form",
        format_func=lambda name: publication_form(name).label,
    )
    form = publication_form(name)
    if form.media_type == PAGE:
        st.caption(
            "One file that loads nothing and opens in any browser. It can also stand at an address below."
        )
    elif form.name == "csv":
        st.caption(f"{count(len(report.table.rows), 'row')} with {', '.join(report.table.head)}.")
    return form


def _draw_address(
    forky: Workspace,
    chat: Conversation,
    report: Report,
    ticked: Sequence[PrivateValue],
    form: PublicationForm,
) -> None:
    pages = PublishedPages(forky.store)
    if form.media_type == PAGE:
        st.markdown("**Or at an address of this server**")
        st.caption(
            "Whoever has the address reads this page, as it is now, without signing in, and nothing else of Forky. "
            "It can be revoked here and in Settings."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            days = st.selectbox(
                "Open for", list(_DAYS), index=2, key="give.days", format_func=_DAYS.__getitem__, width=160
            )
            st.button(
                "Publish",
                key="give.publish",
                icon=":material/public:",
                on_click=_publish,
                args=(pages, chat, report, ticked, form, days),
            )
    fresh = st.session_state.get(FRESH)
    if isinstance(fresh, NewPage):
        st.code(
            f"{server_address()}{workspace_path()}{PREFIX}/{fresh.secret}", language=None, wrap_lines=True
        )
        st.caption(f"Copy it now: it is not shown again. It leads here until {stamp(fresh.page.until)}.")
    elif isinstance(fresh, str):
        st.caption(plain_label(fresh, 300))
    draw_published(pages, pages.all(chat.id), key="give")


def _publish(
    pages: PublishedPages,
    chat: Conversation,
    report: Report,
    ticked: Sequence[PrivateValue],
    form: PublicationForm,
    days: int,
) -> None:
    try:
        given = without_private(report, ticked)
        st.session_state[FRESH] = pages.publish(
            given, form, chat.id, days=days, by=session().person or reader_id()
        )
    except ForkyError as error:
        st.session_state[FRESH] = str(error)
