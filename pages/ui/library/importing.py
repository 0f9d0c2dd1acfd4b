"""The Import part of the Library: a drop zone, the preview, a progress bar, the results, and past imports with undo."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import BinaryIO

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.file_batch import FileBatch
from forky_core.model.hashing import mend_text
from forky_core.views.shelf import count
from pages.ui.components.buttons import button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.only_reading import draw_refusal
from pages.ui.components.too_large import draw_too_large, largest
from pages.ui.frame import open_page, place, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.library.broken_off import asked_for, size_in_words
from pages.ui.library.following import draw_following
from pages.ui.library.import_preview import draw_looking, draw_preview, title_of
from pages.ui.library.import_results import draw_landed, draw_past
from pages.ui.person import viewer
from pages.ui.session import TabSession

_LARGEST = 1_000
"""The most megabytes of one file in the browser; the command line has no limit."""
_LOOK_EVERY = 0.5
"""Seconds between two updates while files are read or imported."""
_ROUND = "import.round"
_ADDRESS = re.compile(r"https?://\S+/s/\S+", re.IGNORECASE)
"""The address of a link of a Forky."""
_OPEN = "import.open"
_CLOSED = "import.closed"


def draw_import(forky: Workspace, tab: TabSession) -> None:
    """Keys: `import.file.<round>`, `import.paste.<round>`, `import.pasted` and those of the parts below."""
    with st.container(key="import-area"):
        if tab.incoming is None:
            if not draw_refusal(viewer().why_not("begin", "bring conversations in")):
                _draw_zone(forky, tab)
                draw_following(tab)
                draw_past(forky, tab)
        elif tab.incoming.busy:
            st.fragment(run_every=_LOOK_EVERY)(_draw_busy)(tab, tab.incoming)
        elif tab.incoming.stage == "looked":
            draw_preview(tab, tab.incoming)
        else:
            draw_landed(forky, tab, tab.incoming)
        _draw_too_large(tab)


def _draw_too_large(tab: TabSession) -> None:
    """Name the files that are too large, until the import that they were dropped with is closed."""
    state = st.session_state
    was_open, state[_OPEN] = state.get(_OPEN, False), tab.incoming is not None
    state[_CLOSED] = state.get(_CLOSED, 0) + int(was_open and tab.incoming is None)
    draw_too_large("import.file", largest(_LARGEST), _too_large, key=f"import.too_large.{state[_CLOSED]}")


def _too_large(name: str, size: int) -> str:
    return (
        f"“{showable(name)}” has {size / 1e6:,.0f} MB; at most {largest(_LARGEST):,} MB can be dropped here. "
        "“forky import” on the command line has no limit."
    )


def _draw_zone(forky: Workspace, tab: TabSession) -> None:
    st.markdown("## Bring conversations")
    wanted = asked_for(forky)
    if wanted is not None:
        st.info(
            f"To finish the import, choose “{plain_label(wanted.source.file)}” ({size_in_words(wanted)}) here again.",
            icon=":material/upload_file:",
        )
    st.caption(
        "From ChatGPT, Claude, Gemini, DeepSeek, Grok, Open WebUI, LM Studio, VS Code, Cursor, other coding agents and more: the "
        "files or the zip as you got them, dropped below. Every branch comes along, and nothing lands before you have seen what "
        "is in it. A Forky chat file, or a page that Forky wrote, can be opened here as well."
    )
    key = f"import.file.{st.session_state.setdefault(_ROUND, 0)}"
    st.file_uploader(
        "Files to import",
        key=key,
        label_visibility="collapsed",
        accept_multiple_files=True,
        max_upload_size=largest(_LARGEST),
        on_change=_open,
        args=(forky, tab, key),
    )
    pasted = f"import.paste.{st.session_state[_ROUND]}"
    with kept_fields("import"), st.form("import-paste", border=False):
        st.text_area(
            "Or paste what is in one, or the address of a link",
            key=pasted,
            height=100,
            placeholder="The address of what somebody shares from their Forky, a Forky chat file, another program's JSON, or the Markdown of a conversation",
        )
        st.form_submit_button(
            "Look at what I pasted", key="import.pasted", on_click=_open_pasted, args=(forky, tab, pasted)
        )


def _open(forky: Workspace, tab: TabSession, key: str) -> None:
    uploads = st.session_state[key]
    if uploads:
        _take(forky, tab, [(upload.name, upload) for upload in uploads])


def _open_pasted(forky: Workspace, tab: TabSession, key: str) -> None:
    text = mend_text(st.session_state[key] or "")
    if _ADDRESS.fullmatch(text.strip()):
        _take_from_link(forky, tab, text.strip())
    elif text.strip():
        _take(forky, tab, [("Pasted text", BytesIO(text.encode()))])
    else:
        tab.say("There is nothing to look at. Paste what is in a file first.")


def _take_from_link(forky: Workspace, tab: TabSession, address: str) -> None:
    """The reader has seen on the link's page what comes: it becomes a conversation of theirs at once."""
    from forky_core.people.links.original import take_from_link  # noqa: PLC0415 - it loads a client for HTTP

    with saying(tab):
        done = take_from_link(forky, address)
        st.session_state[_ROUND] += 1
        tab.say(done.sentence)
        open_page("chat.py", place(forky.conversation(done.conversation)))


def _take(forky: Workspace, tab: TabSession, uploads: Sequence[tuple[str, BinaryIO]]) -> None:
    st.session_state[_ROUND] += 1
    try:
        tab.incoming = FileBatch(forky, uploads)
    except OSError as error:
        tab.say(f"What you dropped cannot be kept while it is looked at: {error.strerror}.")


def _draw_busy(tab: TabSession, batch: FileBatch) -> None:
    """Keys: `import.cancel`."""
    stage = batch.stage
    if stage not in ("looking", "landing"):
        st.rerun()
    st.markdown(f"## {title_of(batch)}")
    if stage == "looking":
        draw_looking(batch)
    else:
        st.progress(batch.share, text=_progress(batch))
    button("Cancel", "import.cancel", _cancel, tab, batch, icon="close")


def _progress(batch: FileBatch) -> str:
    text = f"{batch.done:,} of {count(len(batch.ticked), 'conversation')}, {count(batch.messages, 'message')}"
    left = batch.seconds_left
    if left is None:
        return text
    return f"{text} – about {left:.0f} s left" if left < 90 else f"{text} – about {left / 60:.0f} min left"


def _cancel(tab: TabSession, batch: FileBatch) -> None:
    """Stop reading or importing. The thread that imports undoes what it has imported so far, and then reports that."""
    looking = batch.stage == "looking"
    batch.stop()
    if looking:
        tab.incoming = None
        tab.say("Nothing was imported.")
