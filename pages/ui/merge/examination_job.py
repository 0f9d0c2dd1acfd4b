"""A model that reads in the background: texts side by side, or the note of a request beside its branch."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.merge.plan import MergePlan
from forky_core.model.errors import ForkyError


@dataclass(slots=True)
class RunningExamination:
    """A model that is reading; it goes on whatever the person clicks meanwhile."""

    future: Future[object]
    stop: Event = field(default_factory=Event)
    replans: bool = True
    """Whether a merge is planned anew with what was found."""

    def failure(self) -> str:
        """Why it came to nothing, once it is done; "" if it was kept."""
        try:
            self.future.result()
        except ForkyError as error:
            return str(error)
        return ""


def begin(chat: Conversation, texts: MergePlan | Sequence[str]) -> RunningExamination:
    """Ask the model, in the background."""
    stop = Event()
    return RunningExamination(_examiners().submit(chat.merges.examine, texts, stop=stop), stop)


def begin_review(chat: Conversation, number: int, model: str) -> RunningExamination:
    """Have a model review a request, in the background."""
    stop = Event()
    return RunningExamination(
        _examiners().submit(chat.requests.review_by, number, model, stop=stop), stop, replans=False
    )


@st.cache_resource(show_spinner=False)
def _examiners() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="examiners")
