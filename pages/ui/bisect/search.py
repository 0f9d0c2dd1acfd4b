"""A bisection in this tab: what was asked, how far it is, and what came of it. It goes on in the background."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.bisecting import Bisection, Check
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError


@dataclass(slots=True)
class Searching:
    """One search."""

    conversation: ConversationId
    branch: str
    question: str
    search: Bisection
    """As far as it has come."""
    job: Future[Bisection] | None = None
    """None where a person judges."""
    stop: Event = field(default_factory=Event)
    sentence: str = ""
    """Why it ended without finding anything."""

    def settle(self) -> None:
        """Take in how the job ended."""
        assert self.job is not None
        job, self.job = self.job, None
        try:
            self.search = job.result()
        except ForkyError as error:
            self.sentence = str(error)

    def told(self, chat: Conversation, *, passed: bool) -> None:
        """What a person saw at the message at hand; the log is told when that was the last one."""
        try:
            self.search = self.search.with_result(passed)
            if self.search.first is not None:
                chat.bisections.record(self.search, self.question)
        except ForkyError as error:
            self.sentence = str(error)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked at each message."""

    question: str
    check: Check
    repeats: int
    model: str


def begin(chat: Conversation, search: Bisection, question: str) -> Searching:
    """A search by eye."""
    return Searching(chat.id, chat.branch_name, question, search)


def begin_asking(chat: Conversation, search: Bisection, asked: Asked) -> Searching:
    """A search that a model answers."""
    made = Searching(chat.id, chat.branch_name, asked.question, search)
    good = search.path[search.good].id if search.good >= 0 else None
    bad = search.path[search.bad].id

    def on_probe(now: Bisection) -> None:
        made.search = now

    made.job = _workers().submit(
        chat.bisections.run,
        asked.question,
        asked.check,
        good=good,
        bad=bad,
        repeats=asked.repeats,
        model=asked.model,
        on_probe=on_probe,
        stop=made.stop,
    )
    return made


@st.cache_resource(show_spinner=False)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="bisect")
