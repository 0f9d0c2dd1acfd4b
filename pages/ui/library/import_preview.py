"""The preview of dropped files before anything is imported: each conversation with its facts and a checkbox."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.formats.importing.file_batch import FileBatch
from forky_core.formats.importing.file_import import FileImport
from forky_core.formats.importing.landing import PreviewLine
from forky_core.model import ConversationId
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import ago
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import go, saying
from pages.ui.library.broken_off import FINISHING, asked_for
from pages.ui.session import TabSession

_LINES = 20
"""How many conversations of a file are on one page."""
_FORKS = 3
"""How many conversations that were forked from the file's are offered to pull into: those that changed last."""


def draw_looking(batch: FileBatch) -> None:
    """Draw the conversations that have been found so far, while the files are still read."""
    st.caption(
        f"Looking through it … {count(sum(len(file.lines) for file in batch.files), 'conversation')} so far"
    )
    for at, file in enumerate(batch.files):
        _draw_file_name(batch, file)
        for line in tuple(file.lines[:_LINES]):
            with st.container(
                key=f"row-look-{at}-{line.number}", horizontal=True, vertical_alignment="center"
            ):
                st.markdown(plain_label(title_or_placeholder(line.title)), width="stretch")
                st.caption(_facts(line) if not line.problem else plain_label(line.problem), width="content")


def draw_preview(tab: TabSession, batch: FileBatch) -> None:
    """Keys: `import.land`, `import.fork`, `import.pull.<id>`, `import.close`, `import.all`, `import.none`, and those of
    each file.
    """
    takable, ticked = batch.takable, batch.ticked
    st.markdown(f"## {title_of(batch)}")
    st.caption(_sum(batch))
    _draw_continuation(batch)
    with st.container(key="line-import-acts", horizontal=True, vertical_alignment="center"):
        main_button(_label(batch), "import.land", batch.land, disabled=not ticked)
        for fork in batch.files[0].forks[:_FORKS] if len(batch.files) == 1 else ():
            st.button(
                f"Pull into “{plain_label(title_or_placeholder(fork.title), 40)}”",
                key=f"import.pull.{fork.id}",
                icon=":material/download:",
                help="Only what is new in it, into the conversation that was made from it",
                on_click=_pull,
                args=(tab, batch.files[0], fork.id),
            )
        if len(batch.files) == 1 and batch.files[0].is_ours:
            st.button(
                "Make it mine",
                key="import.fork",
                icon=":material/call_split:",
                help="As a conversation of your own that remembers where it came from",
                on_click=_fork,
                args=(tab, batch.files[0]),
            )
        button("Not now", "import.close", close, tab)
        if len(takable) > 1:
            quiet_button("All", "import.all", _tick, batch, "all")
            quiet_button("None", "import.none", _tick, batch, "none")
    for at, file in enumerate(batch.files):
        _draw_file_name(batch, file)
        _draw_file(at, file)


def _label(batch: FileBatch) -> str:
    if any(file.takes_up is not None for file in batch.files):
        return "Finish the import"
    return f"Import {count(len(batch.ticked), 'conversation')}"


def _draw_continuation(batch: FileBatch) -> None:
    """Say whether a file continues an interrupted import, if it does or if the file of one was asked for."""
    taken_up = [file.takes_up for file in batch.files if file.takes_up is not None]
    for record in taken_up:
        st.caption(
            f"This goes on with the import of “{plain_label(record.source.file)}” that was broken off: {record.how_far}, "
            "and only the others come now."
        )
    wanted = asked_for(batch.files[0].forky)
    if wanted is not None and wanted.number not in {record.number for record in taken_up}:
        st.caption(
            f"This is another file than the “{plain_label(wanted.source.file)}” whose import was broken off. It is "
            "imported by itself, and that one stays as it is."
        )


def title_of(batch: FileBatch) -> str:
    return plain_label(batch.files[0].name) if len(batch.files) == 1 else count(len(batch.files), "file")


