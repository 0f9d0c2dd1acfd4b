"""The lines of the History page: a timeline of operations, each unfolding into what it changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.process.settings import DEFAULT_ACTOR
from forky_core.views.captions import SOMEBODY
from forky_core.views.changes import sentences
from forky_core.views.log import LogEntry, LogPage
from forky_core.views.plain_words import plain_summary
from forky_core.views.shelf import count
from pages.ui.components.choices import confirm
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.frame import Frame, saying
from pages.ui.person import names_themselves

_ICONS = {
    "create": "add_circle",
    "experiment": "science",
    "import": "input",
    "unite": "input",
    "ask": "chat",
    "say": "chat",
    "reply": "smart_toy",
    "fork": "fork_right",
    "edit": "edit",
    "regenerate": "refresh",
    "merge": "merge",
    "graft": "merge",
    "fuse": "join_inner",
    "rebase": "low_priority",
    "revert": "undo",
    "request": "outgoing_mail",
    "comment": "comment",
    "review": "rate_review",
    "decline": "block",
    "poll": "how_to_vote",
    "vote": "how_to_vote",
    "reveal": "visibility",
    "bisect": "manage_search",
    "promote": "flag",
    "rename": "drive_file_rename_outline",
    "folder": "folder",
    "continue": "terminal",
    "delete": "delete",
    "prune": "content_cut",
    "erase": "ink_eraser",
    "rules": "tune",
    "memory": "tune",
    "pin": "keep",
    "unpin": "keep_off",
    "exclude": "visibility_off",
    "include": "visibility",
    "note": "speaker_notes",
    "tag": "sell",
    "untag": "sell",
    "stash": "inventory_2",
    "apply": "unarchive",
    "pop": "unarchive",
    "drop": "delete_sweep",
    "undo": "undo",
    "redo": "redo",
    "restore": "settings_backup_restore",
    "trash": "delete",
    "take back": "restore_from_trash",
}
_SHOWN = 40
"""Sentences drawn of one operation or plan; a merge of hundreds has a line for each branch only."""


def draw_entries(frame: Frame, page: LogPage) -> None:
    """Keys: `history.restore.<number>`, `history.run.<number>`, `history.page`."""
    with st.container(key="log", gap=None):
        for entry in page.entries:
            if entry.run and st.session_state.get(f"history.run.{entry.operation.number}"):
                for one in entry.run:
                    _draw_entry(frame, one)
            _draw_entry(frame, entry)
    if page.pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pagination(page.pages, key="history.page")
            st.caption(count(page.total, "operation"), width="content")


def _draw_entry(frame: Frame, entry: LogEntry) -> None:
    operation = entry.operation
    said = plain_label(plain_summary(operation.summary), 120)
    if entry.answers:
        said += f" · {count(entry.answers, 'answer')}"
    said = f":gray[~~{said}~~] · undone" if entry.undone else said
    place = " · :primary[you are here]" if entry.current else ""
    # To a member of a team, what was done before there was one was done by nobody they know.
    actor = operation.actor if names_themselves() or operation.actor != DEFAULT_ACTOR else SOMEBODY
    label = f"{said} :gray[ · {plain_label(actor, 40)} · {entry.when}]{place}"
    icon = f":material/{_ICONS.get(operation.verb, 'history')}:"
    with st.expander(label, icon=icon, type="step", key=f"history.entry.{operation.number}"):
        if entry.run:
            st.toggle(
                f"List the {count(len(entry.run), 'operation')} of this run",
                key=f"history.run.{operation.number}",
                help="They stand above this line, each with a way back to it",
            )
        else:
            _draw_lines(entry.details)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_exactly(entry), width="stretch")
            if not entry.current and st.button(
                "Restore to here",
                key=f"history.restore.{operation.number}",
                icon=":material/settings_backup_restore:",
                help="See what would change before anything does",
            ):
                _restore(frame, entry.end.number, frame.chat.view.version)


def _exactly(entry: LogEntry) -> str:
    operation = entry.operation
    belongs = f" · together with operation {entry.with_}" if entry.with_ is not None else ""
    return f"Operation {operation.number} · {plain_label(operation.verb)} · {entry.exactly}{belongs}"


def _draw_lines(lines: Sequence[str]) -> None:
    if not lines:
        st.caption("No branch or setting changed.")
        return
    rest = f"\n- … and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    st.markdown("\n".join(f"- {plain_label(line, 400)}" for line in lines[:_SHOWN]) + rest)


@st.dialog("Restore to here", icon=":material/settings_backup_restore:", width="medium")
def _restore(frame: Frame, number: int, version: int) -> None:
    """Keys: `restore.yes`, `restore.no`. `version` is the conversation's when it was opened."""
    if frame.chat.view.version != version:
        st.rerun()
    try:
        plan = frame.chat.history.plan_restore(number)
    except ForkyError as error:
        st.info(plain_label(str(error)))
        return
    st.markdown(
        f"The conversation would be as it was after **{plain_label(plain_summary(plan.operation.summary))}**:"
    )
    _draw_lines(sentences(plan.changes))
    coming = f"{count(plan.appearing, 'message')} would come back into sight" if plan.appearing else ""
    going = f"{count(plan.disappearing, 'message')} would go out of sight" if plan.disappearing else ""
    moved = " and ".join(part for part in (coming, going) if part) or "No message comes or goes"
    st.caption(f"{moved}. Nothing is deleted, and this can be undone.")
    confirm("Restore", "restore.yes", _carry_out, frame, number, keep=("Leave it", "restore.no"))


def _carry_out(frame: Frame, number: int) -> None:
    with saying(frame.session):
        done(frame.session, frame.chat.history.restore(number))
