"""The results of an import: the account of each file, links to its conversations, and a button that undoes it."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.formats.account import ImportAccount
from forky_core.formats.importing.file_batch import FileBatch
from forky_core.formats.importing.file_import import FileImport
from forky_core.formats.importing.import_record import ImportRecord, imports
from forky_core.formats.importing.landing import Imported
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.errors import LONGEST_SENTENCE, ForkyError
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import ago
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.library.import_preview import close, title_of
from pages.ui.session import TabSession

_LISTED = 20
"""How many conversations and problems of a file are listed."""
_PAST = 20


def draw_landed(forky: Workspace, tab: TabSession, batch: FileBatch) -> None:
    """Keys: `import.next`, and `import.undo.<file>` of each that landed."""
    st.markdown(f"## {title_of(batch)}")
    landed = [file for file in batch.files if file.done is not None]
    for problem in dict.fromkeys(file.problem for file in batch.files if file.problem):
        st.markdown(plain_label(problem, LONGEST_SENTENCE))
    if not landed and not any(file.problem for file in batch.files):
        st.markdown("Nothing was imported.")
    for at, file in enumerate(batch.files):
        if file.done is not None:
            _draw_account(forky, tab, batch, at, file.done)
    with st.container(key="line-import-end", horizontal=True):
        main_button("Done" if landed else "Back", "import.next", close, tab)


def _draw_account(forky: Workspace, tab: TabSession, batch: FileBatch, at: int, done: Imported) -> None:
    if len(batch.files) > 1:
        st.markdown(f"**{plain_label(batch.files[at].name)}**")
    st.markdown(f"{_summary(len(done.conversations), done.unchanged)} {account_sentence(done.account)}")
    if not done.whole:
        st.warning(plain_label(done.account.missing(len(done.problems)), 400), icon=":material/report:")
    if done.finishes:
        st.caption(
            f"This finished the import that was broken off, which had brought {count(done.finishes, 'conversation')}. "
            "Undo takes back all of both."
        )
    for why, number in {**done.account.skipped, **done.account.notes}.items():
        st.caption(f"{number:,} × {plain_label(why, 300)}")
    for what, number in list(done.account.unread.items())[:_LISTED]:
        st.caption(f"{number:,} × {plain_label(what, 300)}; kept as it is")
    for problem in done.problems[:_LISTED]:
        st.caption(
            f"Not imported: {plain_label(title_or_placeholder(problem.label))}. {plain_label(problem.why, 300)}"
        )
    with st.container(key=f"library-lines-landed-{at}", gap=None):
        for id in done.conversations[:_LISTED]:
            _draw_conversation(forky, at, id)
    if done.number:
        button(
            "Undo this import", f"import.undo.{at}", _undo_landed, forky, tab, batch.files[at], icon="undo"
        )


def _draw_conversation(forky: Workspace, at: int, id: str) -> None:
    try:
        chat = forky.conversation(id)
    except ForkyError:
        return
    with st.container(key=f"row-landed-{at}-{id}"):
        chat_link(title_or_placeholder(chat.title), chat.id, chat.branch_name)


def _summary(new: int, unchanged: int) -> str:
    imported = f"{count(new, 'conversation')} imported." if new else "Nothing in it is new."
    return f"{imported} {count(unchanged, 'conversation')} had been here already." if unchanged else imported


def account_sentence(account: ImportAccount) -> str:
    """Say what happened to the entries of the source; the numbers add up to all of them."""
    left = sum(account.skipped.values())
    split = f", {account.split:,} of them split off from one that held several" if account.split else ""
    here = f", {account.already:,} here before" if account.already else ""
    same = f", {account.collapsed:,} said the same twice" if account.collapsed else ""
    out = f", {left:,} left out" if left else ""
    return f"Of {account.seen:,} entries: {count(account.imported, 'message')}{split}{here}{same}{out}."


def draw_past(forky: Workspace, tab: TabSession) -> None:
    """Draw finished and running imports; interrupted ones have an offer above. Keys: `import.past.<number>`."""
    past = [record for record in imports(forky.store, _PAST) if record.state != "broken off"]
    if not past:
        return
    st.markdown("## Past imports")
    with st.container(key="library-lines-past", gap=None):
        for record in past:
            _draw_record(forky, tab, record)


def _draw_record(forky: Workspace, tab: TabSession, record: ImportRecord) -> None:
    with st.container(key=f"row-past-{record.number}", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(record.source.file), width="stretch")
        many = count(len(record.conversations), "conversation")
        when = "running" if record.state == "running" else ago(record.began, now())
        st.caption(f"{many} · {count(record.messages, 'message')} · {when}", width="content")
        quiet_button(
            "Undo",
            f"import.past.{record.number}",
            _undo,
            forky,
            tab,
            record.number,
            icon="undo",
            help="Move what it brought to the trash",
            disabled=record.state == "running",
        )


def _undo(forky: Workspace, tab: TabSession, number: int) -> None:
    with saying(tab):
        gone = undo_import(forky, number)
        tab.say(f"Took {count(gone, 'conversation')} of that import back; what was new is in the trash.")


def _undo_landed(forky: Workspace, tab: TabSession, file: FileImport) -> None:
    """Undo the import of one file; the accounts of the other files of the batch stay on screen."""
    with saying(tab):
        assert file.done is not None
        gone = undo_import(forky, file.done.number)
        tab.say(f"Took {count(gone, 'conversation')} of that import back; what was new is in the trash.")
        file.done = None
        if tab.incoming is not None and not any(one.done for one in tab.incoming.files):
            close(tab)