def close(tab: TabSession) -> None:
    if tab.incoming is not None:
        tab.incoming.close()
    tab.incoming = None
    st.session_state.pop(FINISHING, None)


def _draw_file_name(batch: FileBatch, file: FileImport) -> None:
    """Draw the name of a file above its conversations if there are several files."""
    if len(batch.files) > 1:
        st.markdown(f"**{plain_label(file.name)}**")


def _sum(batch: FileBatch) -> str:
    bad = sum(len(file.lines) for file in batch.files) - len(batch.takable)
    problems = f" {bad:,} more cannot be read." if bad else ""
    where = "it" if len(batch.files) == 1 else "them"
    if not batch.takable:
        return f"There is no conversation in {where} that Forky can read.{problems}"
    return f"{count(len(batch.takable), 'conversation')} in {where}.{problems} Tick what you want."


def _tick(batch: FileBatch, which: str) -> None:
    batch.tick(all=which == "all")


def _draw_file(at: int, file: FileImport) -> None:
    """Keys: `import.page.<file>`."""
    if file.problem:
        st.caption(plain_label(file.problem, 400))
    pages = max(1, -(-len(file.lines) // _LINES))
    page = min(int(st.session_state.get(f"import.page.{at}", 1)), pages)
    with st.container(key=f"library-lines-import-{at}", gap=None):
        for line in file.lines[(page - 1) * _LINES : page * _LINES]:
            _draw_choice(at, file, line)
    if pages > 1:
        st.pagination(pages, key=f"import.page.{at}")


def _draw_choice(at: int, file: FileImport, line: PreviewLine) -> None:
    """Keys: `import.tick.<file>.<number>`."""
    key = f"import.tick.{at}.{line.number}"
    with st.container(key=f"row-import-{at}-{line.number}", horizontal=True, vertical_alignment="center"):
        if line.problem:
            st.markdown(f"{plain_label(title_or_placeholder(line.title))}: {plain_label(line.problem)}")
            return
        st.session_state[key] = line.number not in file.unticked
        st.checkbox(
            plain_label(title_or_placeholder(line.title)),
            key=key,
            on_change=_flip,
            args=(file, line, key),
            width="stretch",
        )
        st.caption(_facts(line), width="content")


def _facts(line: PreviewLine) -> str:
    facts = [count(line.messages, "message"), count(line.branches, "branch")]
    if line.created:
        facts.append(ago(line.created, now()))
    facts.append(plain_label(line.label))
    if line.account.unread:
        facts.append(f"{count(line.account.not_understood, 'part')} not understood")
    if line.known is not None:
        facts.append("imported before")
    if line.home:
        facts.append(f"comes home as a proposal in “{plain_label(line.home, 60)}”")
    return " · ".join(facts)


def _flip(file: FileImport, line: PreviewLine, key: str) -> None:
    if st.session_state[key]:
        file.unticked.discard(line.number)
    else:
        file.unticked.add(line.number)


def _fork(tab: TabSession, file: FileImport) -> None:
    with saying(tab):
        done = file.fork()
        chat = file.forky.conversation(done.conversation)
        sentence = f"“{title_or_placeholder(chat.title)}” is a conversation of your own now."
        tab.say(" ".join((sentence, *done.remarks)))
        tab.incoming = None
        go(chat)


def _pull(tab: TabSession, file: FileImport, into: ConversationId) -> None:
    with saying(tab):
        done = file.pull(into)
        chat = file.forky.conversation(into)
        tab.incoming = None
        if not done.operations:
            sentence = f"Nothing is new in it for “{title_or_placeholder(chat.title)}”."
            tab.say(" ".join((sentence, *done.remarks)))
            return
        sentence = f"Brought {count(done.messages, 'message')} from the file."
        tab.say(" ".join((sentence, *done.remarks)), (into, done.operations[-1]))
        go(chat)
