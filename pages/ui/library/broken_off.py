"""The offer to finish or undo interrupted imports: at the top of the Library, and as one line on the Chat page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.import_record import ImportRecord, broken_off, keep_import
from forky_core.formats.importing.undo_import import undo_import
from forky_core.views.shelf import count
from forky_core.views.times import ago
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import TabSession

FINISHING = "import.finishing"
"""The key of the session state for the number of the import that is to be finished, until its file is chosen."""
_MOST = 5
_HINT = "broken_off.hint"

Act = Callable[[Workspace, TabSession, ImportRecord], None]


def draw_broken_off(forky: Workspace, tab: TabSession) -> None:
    """Keys: `broken_off.finish.<number>`, `broken_off.take_away.<number>`, `broken_off.keep.<number>`."""
    files = tab.incoming.files if tab.incoming is not None else ()
    being_finished = {file.takes_up.number for file in files if file.takes_up is not None}
    for record in [one for one in broken_off(forky.store) if one.number not in being_finished][:_MOST]:
        with st.container(key=f"broken-off-{record.number}", border=True):
            st.markdown(f"**An import was broken off.** {_what_was_imported(record)}")
            st.caption(_how_to_finish(record))
            with st.container(key=f"line-broken-off-{record.number}", horizontal=True):
                if not record.source.follows:
                    _button(forky, tab, record, "Finish", "finish", _finish)
                _button(forky, tab, record, "Take away all of it", "take_away", _take_away)
                _button(forky, tab, record, "Keep what came in", "keep", _keep)


def draw_broken_off_hint(forky: Workspace, tab: TabSession) -> None:
    """Draw one line with a link to the Library, unless it was closed in this tab. Keys: `broken_off.close`."""
    records = broken_off(forky.store)
    newest = str(records[0].number) if records else ""
    if not records or tab.choices.get(_HINT) == newest:
        return
    with st.container(key="broken-off-hint", horizontal=True, vertical_alignment="center"):
        st.markdown(f"An import was broken off: {records[0].how_far}.", width="stretch")
        page_link("library.py", "Finish or take away", width="content")
        quiet_button(
            "Close this line",
            "broken_off.close",
            tab.choices.__setitem__,
            _HINT,
            newest,
            icon="close",
            help="Close this line",
        )


def asked_for(forky: Workspace) -> ImportRecord | None:
    """Return the import whose file the drop zone asks for."""
    number = st.session_state.get(FINISHING)
    return next((one for one in broken_off(forky.store) if one.number == number), None)


def size_in_words(record: ImportRecord) -> str:
    size = record.source.size
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{max(size / 1e3, 0.1):,.1f} kB"


def _what_was_imported(record: ImportRecord) -> str:
    name = plain_label(record.source.file)
    return f"{record.how_far} from “{name}”, {ago(record.began, now())}."


def _how_to_finish(record: ImportRecord) -> str:
    if record.source.follows:
        where = plain_label(record.source.follows, 200)
        return (
            f"It was following a file. On the command line, “forky import --follow {where}” goes on with it."
        )
    if record.can_be_read_again:
        return f"The file is still there: {plain_label(record.source.path, 200)}. Only what is missing comes."
    return (
        f"Forky keeps no copy of the file. To finish, choose it again ({size_in_words(record)}); only what is missing "
        "comes."
    )


def _button(forky: Workspace, tab: TabSession, record: ImportRecord, label: str, name: str, act: Act) -> None:
    st.button(
        label,
        key=f"broken_off.{name}.{record.number}",
        type="primary" if name == "finish" else "secondary",
        on_click=act,
        args=(forky, tab, record),
    )


def _finish(forky: Workspace, tab: TabSession, record: ImportRecord) -> None:
    """Preview the file again if it is still there, or ask for it. The person then decides about importing the rest."""
    st.session_state["library.tab"] = "import"
    st.session_state[FINISHING] = record.number
    if tab.incoming is not None and not tab.incoming.busy:
        tab.incoming.close()
        tab.incoming = None
    if record.can_be_read_again and tab.incoming is None:
        from forky_core.formats.importing.file_batch import FileBatch  # noqa: PLC0415 - the Chat page draws the hint above

        try:
            with Path(record.source.path).open("rb") as content:
                tab.incoming = FileBatch(forky, [(record.source.file, content)])
        except OSError as error:
            tab.say(f"“{record.source.file}” cannot be read: {error.strerror}.")


def _take_away(forky: Workspace, tab: TabSession, record: ImportRecord) -> None:
    with saying(tab):
        gone = undo_import(forky, record.number)
        tab.say(f"Took {count(gone, 'conversation')} of that import back; what was new is in the trash.")


def _keep(forky: Workspace, tab: TabSession, record: ImportRecord) -> None:
    with saying(tab):
        keep_import(forky.store, record.number)
        tab.say(
            f"Kept {count(len(record.conversations), 'conversation')}; past imports can be undone under Import."
        )
