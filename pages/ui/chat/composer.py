"""The composer: what is typed, its files, who answers it, what it will cost; at an earlier message it starts a branch.

It is a fragment of its own, so that typing, attaching and choosing redraw nothing else. A lost race keeps the draft
and says what came first (law 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.documents.docx import DOCX
from forky_core.documents.pdf import PDF
from forky_core.llm.tokens import Vocabulary
from forky_core.model import Branch, MessageId
from forky_core.model.errors import ForkyError, Outdated
from forky_core.model.parts import AttachmentPart
from forky_core.views.layout.shape import main_of
from pages.ui.chat.acting import BRANCH
from pages.ui.chat.attachments import draw_picture
from pages.ui.chat.branch_owners import why_kept_off
from pages.ui.chat.drafting import asked_from, hear_typing, keep_draft
from pages.ui.chat.meter import Measure, account_of_files, measure, meter_line
from pages.ui.chat.overflow import draw_overflow
from pages.ui.chat.rules import draw_added_models, draw_model_picker, draw_rules
from pages.ui.chat.side import READS, show_beside
from pages.ui.chat.stashes import DRAFT, PLACE, TAKEN, draw_stashes, left_behind, refilled, take_up
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import ONCE, Asking, added, asking, back_to_one
from pages.ui.components.only_reading import edits
from pages.ui.components.too_large import draw_too_large, largest
from pages.ui.documents.switch import draw_document_use
from pages.ui.drafts import TypedDraft, draft_place, drafts
from pages.ui.frame import Frame, go, saying
from pages.ui.keeping.posting import say_on_branch
from pages.ui.person import viewer
from pages.ui.streamlit_patches.field_updates import fill, refill
from pages.ui.streamlit_patches.renewing import anew

_FILES = "chat._files_round"
_QUOTED = frozenset({PDF.media_type, DOCX.media_type})
_LARGEST = 50
"""Megabytes of one attached file, which is kept in the conversation."""


@st.fragment
@error_boundary
def draw_composer(here: Frame, seen: Branch) -> None:
    """`seen` is the branch as the page drew it; what other tabs did since is no reason to redraw or to lose a draft.

    Keys: `chat.draft`, `chat.more`, `chat.attach`, `chat.send.<n>`, `chat.files.<n>`, `chat.to_newest`,
    `chat.unfile.<n>`.
    Each place has a Send button of its own key, so that a late press is never one on the button of another place.
    """
    kept_off = why_kept_off(here, seen.name)
    begins = here.session.acting == (BRANCH, here.at)
    at_head = here.at == seen.head and not begins
    forks = not at_head or bool(kept_off)
    place = draft_place(here.chat.id, seen, here.at, begins=begins)
    _turn_to(here, place)
    draft = drafts().at(place)
    job = here.chat.replies.current if at_head else None
    with st.container(key="chat-composer"):
        with st.container(key="chat-above"):  # One place, so that the field below it is never mounted anew.
            race = _race_at(here, place)
            if race is not None:
                _draw_race(here, place, *race)
            if forks:
                _draw_forking(here, kept_off if at_head else "")
            _draw_files(here, place, draft)
        fork, send = here.at if forks else None, anew("chat.send", place)
        hear_typing(
            keep_draft,
            lambda number: take_up(here, place, number),
            key="chat.typing",
            data=asked_from(here, seen, draft, own=bool(kept_off), begins=begins, button=send),
        )
        st.text_area(
            "Message",
            key=DRAFT,
            label_visibility="collapsed",
            height="content",
            placeholder=_invitation(here, seen, forks=forks),
            on_change="ignore",
        )
        with st.container(key="line-composer", horizontal=True, vertical_alignment="center"):
            with st.popover("More", key="chat.more", type="tertiary", icon=":material/add:"):
                st.button("Attach files", key="chat.attach", icon=":material/attach_file:", type="tertiary")
                if not kept_off:
                    draw_document_use(here, place)
                    draw_rules(here)
                draw_stashes(here, place)
            _draw_attach(place, here)
            with st.container(key="line-models", horizontal=True, width="content"):
                draw_model_picker(here)
                if edits(here.chat):
                    draw_added_models(here)
            meter, also = st.container(key="line-meter"), added(here)
            with st.container(key="chat-sending", horizontal=True, width="content"):
                if job is not None:
                    button("Stop", "chat.stop", stop, here, icon="stop_circle")
                st.button(
                    "Send on a new branch"
                    if forks
                    else f"Send to {1 + len(also)} models"
                    if also
                    else "Send",
                    key=send,
                    type="primary",
                    icon=":material/arrow_upward:",
                    shortcut="Ctrl+Enter",
                    help="It waits in line and is asked when the answer is finished"
                    if job is not None
                    else None,
                    on_click=_send,
                    args=(here, place, seen, fork),
                    kwargs={"kept_off": bool(kept_off)},
                )
        now = asking(here)
        with meter:
            heavy = _draw_meter(here, draft, now)
        if heavy is not None:
            draw_overflow(here, *heavy)
        _warn_of_files(here, draft.files, now)
        draw_too_large("chat.files", largest(_LARGEST), _told_of_size, key=f"chat.too_large.{seen.head}")


def _told_of_size(name: str, size: int) -> str:
    return (
        f"“{showable(name)}” has {size / 1e6:,.0f} MB; at most {largest(_LARGEST)} MB can be attached. "
        "Attach a part of it, or add it on the Documents page."
    )


def stop(here: Frame, job: ReplyJob | None = None) -> None:
    """End a reply, or else the one of the branch."""
    job = job or here.chat.replies.current
    if job is not None:
        job.stop()
        job.wait(2.0)
    st.rerun()


def _turn_to(here: Frame, place: str) -> None:
    """Keep what was typed at the place that is left, and take up what was typed here."""
    state: Any = st.session_state
    left = state.get(PLACE)
    refill(DRAFT)
    if left is not None and DRAFT in state and state[DRAFT] != state.get(TAKEN):
        drafts().write(left, state[DRAFT])
    follows, here.session.draft_follows = here.session.draft_follows, False
    if follows and left is not None and drafts().at(place).empty:
        drafts().move(left, place)
    if left == place and DRAFT in state:
        state[TAKEN] = state[DRAFT]
        return
    state[PLACE] = place
    fill(DRAFT, drafts().at(place).text)
    state[TAKEN] = state[DRAFT]


def _race_at(here: Frame, place: str) -> tuple[str, MessageId | None] | None:
    """Why the question of this place was not sent, and what its author had read, as long as that is the reason."""
    if here.session.race is None:
        return None
    of, sentence, at = here.session.race
    if of != place:
        return None
    typed = str(st.session_state.get(DRAFT, "")).strip() or not drafts().at(place).empty
    if here.chat.branch.head == at or not typed:
        here.session.race = None
        return None
    return sentence, at


def _draw_race(here: Frame, place: str, sentence: str, at: MessageId | None) -> None:
    with st.container(key="line-race", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(sentence, 300), width="stretch")
        button("Continue below it", "chat.race_continue", _send, here, place, here.chat.branch, None)
        if at is not None:
            st.button(
                "Start a branch instead",
                key="chat.race_fork",
                help="Ask below what you had read",
                on_click=_send,
                args=(here, place, here.chat.branch, at),
            )


def _draw_forking(here: Frame, kept_off: str) -> None:
    """`kept_off` says why the end of the branch cannot be written to; "" at an earlier message."""
    with st.container(key="line-forking", horizontal=True, vertical_alignment="center"):
        why = f":material/shield_lock: {plain_label(kept_off, 200)} " if kept_off else ""
        st.markdown(f"{why}Your next question starts a branch here", width="stretch")
        if kept_off:
            return
        quiet_button(
            "Go on at the end of the branch",
            "chat.to_newest",
            _to_newest,
            here,
            icon="close",
            help="Go on at the end of the branch",
        )


def _invitation(here: Frame, seen: Branch, *, forks: bool) -> str:
    """What the empty field says: where a question goes, unless that is the main branch."""
    if forks:
        return "Ask on a new branch"
    if seen.name != main_of(here.chat.view.branches):
        return f"Ask on “{showable(seen.name)}”"
    return "Ask something" if here.at is None else "Ask something more"


def _to_newest(here: Frame) -> None:
    here.session.acting, here.session.draft_follows = None, True
    go(here.chat)
    st.rerun()


def _draw_files(here: Frame, place: str, draft: TypedDraft) -> None:
    if not draft.files:
        return
    with st.container(key="line-files", horizontal=True):
        for number, file in enumerate(draft.files):
            draw_picture(file, here.forky.store.blob)
            st.button(
                plain_label(file.name or file.media_type, 40),
                key=f"chat.unfile.{number}",
                icon=":material/close:",
                help="Leave this file out",
                on_click=_unfile,
                args=(place, number),
            )


def _unfile(place: str, number: int) -> None:
    files = drafts().at(place).files
    drafts().attach(place, (*files[:number], *files[number + 1 :]))


def _draw_attach(place: str, here: Frame) -> None:
    round_ = st.session_state.setdefault(_FILES, 0)
    with st.container(key="chat-files", width="content"):
        st.file_uploader(
            "Attach files",
            accept_multiple_files=True,
            key=f"chat.files.{round_}",
            label_visibility="collapsed",
            max_upload_size=largest(_LARGEST),
            on_change=_attach,
            args=(here, place, f"chat.files.{round_}"),
        )


def _attach(here: Frame, place: str, key: str) -> None:
    """Keep the bytes at once, of each that can be kept; a new uploader takes the next files."""
    found: list[AttachmentPart] = []
    refused: list[str] = []
    for upload in st.session_state[key] or ():
        try:
            found.append(here.forky.attach(upload.getvalue(), media_type=upload.type, name=upload.name))
        except ForkyError as error:
            refused.append(error.message)
    draft = drafts().at(place)
    fresh = [file for file in found if file.sha256 not in {old.sha256 for old in draft.files}]
    drafts().attach(place, (*draft.files, *fresh))
    st.session_state[_FILES] += 1
    if refused:
        here.session.say(" ".join(refused))
        st.rerun()  # the whole page: its line for such sentences is outside of the composer


def _draw_meter(here: Frame, draft: TypedDraft, now: Asking) -> tuple[Measure, int] | None:
    """Draw the meter; return what does not fit into the model's window, and the tokens of the draft."""
    try:
        model = here.forky.models.model(now.name)
        count_tokens = model.count_tokens
        info, exactly = model.info(), isinstance(count_tokens, Vocabulary)
        found = measure(here.chat, here.at, info, exactly=exactly)
        items = account_of_files(here.chat, draft.files, info, exactly=exactly)
        typed = count_tokens(draft.text) + sum(item.tokens for item in items)
    except ForkyError as error:
        st.caption(plain_label(error.message))
        return None
    if not found.messages and not typed:
        return None
    with st.container(key="chat-meter-full" if found.fills(typed) else "chat-meter"):
        quiet_button(plain_label(meter_line(found, typed), 200), "chat.reads", _show_what_is_read, here)
    return (found, typed) if found.overflows(typed) else None


