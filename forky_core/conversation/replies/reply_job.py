"""One reply while it is written: what has arrived so far, for everyone who watches it.

A job belongs to no tab: any number of threads may read it, wait for more or ask it to stop. replies.py writes into it,
saves it and lands it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from forky_core.conversation.identity import now
from forky_core.llm.contract import ReasoningDelta, TextDelta, ToolCallDone
from forky_core.model import ConversationId, Failure, Generation, Message, MessageId
from forky_core.model.document import DocumentSearch
from forky_core.model.errors import ModelError
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Part, ReasoningPart, TextPart, ToolCallPart, arguments_json
from forky_core.model.thought_parts import ThoughtParts
from forky_core.model.thoughts import split_thoughts
from forky_core.store.contract import Store


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """Where a reply goes."""

    conversation: ConversationId
    branch: str
    """The branch's name; "": the reply is kept beside existing messages."""
    parent: MessageId
    """The message it answers."""
    replaces: MessageId | None = None
    """The expected head if that is a sibling of the reply (regenerate); None: the expected head is `parent`."""
    begins_with: tuple[Part, ...] = ()
    """The parts of the interrupted reply that it resumes."""
    group: int | None = None
    """The operation of the question, so that both are undone together."""
    speaker: str | None = None
    """The name that the reply carries if several models are in the room."""
    kept_without_branch: bool = True
    """Whether the reply stays visible if its branch is removed meanwhile. It is stored in any case."""

    @property
    def expected_head(self) -> MessageId:
        return self.replaces or self.parent


@dataclass(frozen=True, slots=True)
class ReplyProgress:
    """What arrived after a position (a number of pieces); a watcher that continues from there misses and repeats
    nothing.
    """

    position: int
    """The next position."""
    text: str
    reasoning: str
    """Both as the model wrote them: a piece may end in the middle of a character."""
    ended: bool
    """Whether nothing more will arrive."""


