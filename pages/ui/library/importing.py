"""The Library's Import: a drop zone, what is in the file, landing with a bar, the account, past imports with undo."""

from __future__ import annotations

import streamlit as st

from forky_core.errors import ForkyError
from forky_core.formats.account import Account
from forky_core.formats.incoming import Incoming
from forky_core.formats.landing import Line
from forky_core.formats.taking_back import brought_by, imports, undo_import
from forky_core.repo.identity import now
from forky_core.repo.workspace import Workspace
from forky_core.views.shelf import called, count
from forky_core.views.times import ago
from pages.ui.frame import saying
from pages.ui.links import chat_link
from pages.ui.markdown import plain_label
from pages.ui.session import Session

LARGEST = 1_000
"""MB of one file in the browser; the command line has no limit."""
_LINES = 20
"""Conversations of a preview on one page."""
_LOOK_EVERY = 0.5
"""Seconds between two looks at a file that is being read or landed."""
_ROUND = "import.round"
_PAST = 20


def draw_import(forky: Workspace, held: Session) -> None:
    """Keys: `import.file.<round>` and those of the parts below."""
    with st.container(key="import-area"):
        if held.incoming is None:
            _draw_zone(forky, held)
            _draw_past(forky, held)
        elif held.incoming.busy:
            st.fragment(run_every=_LOOK_EVERY)(_draw_busy)(held, held.incoming)
        elif held.incoming.stage == "looked":
            _draw_preview(held, held.incoming)
        else:
            _draw_end(forky, held, held.incoming)


def _draw_zone(forky: Workspace, held: Session) -> None:
    st.markdown("##### Bring conversations")
    st.caption(
        "From ChatGPT, Claude, Gemini, Grok, Open WebUI, LibreChat, llama.cpp, coding agents and others: the file or the "
        "zip as you got it, dropped below. Every branch comes along, and nothing lands before you have seen what is in it. "
        "A Forky chat file, or a page that Forky wrote, can be opened here as well."
    )
    key = f"import.file.{st.session_state.setdefault(_ROUND, 0)}"
    st.file_uploader(
        "File to import",
        key=key,
        label_visibility="collapsed",
        max_upload_size=LARGEST,
        on_change=_open,
        args=(forky, held, key),
    )


def _open(forky: Workspace, held: Session, key: str) -> None:
    upload = st.session_state[key]
    if upload is None:
        return
    st.session_state[_ROUND] += 1
    try:
        held.incoming = Incoming(forky, upload.name, upload)
    except OSError as error:
        held.say(f"“{upload.name}” cannot be kept while it is looked at: {error.strerror}.")


def _draw_busy(held: Session, file: Incoming) -> None:
    """Keys: `import.cancel`."""
    if not file.busy:
        st.rerun()
    st.markdown(f"##### {plain_label(file.name)}")
    if file.stage == "looking":
        st.caption(f"Looking through it … {count(len(file.lines), 'conversation')} so far")
        for line in tuple(file.lines[:_LINES]):
            _draw_line(line)
    else:
        st.progress(file.share, text=_far(file))
    st.button("Cancel", key="import.cancel", icon=":material/close:", on_click=_cancel, args=(held, file))


def _far(file: Incoming) -> str:
    far = file.progress
    done = far.done if far is not None else 0
    messages = far.account.imported if far is not None else 0
    text = f"{done:,} of {count(len(file.ticked), 'conversation')}, {count(messages, 'message')}"
    left = file.seconds_left
    if left is None:
        return text
    return f"{text} – about {left:.0f} s left" if left < 90 else f"{text} – about {left / 60:.0f} min left"


def _cancel(held: Session, file: Incoming) -> None:
    """What is being landed is taken away by its own thread, which says so at its end."""
    looking = file.stage == "looking"
    file.stop()
    if looking:
        held.incoming = None
        held.say("Nothing was imported.")


