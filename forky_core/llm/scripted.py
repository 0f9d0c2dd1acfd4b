"""A model with scripted replies for tests, demonstrations and benchmarks, also those of programs built on Forky.

A reply is a sequence of steps: text, any event of the contract, a pause, or a wait for an event that the test sets. The
model follows the contract strictly (one `Done` or `Failed` at the end; `stop` just ends the stream), so that code that
works with it works with a provider.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event, Lock
from types import MappingProxyType

from forky_core.llm.contract import (
    Done,
    Failed,
    FailureKind,
    ModelEvent,
    ModelInfo,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model import Failure, Usage

_POLL = 0.005
"""Seconds between two checks of `stop` while waiting for a test's event."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Send nothing for a while; `stop` cuts it short."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Until:
    """Send nothing until the test sets this event, or `stop` is set."""

    event: Event


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing more until stopped, like a provider that stalls."""


@dataclass(frozen=True, slots=True)
class Fail:
    """End the reply with a failure of this kind."""

    kind: FailureKind
    sentence: str = "The scripted model failed as it was told to."
    retry_after: float | None = None


Step = str | TextDelta | ReasoningDelta | ToolCallDone | Done | Failed | Pause | Until | Hang | Fail
"""A `str` is a chunk of text. After the last step the reply is `Done`, unless a step ended it before."""

Answer = Callable[[Request], Sequence[Step] | str]


def words(text: str, pause: float = 0.0) -> tuple[Step, ...]:
    """Return `text` as steps, one chunk a word, with a pause of so many seconds between two."""
    chunks = [f"{word} " for word in text.split(" ")]
    chunks[-1] = chunks[-1][:-1]
    if not pause:
        return tuple(chunks)
    return tuple(step for chunk in chunks for step in (chunk, Pause(pause)))[:-1]


class ScriptedModel:
    """Replies with the enqueued replies, first in first out, then with `answer(request)`.

    With neither, a request fails and says so. Thread-safe.
    """

    def __init__(
        self, name: str = "scripted/model", *, answer: Answer | None = None, info: ModelInfo | None = None
    ) -> None:
        self._info = info or ModelInfo(
            name,
            f"Scripted: {name}",
            "Scripted",
            input_price=0.0,
            output_price=0.0,
            sees_images=True,
            calls_tools=True,
        )
        self._answer = answer
        self._queue: deque[tuple[Step, ...]] = deque()
        self._requests: list[Request] = []
        self._lock = Lock()

    def info(self) -> ModelInfo:
        return self._info

    def enqueue(self, *steps: Step) -> None:
        """Add one scripted reply to the queue."""
        with self._lock:
            self._queue.append(steps)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, copied when it came in."""
        with self._lock:
            return tuple(self._requests)

    @property
    def waiting(self) -> int:
        """The number of scripted replies still in the queue."""
        with self._lock:
            return len(self._queue)

    count_tokens = staticmethod(estimate_tokens)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        # The reply is dequeued by the call, not at the first `next`, so that concurrent requests keep order.
        return self._play(self._next(request), request, stop)

    def _next(self, request: Request) -> tuple[Step, ...]:
        with self._lock:
            self._requests.append(_copied(request))
            if self._queue:
                return self._queue.popleft()
        if self._answer is None:
            return (Fail("bad_request", "No reply was scripted for this request. Call enqueue() first."),)
        answer = self._answer(request)
        return (answer,) if isinstance(answer, str) else tuple(answer)

    def _play(self, steps: Sequence[Step], request: Request, stop: Event) -> Iterator[ModelEvent]:
        pieces: list[str] = []

        def usage() -> Usage:
            return Usage(prompt_tokens(request.messages), estimate_tokens("".join(pieces)), cost=0.0)

        called = False
        for step in steps:
            if not _wait(step, stop):
                return
            match step:
                case Pause() | Until() | Hang():
                    continue
                case Fail(kind, sentence, retry_after):
                    yield Failed(Failure(kind, sentence, retry_after), usage())
                    return
                case Done() | Failed():
                    yield step
                    return
                case str():
                    pieces.append(step)
                    yield TextDelta(step)
                case _:
                    called = called or isinstance(step, ToolCallDone)
                    yield step
        if not stop.is_set():
            yield Done("tool_calls" if called else "stop", usage())


def _copied(request: Request) -> Request:
    return replace(
        request,
        messages=copy.deepcopy(request.messages),
        parameters=MappingProxyType(copy.deepcopy(dict(request.parameters))),
    )


def _wait(step: Step, stop: Event) -> bool:
    """Wait as a step requires; return False if the reply was stopped."""
    match step:
        case Pause(seconds):
            stop.wait(seconds)
        case Hang():
            stop.wait()
        case Until(event):
            while not event.is_set() and not stop.is_set():
                event.wait(_POLL)
        case _:
            pass
    return not stop.is_set()
