"""Posts the questions that a browser sends: each once, however often it is sent, and reports what happened to it.

The browser stores a question until the server reports that it is stored. What the browser sends is validated like any
request.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.namespaces.participants import PostResult
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import ForkyError, InTheWay, Outdated, StoreError
from forky_core.model.parts import AttachmentPart, part_from_stored
from pages.ui.components.models import ONCE, back_to_one
from pages.ui.drafts import drafts
from pages.ui.frame import go
from pages.ui.person import viewer
from pages.ui.registry import front_page
from pages.ui.session import TabSession
from pages.ui.workspace import workspace

_MOST_REPORTS = 40
"""How many questions a tab gets a report about; the oldest reports are dropped."""
_LONGEST_ID = 80
_FAILED = frozenset({"failed", "interrupted"})
_UNFINISHED = "The answer before it did not finish."


@dataclass(frozen=True, slots=True)
class PostedQuestion:
    """A question that a browser sends."""

    id: str
    place: str
    """The place of its draft."""
    conversation: ConversationId
    branch: str
    text: str
    files: tuple[AttachmentPart, ...] = ()
    search: str = ""
    model: str | None = None
    seen: str | None = None
    """The head of the branch that the author saw; "" for an empty branch; None if the question waited for the answer
    before it, and comes after whatever the head is now.
    """
    fork: str = ""
    """The message to fork at; "" if the question continues the branch."""
    own: bool = False
    """Whether it goes to a new branch because its author may not write on this one."""
    person: str = ""
    """The name of its author, on a server where readers enter their names themselves."""
    also: tuple[str, ...] = ()
    """Models that answer it beside, each on a branch of its own."""
    now: bool = False
    """Whether to ask it although the answer before it did not finish."""


def question_of(post: Mapping[str, Any]) -> PostedQuestion | None:
    """Read what a browser sent; return None if it is not a question."""
    names = ("id", "place", "c", "b", "text", "search", "fork")
    id, place, conversation, branch, text, search, fork = (str(post.get(one) or "") for one in names)
    seen, model, files = post.get("seen"), post.get("model"), post.get("files")
    if not id or len(id) > _LONGEST_ID or " " in id or not isinstance(files, list):
        return None
    parts = [part_from_stored(file) for file in files if isinstance(file, dict)]
    return PostedQuestion(
        id,
        place,
        ConversationId(conversation),
        branch,
        text,
        tuple(part for part in parts if isinstance(part, AttachmentPart)),
        search,
        model if isinstance(model, str) and model else None,
        seen if isinstance(seen, str) else None,
        fork,
        post.get("own") is True,
        str(post.get("person") or ""),
        tuple(str(post.get("also") or "").splitlines()),
        post.get("now") is True,
    )


def take_post(tab: TabSession, post: Mapping[str, Any]) -> None:
    """Post the question that a browser sent, and note the outcome for the browser in the session."""
    question = question_of(post)
    if question is None:
        return
    try:
        why = _why_not_asked(tab, question)
        if not why:
            _post(tab, question)
    except InTheWay as error:
        _report(tab, question, "waits", str(error))
    except Outdated as error:
        tab.race = (question.place, f"{error.message} Your draft is kept.", _id(question.seen))
        _return_to_draft(tab, question)
    except StoreError as error:
        _report(tab, question, "waits", f"Not stored yet; it is tried again by itself. {error}")
    except ForkyError as error:
        tab.say(str(error))
        if _is_stored(tab, question):  # Only its answer could not begin.
            _report(tab, question, "stored")
        else:
            _return_to_draft(tab, question)
    else:
        _report(tab, question, "held" if why else "stored", why)


def say_on_branch(tab: TabSession, chat: Conversation, posted: PostResult) -> None:
    """Say that a question began a branch, with an Undo of both."""
    group = posted.job.place.group if posted.job is not None else None
    tab.acting = None
    tab.say(f"On a new branch: “{chat.branch_name}”", None if group is None else (chat.id, group))


def _return_to_draft(tab: TabSession, question: PostedQuestion) -> None:
    if drafts().at(question.place).empty:
        drafts().write(question.place, question.text)
        drafts().attach(question.place, question.files)
    _report(tab, question, "back")


def _report(tab: TabSession, question: PostedQuestion, state: str, why: str = "") -> None:
    tab.heard[question.id] = {"state": state, "why": why, "at": str(time.time_ns())}
    while len(tab.heard) > _MOST_REPORTS:
        del tab.heard[next(iter(tab.heard))]


def _chat(tab: TabSession, question: PostedQuestion) -> Conversation:
    chat = workspace().conversation(question.conversation, question.branch)
    return chat.people.as_person(question.person or tab.person) if tab.person is not None else chat


def _is_stored(tab: TabSession, question: PostedQuestion) -> bool:
    try:
        return _chat(tab, question).people.has_post(question.id)
    except ForkyError:
        return False


def _why_not_asked(tab: TabSession, question: PostedQuestion) -> str:
    """Return why a question that waited for the answer before it is not asked yet; "" if it can be asked."""
    if question.now or question.seen is not None or question.fork or question.own:
        return ""
    chat = _chat(tab, question)
    head = chat.branch.head
    last = next(
        (call for call in reversed(chat.calls.generations) if head in (call.message, call.parent)), None
    )
    return _UNFINISHED if head is not None and last is not None and last.status in _FAILED else ""


def _post(tab: TabSession, question: PostedQuestion) -> None:
    chat, here = _chat(tab, question), st.query_params.get("c") == question.conversation
    if question.fork or question.own:
        name = viewer().fork_name(chat, question.text, own=question.own)
        chat, posted = chat.people.post_from(
            _id(question.fork),
            question.text,
            branch=name,
            model=question.model,
            attachments=question.files,
            search=question.search,
            post_id=question.id,
            also=question.also,
        )
        say_on_branch(tab, chat, posted)
    else:
        seen = chat.branch
        if question.seen is not None:
            seen = replace(seen, head=_id(question.seen))
        posted = chat.people.post(
            question.text,
            seen=seen,
            model=question.model,
            attachments=question.files,
            search=question.search,
            post_id=question.id,
            also=question.also,
        )
    if posted.silent:
        tab.say(posted.silent)
    if tab.race is not None and tab.race[0] == question.place:
        tab.race = None
    drafts().clear(question.place)
    back_to_one(tab, question.conversation, question.also)
    if here and tab.page == front_page().name and tab.branch == question.branch:
        tab.choices[ONCE], tab.window = "", 0
        go(chat)


def _id(seen: str | None) -> MessageId | None:
    return MessageId(seen) if seen else None
