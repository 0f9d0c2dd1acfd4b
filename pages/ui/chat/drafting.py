"""What a plain text area lacks as a composer: Enter sends, files can be dropped and pasted, what is typed is kept.

The browser keeps what is typed (composing.js) and hands questions over (ui/keeping); the server is told of a draft a
moment after the last key, for the meter and for other browsers of the same person. It only adds: without it the Send
button works.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model import Branch, MessageId
from forky_core.model.parts import AttachmentPart, part_from_stored
from pages.ui.components.markdown import showable
from pages.ui.components.models import ONCE, added
from pages.ui.drafts import TypedDraft, draft_place, drafts
from pages.ui.frame import Frame
from pages.ui.keeping.component import STORAGE, owner
from pages.ui.streamlit_patches.patches import is_on

_OFFERED = {
    "Documents": "Documents for the next question",
    "Bring back": "Bring back",
    "Compare": "Compare",
    "New chat": "New chat",
}
"""Verbs that “/” offers, by what it calls them."""
_CSS = """
.line { list-style: none; margin: 0; padding: 0 0 .3rem; max-height: 30vh; overflow-y: auto; }
.line[hidden] { display: none; }
.waiting { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .6rem; padding: .1rem .6rem; font: inherit; font-size: .86rem; }
.words { flex: 1 1 0; margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; font: inherit; color: inherit;
  display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
textarea.words { display: block; min-height: 3.5rem; overflow: auto; background: none; border: 1px solid; border-radius: .3rem; padding: .3rem; }
.why { font-size: .8rem; opacity: .75; }
.offers { list-style: none; margin: 0 0 .3rem; padding: 0; }
.offers[hidden] { display: none; }
.offers li { padding: .35rem .6rem; border-radius: .5rem; font-size: .9rem; cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.offers [aria-selected=true] { background: color-mix(in srgb, currentColor 9%, transparent); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
button { font: inherit; font-size: .8rem; color: inherit; background: none; border: 0; padding: .3rem .2rem; text-decoration: underline; cursor: pointer; }
button[aria-label] { text-decoration: none; min-width: 1.9rem; }
"""
_component = st.components.v2.component(
    "forky.drafting",
    html='<ol class="line" role="list" aria-label="Questions that wait" aria-live="polite" hidden></ol>'
    '<ul class="offers" role="listbox" aria-label="Offered here" hidden></ul><span class="unseen" role="status"></span>',
    css=_CSS,
    js=STORAGE + Path(__file__).with_name("composing.js").read_text("utf-8"),
)


def hear_typing(
    on_draft: Callable[[str, str, Any], None],
    on_taken: Callable[[int], None],
    *,
    key: str,
    data: Mapping[str, Any],
) -> None:
    """Mount it above the field, inside a fragment; it shows the questions that wait in line, and what “/” offers.

    `on_draft(place, text, files)` is called a moment after the last key, with the files that the browser remembers
    where the server knows of none; `on_taken(number)` when what was put aside is chosen. `data` is `asked_from`.
    """

    def handle() -> None:
        said: Any = st.session_state.get(key, {}).get("draft")
        if isinstance(said, dict) and isinstance(said.get("text"), str):
            on_draft(str(said.get("place", "")), said["text"], said.get("files"))

    def take() -> None:
        said: Any = st.session_state.get(key, {}).get("taken")
        if isinstance(said, dict) and isinstance(said.get("number"), int):
            on_taken(said["number"])

    _component(key=key, data=data, on_draft_change=handle, on_taken_change=take, height="content")


def asked_from(
    here: Frame, seen: Branch, draft: TypedDraft, *, own: bool, begins: bool, button: str
) -> dict[str, Any]:
    """Where a question that is sent from the composer goes, as the browser hands it over later (ui/keeping/posting.py).

    `seen` is the branch as the page drew it. `own`: it starts one because its author does not write on the branch,
    `begins`: because they asked for one at its end. `button` is the key of the place's own Send button.
    """
    return question_from(owner(), here.chat, seen, here.at, draft, own=own, begins=begins) | {
        "session": here.session.id,
        "filled": json.dumps(here.session.filled),
        "button": button.replace(".", "-"),
        "mends": is_on("browser_fixes"),
        "person": here.session.person or "",
        "model": here.session.choices.get(ONCE, ""),
        "also": "\n".join(added(here)),
        "offers": json.dumps(_offers(here)),
    }


def question_from(
    owner: str,
    chat: Conversation,
    seen: Branch,
    at: MessageId | None,
    draft: TypedDraft,
    *,
    own: bool,
    begins: bool = False,
) -> dict[str, Any]:
    """Where a question below the message `at` goes, before anything is chosen in a tab; else as in `asked_from`."""
    fork = at if own or begins or at != seen.head else None
    return {
        "owner": owner,
        "place": draft_place(chat.id, seen, at, begins=begins),
        "c": str(chat.id),
        "b": seen.name,
        "seen": seen.head or "",
        "fork": fork or "",
        "own": own,
        "writing": fork is None and chat.replies.current is not None,
        "person": "",
        "model": "",
        "also": "",
        "search": draft.search,
        "files": json.dumps([file.stored() for file in draft.files]),
    }


def _offers(here: Frame) -> list[tuple[str, int | str]]:
    """What “/” at the start of the field offers: drafts that were put aside, by number, and verbs (ui/keyboard)."""
    kept = [(showable(stash.note), stash.number) for stash in here.chat.view.stashes if stash.draft]
    return [*kept, *((label, verb) for label, verb in _OFFERED.items())]


def keep_draft(place: str, text: str, files: Any = None) -> None:
    """Keep what a browser says was typed at a place, with the files it remembers where the server knows of none."""
    held = drafts()
    held.write(place, text)
    if isinstance(files, list) and not held.at(place).files:
        parts = [part_from_stored(file) for file in files if isinstance(file, dict)]
        held.attach(place, tuple(part for part in parts if isinstance(part, AttachmentPart)))