def _show_what_is_read(here: Frame) -> None:
    show_beside(here, READS)
    st.rerun()


def _warn_of_files(here: Frame, files: Sequence[AttachmentPart], now: Asking) -> None:
    """Of each file that cannot be sent, why; a PDF can be quoted instead."""
    if not files or now.info is None:
        return
    with suppress(ForkyError):
        exactly = isinstance(here.forky.models.model(now.name).count_tokens, Vocabulary)
        for item in account_of_files(here.chat, files, now.info, exactly=exactly):
            if item.only_named:
                st.caption(plain_label(f"“{showable(item.text)}” – {item.why}", 300))
    if not _QUOTED.isdisjoint(file.media_type for file in files):
        st.caption("The Documents page reads PDF and Word files: answers can then quote them.")


def _send(
    here: Frame, place: str, seen: Branch, fork_at: MessageId | None, *, kept_off: bool = False
) -> None:
    """Ask on the branch as it was `seen`, or on a new one from `fork_at`; an empty one if one is `kept_off` a branch on
    which nothing was said yet.
    """
    if left_behind(here, place):
        st.rerun()
    draft = drafts().at(place)
    text, files, search = str(st.session_state.get(DRAFT, "")), draft.files, draft.search
    once, also = here.session.choices.get(ONCE) or None, added(here)
    with saying(here.session):
        try:
            if fork_at is None and not kept_off:
                chat = here.chat
                posted = chat.people.post(
                    text, seen=seen, model=once, attachments=files, search=search, also=also
                )
            else:
                name = viewer().fork_name(here.chat, text, own=kept_off)
                chat, posted = here.chat.people.post_from(
                    fork_at, text, branch=name, model=once, attachments=files, search=search, also=also
                )
                say_on_branch(here.session, chat, posted)
            if posted.silent:
                here.session.say(posted.silent)
            go(chat)
        except Outdated as error:
            here.session.race = (place, f"{error.message} Your draft is kept.", seen.head)
            st.rerun()
        here.session.choices[ONCE] = ""
        back_to_one(here.session, str(here.chat.id), also)
        here.session.race, here.session.window = None, 0
        drafts().clear(place)
        refilled(here, place, "")
    st.rerun()
