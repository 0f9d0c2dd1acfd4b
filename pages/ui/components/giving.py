"""The dialog that gives one thing away: as a file, or by a link (pages/ui/links/making.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import PrivateValue, reworded
from forky_core.formats.reports.form import PAGE, PublicationForm, pieces, report_file_name
from forky_core.formats.reports.private_texts import private_values, without_private
from forky_core.formats.reports.publishing import report_of
from forky_core.formats.reports.registry import forms_of, publication_form
from forky_core.formats.reports.report import Report
from forky_core.formats.reports.things.replay import EVERYTHING
from forky_core.gateway.downloading import Download
from forky_core.model.errors import ForkyError
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count
from pages.ui.components.choices import choose_one
from pages.ui.components.downloads import download_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.private_values import draw_private_values
from pages.ui.links.making import draw_link_form, forget_link
from pages.ui.person import viewer

_HELD = "give.held"


class _CachedReport(NamedTuple):
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
    st.session_state.pop(_HELD, None)
    forget_link()


@st.dialog("Share", width="large", icon=":material/ios_share:")
def _give(forky: Workspace, chat: Conversation, thing: str, which: tuple[str, ...]) -> None:
    draw_giving(forky, chat, thing, which)


def draw_giving(forky: Workspace, chat: Conversation, thing: str, which: Sequence[str]) -> None:
    """Keys: `give.as`, `give.form`, `give.merge`, `give.everything`, `give.tick.<n>`, `give.download`, and those of
    `draw_link_form`.
    """
    by_link = file_or_link("give.as")
    chosen = _chosen(chat, thing, which, by_link=by_link)
    if by_link:
        draw_link_form(forky, chat, thing, chosen)
        return
    try:
        held = _held(forky, chat, thing, chosen)
    except ForkyError as error:
        st.caption(plain_label(str(error), 400))
        return
    st.markdown(f"**{plain_label(held.report.title, 200)}**")
    form = _form(held.report)
    ticked = draw_private_values(held.seen, f"give.tick.{thing}")
    title, who = reworded(held.report.title, ticked), viewer()
    download_link(
        Download(
            report_file_name(title, held.report.kind, form),
            form.media_type,
            lambda: who.noted(pieces(without_private(held.report, ticked), form), chat.id, form.name, thing),
        ),
        key="give.download",
    )


def file_or_link(key: str) -> bool:
    """Choose between a file and a link; whether it is a link."""
    return choose_one("How", {"file": "As a file", "link": "By a link"}, key) == "link"


def _chosen(chat: Conversation, thing: str, which: Sequence[str], *, by_link: bool) -> tuple[str, ...]:
    """Which one is given away, where the dialog lets one choose."""
    if thing == "replay" and by_link:
        return ()
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
            "What was brought back",
            list(merges),
            key="give.merge",
            format_func=lambda id: showable(
                f"{', '.join(m.source for m in merges[id].merges)} · {line_of_text(merges[id])}"
            )[:120],
        )
        return (str(picked),)
    return tuple(which)


def _held(forky: Workspace, chat: Conversation, thing: str, which: tuple[str, ...]) -> _CachedReport:
    what = (chat.id, chat.branch_name, chat.view.version, thing, which)
    held = st.session_state.get(_HELD)
    if not isinstance(held, _CachedReport) or held.what != what:
        report = report_of(forky, chat, thing, which)
        held = st.session_state[_HELD] = _CachedReport(what, report, private_values(report))
    return held


def _form(report: Report) -> PublicationForm:
    name = st.selectbox(
        "As",
        [one.name for one in forms_of(report)],
        key="give.form",
        format_func=lambda name: publication_form(name).label,
    )
    form = publication_form(name)
    if form.media_type == PAGE:
        st.caption("One file that loads nothing and opens in any browser. A link shows the same page.")
    elif report.table is not None and form.name == "csv":
        st.caption(f"{count(len(report.table.rows), 'row')} with {', '.join(report.table.head)}.")
    return form
