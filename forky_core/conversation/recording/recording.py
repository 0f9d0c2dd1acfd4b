"""An answer that a program receives while Forky records it, and where a program's call was stored.

The answer is a reply like any other (conversation/replies/reply_job.py): it can be watched and stopped in Forky, is
saved as it arrives, and is recovered after a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from forky_core.conversation.recording.receiving import answers_to
from forky_core.conversation.replies.ending import NO_USAGE, End, cut
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import Session
from forky_core.llm.contract import ReasoningDelta, TextDelta, ToolCallDone
from forky_core.model import (
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    GenerationStatus,
    Message,
    MessageId,
    Operation,
    Usage,
)
from forky_core.model.errors import StoreError
from forky_core.model.parts import Part


@dataclass(frozen=True, slots=True)
class Reply:
    """A completed answer of a program's call."""

    parts: tuple[Part, ...]
    finish_reason: str | None = None
    usage: Usage = NO_USAGE
    status: GenerationStatus = "done"
    failure: Failure | None = None
    started: int = 0
    """Microseconds since the epoch, UTC; likewise the next two. 0: now."""
    first_token: int | None = None
    finished: int | None = None
    id: str = ""
    """The generation's id; recording the same id twice stores it once. "": a new id."""
    provider_reason: str = ""
    """The provider's own word for why it ended, if that is another than `finish_reason`."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Where a call was stored."""

    target: ReplyTarget
    """The target of a reply."""
    answer: MessageId | None
    """The reply that was stored, if any."""
    known: int
    """How many of the array's messages were stored already."""
    skipped: int
    """How many of these, at the beginning, were not matched: the array's head was trimmed or replaced."""
    created: bool
    """Whether the conversation is new."""
    operation: Operation | None
    """The operation that added new messages; None if there were none."""

    @property
    def conversation(self) -> ConversationId:
        return self.target.conversation

    @property
    def branch(self) -> str:
        """The branch that ends there; "" if the call is beside the messages that follow."""
        return self.target.branch

    @property
    def question(self) -> MessageId:
        """The last message of the program's array."""
        return self.target.parent


class Recording:
    """An answer that a program receives while Forky records it. End it once, or use it in a `with`."""

    def __init__(
        self,
        session: Session,
        recorded: Recorded,
        asked: Generation,
        job: ReplyJob | None,
        begin_another: Callable[[Recording], Recording],
    ) -> None:
        self._begin_another = begin_another
        self.session = session
        self.recorded = recorded
        self.asked = asked
        self.job = job
        """The reply job; None if a stored answer is returned."""

    @property
    def conversation(self) -> ConversationId:
        return self.session.id

    @property
    def branch(self) -> str:
        return self.recorded.branch

    @property
    def question(self) -> MessageId:
        """The last message of the program's array."""
        return self.recorded.question

    @property
    def generation(self) -> GenerationId:
        return self.asked.id

    @property
    def known(self) -> int:
        """How many of the array's messages were stored already."""
        return self.recorded.known

    @property
    def reused(self) -> Message | None:
        """The stored answer that is returned; the recording has ended then."""
        answer = self.recorded.answer
        return self.session.message(answer) if self.job is None and answer is not None else None

    @property
    def alternatives(self) -> tuple[Message, ...]:
        """The answers to the same question, oldest first."""
        return answers_to(self.session, self.question)

    @property
    def stopping(self) -> bool:
        """Whether a person stopped the answer in Forky; then end the call."""
        return self.job is not None and self.job.stopping.is_set()

    def take(self, event: TextDelta | ReasoningDelta | ToolCallDone) -> bool:
        """Record a piece of the answer; False if the recording has ended because a person stopped it."""
        if self.job is None or not self.job.running:
            return False
        if self.stopping:
            self._end(End("stopped", None, NO_USAGE, Failure("stopped", "You stopped this reply.")))
            return False
        self.job.take(event)
        return True

    def done(self, finish_reason: str, usage: Usage = NO_USAGE, provider_reason: str = "") -> Message | None:
        """End the recording with a complete answer; returns None if the answer is empty.

        `provider_reason` is the provider's own word for why it ended, if that is another.

        Raises:
            StoreError: it could not be stored.
        """
        if self.job is not None and not self.job.parts:
            failure = Failure("empty", "The model ended without saying anything.")
            return self._end(End("failed", finish_reason, usage, failure, provider_reason=provider_reason))
        return self._end(End("done", finish_reason, usage, None, provider_reason=provider_reason))

    def failed(
        self,
        failure: Failure,
        usage: Usage = NO_USAGE,
        cause: BaseException | None = None,
        provider_reason: str = "",
    ) -> Message | None:
        """End the recording with a failed call; what arrived is stored as interrupted. Raises StoreError."""
        if self.job is None:
            return self.reused
        return self._end(cut(self.job, failure, usage, cause, provider_reason))

    def cut(self, sentence: str) -> Message | None:
        """End the recording because the asking program, or the connection to it, broke off. Raises StoreError."""
        return self.failed(Failure("cut_off", sentence))

    def another(self) -> Recording:
        """Start recording one more answer to the same question, parallel to this one."""
        return self._begin_another(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.job is not None and self.job.running:
            self.cut("The call ended before its answer did.")

    def _end(self, end: End) -> Message | None:
        job = self.job
        if job is None:
            return self.reused
        self.session.replies.end(
            job, end, self.asked.client or self.session.actor, self.asked.model or "A model"
        )
        if job.failure is not None and job.failure.kind == "store":
            raise StoreError(job.failure.sentence)
        return job.message
