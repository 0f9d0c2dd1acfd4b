"""What is put aside on the Chat page: what is typed, the branch's settings or its last messages; and taking it up."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from forky_core.conversation.namespaces.stashes import Applied
from forky_core.model import Stash
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.drafts import drafts
from pages.ui.frame import Frame, go, saying
from pages.ui.streamlit_patches.field_updates import fill
from pages.ui.streamlit_patches.renewing import anew

DRAFT = "chat.draft"
"""Key of the composer's text area."""
PLACE = "chat._draft_place"
"""Where in the session it says which conversation, branch and earlier message the composer was last drawn for."""
TAKEN = "chat._draft_taken"
"""What the field was last known to hold: a field that is still being typed in must not overwrite what was kept."""


def refilled(here: Frame, place: str, text: str) -> None:
    """Write another text into the composer than was typed, and have the browser keep that one."""
    fill(DRAFT, text)
    here.session.filled = (uuid4().hex, place, text)


def left_behind(here: Frame, place: str) -> bool:
    """Whether the page has left the place whose button was pressed; what was typed there is its draft then."""
    state = st.session_state
    if place == state[PLACE]:
        return False
    if DRAFT in state and state[DRAFT] != state[TAKEN]:
        drafts().write(place, state[DRAFT])
    fill(DRAFT, drafts().at(state[PLACE]).text)
    here.session.say(
        "Nothing was done, because the page had just changed. What you typed is a draft where you typed it."
    )
    return True


def draw_stashes(here: Frame, place: str) -> None:
    """Keys: `chat.stash_draft`, `chat.stash_rules`, `chat.stash_last`, `chat.stash_go.<n>`, `chat.stash_pop.<n>` …"""
    kept = here.chat.view.stashes
    label = f"Put aside · {len(kept)}" if kept else "Put aside"
    with st.expander(label, key="chat.stashes", icon=":material/inventory_2:"):
        st.caption("Put aside what you are in the middle of, and take it up later, on any branch.")
        length = len(here.chat.path())
        st.checkbox("What is typed, with its files", value=True, key="chat.stash_draft")
        st.checkbox("The branch's model and settings", key="chat.stash_rules")
        st.number_input("Last messages", 0, length, key="chat.stash_last", help="They leave the branch.")
        main_button("Put aside", anew("chat.stash_go", place), _stash, here, place, width="stretch")
        if kept:
            st.divider()
        for stash in kept:
            _draw_one(here, place, stash)


def _draw_one(here: Frame, place: str, stash: Stash) -> None:
    st.markdown(f"**{plain_label(stash.note, 60)}**")
    st.caption(plain_label(f"{_holds(stash)} · {stamp(stash.created)}"))
    with st.container(key=f"line-stash-{stash.number}", horizontal=True):
        for verb, label, icon, help in (
            ("pop", "Take up", "unarchive", "Take it up here and off the list (stash pop)"),
            ("apply", "Copy here", "file_copy", "Take it up here and keep it (stash apply)"),
            ("drop", "Drop", "delete", "Off the list, without taking it up"),
        ):
            quiet_button(
                label,
                f"chat.stash_{verb}.{stash.number}",
                _take,
                here,
                place,
                stash,
                verb,
                icon=icon,
                help=help,
            )


def _holds(stash: Stash) -> str:
    held = []
    if stash.draft:
        held.append("a draft")
    if stash.attachments:
        held.append(count(len(stash.attachments), "file"))
    if stash.rules is not None:
        held.append("settings")
    if stash.messages:
        held.append(count(len(stash.messages), "message"))
    return ", ".join(held) or "nothing"


def _stash(here: Frame, place: str) -> None:
    if left_behind(here, place):
        st.rerun()
    state = st.session_state
    text = state.get(DRAFT, "") if state["chat.stash_draft"] else ""
    files = drafts().at(place).files if state["chat.stash_draft"] else ()
    with saying(here.session):
        kept = here.chat.stashes.create(
            draft=text,
            attachments=tuple(file.sha256 for file in files),
            with_rules=state["chat.stash_rules"],
            last=state["chat.stash_last"],
        )
        here.session.say(f"Put “{kept.note}” aside.", (here.chat.id, here.chat.view.version))
        if text or files:
            drafts().clear(place)
            refilled(here, place, "")
        state["chat.stash_last"], state["chat.stash_rules"] = 0, False
        go(here.chat)
    st.rerun()


def stash_from(here: Frame, last: int) -> None:
    """Put the last so many messages of the branch aside."""
    kept = here.chat.stashes.create(last=last)
    here.session.say(f"Put “{kept.note}” aside.", (here.chat.id, here.chat.view.version))
    go(here.chat)


def take_up(here: Frame, place: str, number: int) -> None:
    """Take up what was put aside under this number, which stays on the list."""
    for stash in here.chat.view.stashes:
        if stash.number == number:
            _take(here, place, stash, "apply")


def _take(here: Frame, place: str, stash: Stash, verb: str) -> None:
    with saying(here.session):
        if verb == "drop":
            done(here.session, here.chat.stashes.drop(stash.number))
        else:
            applied = (
                here.chat.stashes.pop(stash.number)
                if verb == "pop"
                else here.chat.stashes.apply(stash.number)
            )
            _put_back(here, place, applied)
            if applied.operation is not None:
                done(here.session, applied.operation)
            else:
                here.session.say(f"Took up “{stash.note}”; it is still on the list.")
            go(here.chat)
    st.rerun()


def _put_back(here: Frame, place: str, applied: Applied) -> None:
    """Typed text goes below what is typed already; nothing is overwritten, and no file comes twice."""
    draft = drafts().at(place)
    typed = str(st.session_state.get(DRAFT, draft.text))
    text = "\n\n".join(part for part in (typed.rstrip(), applied.draft) if part)
    missing = [sha for sha in applied.attachments if sha not in {file.sha256 for file in draft.files}]
    drafts().write(place, text)
    drafts().attach(place, draft.files + tuple(_file(here, sha) for sha in missing if _known(here, sha)))
    refilled(here, place, text)


def _known(here: Frame, sha256: str) -> bool:
    try:
        here.forky.store.blob(sha256)
    except ForkyError:
        return False
    return True


def _file(here: Frame, sha256: str) -> AttachmentPart:
    blob = here.forky.store.blob(sha256)
    return AttachmentPart(blob.sha256, blob.media_type, blob.name)