class ReplyJob:
    """One reply being written. All of it is safe to read from any thread."""

    def __init__(
        self, target: ReplyTarget, generation: Generation, store: Store, *, fed: bool = False
    ) -> None:
        self.place = target
        self.store = store
        """Where it is saved: the store of whoever asked, which may refuse once they may no longer write here."""
        self.generation = generation
        """The generation as last saved."""
        self.fed = fed
        """Whether its text comes from outside, so that no thread of ours ends it."""
        self.by = ""
        """The person who asked for it."""
        self.consulted: DocumentSearch | None = None
        """The passages that were found before the model was asked."""
        self.message: Message | None = None
        """The message that landed; None while running, and if nothing arrived."""
        self._text: list[str] = []
        self._thoughts = ThoughtParts()
        self._calls: list[ToolCallPart] = []
        self._begun = "".join(part.text for part in target.begins_with if isinstance(part, TextPart))
        self._said: list[TextDelta | ReasoningDelta] = [TextDelta(self._begun)] if self._begun else []
        self._waiting: list[Callable[[], object]] = []
        """Callbacks of watchers that have seen everything in `_said`."""
        self.first_token: int | None = None
        self._changed = threading.Condition()
        self.stopping = threading.Event()
        """Set by `stop`; the model's stream ends soon after."""
        self.cut_by: Failure | None = None
        self.stop_asked = 0.0
        """Why it is being stopped, where that is not a person's wish."""
        self._finished = False
        self._unsaved = False
        self.saved = 0
        """Characters of the answer that are saved so far."""
        self.saving = threading.Lock()
        """Held while writing, so that a late save of progress cannot overwrite the end."""

    @property
    def running(self) -> bool:
        return not self._finished

    @property
    def failure(self) -> Failure | None:
        return self.generation.failure

    @property
    def text(self) -> str:
        """The answer's text so far."""
        with self._changed:
            return "".join(self._text)

    @property
    def reasoning(self) -> str:
        with self._changed:
            return self._thoughts.text

    @property
    def parts(self) -> tuple[Part, ...]:
        """What has arrived, including the parts it began with."""
        with self._changed:
            first: list[Part] = list(self._thoughts.parts)
            text = mend_text("".join(self._text))
            calls = tuple(self._calls)
        text = self._begun + text
        if "</think>" in text:  # The end of a thought that its model's template had begun.
            thought, text = split_thoughts(text)
            first += [ReasoningPart(thought)] if thought else []
        if text.strip():
            first.append(TextPart(text))
        return (*first, *calls)

    def since(self, position: int) -> ReplyProgress:
        """What arrived after the first `position` pieces; the text it began with is the first piece."""
        with self._changed:
            said, ended = self._said[position:], self._finished
            position = len(self._said)
        text = "".join(piece.text for piece in said if isinstance(piece, TextDelta))
        reasoning = "".join(piece.text for piece in said if isinstance(piece, ReasoningDelta))
        return ReplyProgress(position, text, reasoning, ended)

    def tell_once(self, position: int, tell: Callable[[], object]) -> Callable[[], None]:
        """Call `tell` once: when there are more than `position` pieces or the reply has ended, which may be at once.

        It is called from another thread, where it must neither wait nor raise. Calling the returned function cancels
        it.
        """
        with self._changed:
            if len(self._said) <= position and not self._finished:
                self._waiting.append(tell)
                return lambda: self._forget(tell)
        tell()
        return lambda: None

    def _forget(self, tell: Callable[[], object]) -> None:
        with self._changed:
            self._waiting = [other for other in self._waiting if other is not tell]

    def _wake(self) -> None:
        """Notify the watchers; the lock must be held."""
        self._changed.notify_all()
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()

    def stop(self, why: Failure | None = None) -> None:
        """Ask it to stop; what has arrived is kept. `why` gives the reason where it is not a person's wish."""
        if not self.stopping.is_set():
            self.cut_by = why
            self.stop_asked = time.monotonic()
            self.stopping.set()

    @contextmanager
    def stopped_after(self, seconds: float | None) -> Iterator[None]:
        """Stop the reply if it is still running after so many seconds; None: never.

        Raises:
            ModelError: it was stopped by that; `.partial` holds what had arrived, which is also in the history.
        """
        if seconds is None:
            yield
            return
        seconds = min(float(seconds), threading.TIMEOUT_MAX)
        late = threading.Event()

        def stop() -> None:
            late.set()
            self.stop()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        except ModelError as error:
            if not late.is_set() or self.generation.status != "stopped":
                raise
            raise self._too_late(seconds) from error
        finally:
            timer.cancel()
        if late.is_set() and self.generation.status == "stopped":
            raise self._too_late(seconds)

    def _too_late(self, seconds: float) -> ModelError:
        kept = "What had arrived is kept." if self.message else "Nothing had arrived."
        why = Failure(
            "timeout", f"The reply was not complete after {seconds:g} second{'s'[: seconds != 1]}. {kept}"
        )
        return ModelError(why, self.message.parts if self.message else ())

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has landed; False if `seconds` ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._finished, seconds)

    def follow(self) -> Iterator[str]:
        """Yield the text as it arrives, from the beginning, until the reply ends."""
        seen = 0
        while True:
            with self._changed:
                while len(self._text) == seen and not self._finished:
                    self._changed.wait()
                fresh, seen = "".join(self._text[seen:]), len(self._text)
            if not fresh:
                return
            yield fresh

    def result(self) -> Message:
        """Wait for the reply and return its message.

        Raises:
            ModelError: it failed or was cut off; `.partial` holds what had arrived, which is also in the history.
        """
        self.wait()
        if self.failure is not None and self.generation.status != "stopped":
            raise ModelError(self.failure, self.message.parts if self.message else ())
        if self.message is None:
            raise ModelError(Failure("stopped", "The reply was stopped before anything had arrived."))
        return self.message

    async def landed(self) -> Message:
        """Await the reply's message, as `result` waits for it."""
        loop, position = asyncio.get_running_loop(), 0
        while self.running:
            more = asyncio.Event()
            forget = self.tell_once(position, partial(loop.call_soon_threadsafe, more.set))
            try:
                await more.wait()
            finally:
                forget()
            position = self.since(position).position
        return self.result()

    def take(self, event: TextDelta | ReasoningDelta | ToolCallDone) -> None:
        """Add an event of the model and wake the watchers. Raises TypeError for one whose text is none."""
        if not isinstance(event, ToolCallDone) and not isinstance(event.text, str):
            raise TypeError(f"a piece of the answer is no text, but {type(event.text).__name__}")
        with self._changed:
            if self._finished:
                return
            if self.first_token is None:
                self.first_token = now()
            match event:
                case TextDelta(text):
                    self._text.append(text)
                    self._said.append(event)
                case ReasoningDelta(text, kept, redacted):
                    self._thoughts.add(text, kept, redacted=redacted)
                    self._said.append(event)
                case ToolCallDone(id, name, arguments, kept):
                    self._calls.append(ToolCallPart(name, arguments_json(arguments), id, kept))
            self._unsaved = True
            self._wake()

    def snapshot(self) -> Generation | None:
        """The generation with what has arrived; None if there is nothing new to save."""
        with self._changed:
            if not self._unsaved or self._finished:
                return None
            self._unsaved = False
            first = self.first_token
        return replace(self.generation, partial=self.parts, first_token=first)

    def mark_unsaved(self) -> None:
        """Mark the last snapshot as unsaved, after a save failed."""
        with self._changed:
            self._unsaved = True

    def finish(self, generation: Generation, message: Message | None) -> None:
        """Set the final state: it has landed as `message`, or nothing arrived."""
        with self._changed:
            self.generation, self.message, self._finished = generation, message, True
            self._wake()