def _draw_preview(held: Session, file: Incoming) -> None:
    """Keys: `import.land`, `import.fork`, `import.close`, `import.all`, `import.none`, `import.page`."""
    takable, ticked = file.takable, file.ticked
    st.markdown(f"##### {plain_label(file.name)}")
    bad = len(file.lines) - len(takable)
    problems = f" {bad:,} more cannot be read." if bad else ""
    if not takable:
        st.caption(f"There is no conversation in it that Forky can read.{problems}")
    else:
        st.caption(f"{count(len(takable), 'conversation')} in it.{problems} Tick what you want.")
    with st.container(key="line-import-acts", horizontal=True, vertical_alignment="center"):
        st.button(
            f"Import {count(len(ticked), 'conversation')}",
            key="import.land",
            type="primary",
            disabled=not ticked,
            on_click=file.land,
        )
        if file.is_ours:
            st.button(
                "Fork",
                key="import.fork",
                icon=":material/call_split:",
                help="As a conversation of your own that remembers where it came from",
                on_click=_fork,
                args=(held, file),
            )
        st.button("Not now", key="import.close", on_click=_close, args=(held, file))
        if len(takable) > 1:
            st.button("All", key="import.all", type="tertiary", on_click=_tick, args=(file, "all"))
            st.button("None", key="import.none", type="tertiary", on_click=_tick, args=(file, "none"))
    pages = max(1, -(-len(file.lines) // _LINES))
    page = min(int(st.session_state.get("import.page", 1)), pages)
    with st.container(key="library-lines-import", gap=None):
        for line in file.lines[(page - 1) * _LINES : page * _LINES]:
            _draw_choice(file, line)
    if pages > 1:
        st.pagination(pages, key="import.page")


def _tick(file: Incoming, which: str) -> None:
    file.tick(all=which == "all")


def _draw_choice(file: Incoming, line: Line) -> None:
    """Keys: `import.tick.<number>`."""
    key = f"import.tick.{line.number}"
    with st.container(key=f"row-import-{line.number}", horizontal=True, vertical_alignment="center"):
        if line.problem:
            st.markdown(f"{plain_label(called(line.title))}: {plain_label(line.problem)}")
            return
        st.session_state[key] = line.number not in file.unticked
        st.checkbox(
            plain_label(called(line.title)), key=key, on_change=_flip, args=(file, line, key), width="stretch"
        )
        st.caption(_facts(line), width="content")


def _draw_line(line: Line) -> None:
    with st.container(key=f"row-look-{line.number}", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(called(line.title)), width="stretch")
        st.caption(_facts(line) if not line.problem else plain_label(line.problem), width="content")


def _facts(line: Line) -> str:
    facts = [count(line.messages, "message"), count(line.branches, "branch")]
    if line.created:
        facts.append(ago(line.created, now()))
    facts.append(plain_label(line.label))
    if line.known is not None:
        facts.append("imported before")
    return " · ".join(facts)


def _flip(file: Incoming, line: Line, key: str) -> None:
    if st.session_state[key]:
        file.unticked.discard(line.number)
    else:
        file.unticked.add(line.number)


def _close(held: Session, file: Incoming) -> None:
    file.close()
    held.incoming = None


def _fork(held: Session, file: Incoming) -> None:
    with saying(held):
        done = file.fork()
        chat = file.forky.conversation(done.conversation)
        held.say(f"“{called(chat.title)}” is a conversation of your own now.")
        held.incoming = None


def _draw_end(forky: Workspace, held: Session, file: Incoming) -> None:
    """Keys: `import.undo`, `import.next`."""
    done = file.done
    st.markdown(f"##### {plain_label(file.name)}")
    if done is None:
        st.markdown(plain_label(file.problem or "Nothing was imported.", 400))
    else:
        st.markdown(f"{_brought(len(done.conversations), done.unchanged)} {account_sentence(done.account)}")
        for why, number in {**done.account.skipped, **done.account.notes}.items():
            st.caption(f"{number:,} × {plain_label(why, 300)}")
        for problem in done.problems[:_LINES]:
            st.caption(f"Not imported: {plain_label(called(problem.label))}. {plain_label(problem.why, 300)}")
        with st.container(key="library-lines-landed", gap=None):
            for id in done.conversations[:_LINES]:
                _draw_landed(forky, id)
    with st.container(key="line-import-end", horizontal=True):
        st.button(
            "Done" if done else "Back", key="import.next", type="primary", on_click=_close, args=(held, file)
        )
        if done is not None and done.number:
            st.button(
                "Undo this import",
                key="import.undo",
                icon=":material/undo:",
                on_click=_undo,
                args=(forky, held, done.number),
            )


def _draw_landed(forky: Workspace, id: str) -> None:
    try:
        chat = forky.conversation(id)
    except ForkyError:
        return
    with st.container(key=f"row-landed-{id}"):
        chat_link(called(chat.title), chat.id, chat.branch_name)


def _brought(new: int, unchanged: int) -> str:
    brought = f"{count(new, 'conversation')} imported." if new else "Nothing in it is new."
    return f"{brought} {count(unchanged, 'conversation')} had been here already." if unchanged else brought


def account_sentence(account: Account) -> str:
    """What became of every node of the source; the numbers add up."""
    left = sum(account.skipped.values())
    split = f", {account.split:,} of them split off from one that held several" if account.split else ""
    same = f", {account.collapsed:,} said the same twice" if account.collapsed else ""
    out = f", {left:,} left out" if left else ""
    return f"Of {account.seen:,} entries: {count(account.imported, 'message')}{split}{same}{out}."


def _draw_past(forky: Workspace, held: Session) -> None:
    """Keys: `import.past.<number>`."""
    past = imports(forky)
    if not past:
        return
    st.markdown("##### Past imports")
    with st.container(key="library-lines-past", gap=None):
        for number, record in past[:_PAST]:
            with st.container(key=f"row-past-{number}", horizontal=True, vertical_alignment="center"):
                st.markdown(plain_label(record["file"]), width="stretch")
                account = Account.from_stored(record["account"])
                many = count(len(brought_by(record)), "conversation")
                st.caption(
                    f"{many} · {count(account.imported, 'message')} · {ago(record['at'], now())}",
                    width="content",
                )
                st.button(
                    "Undo",
                    key=f"import.past.{number}",
                    icon=":material/undo:",
                    type="tertiary",
                    help="Move what it brought to the trash",
                    on_click=_undo,
                    args=(forky, held, number),
                )


def _undo(forky: Workspace, held: Session, number: int) -> None:
    with saying(held):
        gone = undo_import(forky, number)
        held.say(f"Took {count(gone, 'conversation')} of that import back; what was new is in the trash.")
        if held.incoming is not None:
            _close(held, held.incoming)
