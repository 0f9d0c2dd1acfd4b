"""Calls of models that are paid for: what is set aside before one, counted while it runs, and charged when it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event
from typing import Any, Protocol

from forky_core.conversation.allowance.account import SpendingRefused, Sum
from forky_core.conversation.allowance.amounts import nanodollars
from forky_core.conversation.allowance.book import USED_UP, Book, Spender
from forky_core.conversation.allowance.quotes import Quote
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import (
    Answering,
    Consulted,
    Done,
    Failed,
    ModelEvent,
    ModelInfo,
    ProviderMessage,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.tokens import count_each, estimate_tokens
from forky_core.llm.upstream import priced
from forky_core.model import Failure, Usage
from forky_core.model.document import Numbers
from forky_core.model.errors import ModelError, StoreError


class Begin(Protocol):
    """Sets aside what a call can cost. Raises SpendingRefused and StoreError."""

    def __call__(
        self,
        info: ModelInfo,
        messages: Sequence[ProviderMessage],
        parameters: Mapping[str, Any],
        *,
        answers: int = 1,
    ) -> Meter: ...


_SIGN_OF_LIFE = 30 * 1_000_000
"""Microseconds after which what has arrived is noted: so much of a call a process that is killed can leave unpaid."""


class Meter:
    """One call, which every one of its spenders can pay for. Its methods may be called from any thread."""

    def __init__(self, book: Book, spenders: Sequence[Spender], quote: Quote) -> None:
        """Set aside what the call can cost. Settle it, whatever becomes of the call.

        Raises:
            SpendingRefused: so much is not left for one of the spenders; then nothing is set aside for any.
            StoreError: the database cannot be written now.
        """
        self._book = book
        self._quote = quote
        self._counted = 0
        self._uncounted: list[str] = []
        self._characters = 0
        """Of the texts that are not counted yet: no text has more tokens than characters."""
        self._sent = False
        self._settled = False
        self._lock = threading.Lock()
        self._holds: list[tuple[Spender, str]] = []
        self._held: int | None = None
        """The least that is set aside, in billionths of a dollar; None where nothing limits the call."""
        try:
            for spender in spenders:
                id = ""
                if spender.allowance.is_limited and not quote.free:
                    id, held = book.set_aside(spender, quote)
                    if spender.allowance.limits_money and quote.priced:
                        self._held = held if self._held is None else min(self._held, held)
                self._holds.append((spender, id))
        except BaseException:
            self.settle()
            raise
        self._renewed = book.clock()

    def sent(self) -> None:
        """The call goes to its provider, which bills the question even if nobody waits for the answer."""
        self._sent = True

    def add(self, events: Iterable[ModelEvent | Consulted]) -> None:
        """Add events of an answer. Ask `go_on` after it."""
        texts = _billed(events)
        with self._lock:
            self._uncounted += texts
            self._characters += sum(map(len, texts))

    def _tokens(self) -> int:
        with self._lock:
            self._counted += sum(count_each(self._uncounted, estimate_tokens))
            self._uncounted, self._characters = [], 0
            return self._counted

    @property
    def arrived(self) -> int:
        """What the call has cost by an estimate, in billionths of a dollar; nothing before it was sent."""
        return self._quote.so_far(self._tokens()) if self._sent else 0

    def covers(self, events: Iterable[ModelEvent] = ()) -> bool:
        """Whether enough is set aside for what has arrived and for these events; where that is close, False."""
        with self._lock:
            most = self._counted + self._characters + sum(map(len, _billed(events)))
        return self._held is None or not self._sent or self._quote.so_far(most) <= self._held

    @property
    def is_due(self) -> bool:
        """Whether `go_on` must be asked: more has arrived than is set aside, or nothing was noted for a while."""
        behind = self._held is not None and not self.covers() and self.arrived > self._held
        return behind or self._book.clock() - self._renewed > _SIGN_OF_LIFE

    def go_on(self) -> bool:
        """Keep what is set aside, and set more aside if more has arrived; False if nothing is left for the answer."""
        if not self.is_due:
            return True
        arrived, least = self.arrived, None
        try:
            for spender, id in self._holds:
                held = self._book.renew(spender, id, self._quote, arrived) if id else None
                if id and held is None:
                    return False
                if held is not None and spender.allowance.limits_money:
                    least = held if least is None else min(least, held)
        except StoreError:  # The next piece tries again.
            return True
        self._held, self._renewed = least, self._book.clock()
        return True

    def settle(self, cost: float | None = None, *, failed: bool = False) -> None:
        """Pay for the call, once; one that was not sent costs nothing, and neither does one that `failed` before
        anything arrived.

        `cost` is in US dollars, as the provider counted it; None: as estimated.
        """
        with self._lock:
            if self._settled:
                return
            self._settled = True
        spent = Sum()
        if self._sent and (cost or not failed or self._tokens()):
            spent = Sum(self._quote.answers, self.arrived if cost is None else nanodollars(max(0.0, cost)))
        for spender, id in self._holds:
            if id or spent != Sum():
                self._book.settle(spender, id, spent)


class MeteredModel:
    """A model whose calls are paid for."""

    def __init__(self, model: Answering, begin: Begin, of: str = "") -> None:
        """`of` names whose model it is: two of the same person's are equal."""
        self._model = model
        self._begin = begin
        self._of = of
        self.count_tokens: Callable[[str], int] = getattr(model, "count_tokens", estimate_tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeteredModel) and (other._model, other._of) == (self._model, self._of)

    def __hash__(self) -> int:
        return hash((id(self._model), self._of))

    def info(self) -> ModelInfo:
        return self._model.info()

    def stream(self, request: Request, stop: Event) -> Iterator[Any]:
        info = self.info()
        try:
            meter = self._begin(info, request.messages, request.parameters)
        except SpendingRefused as refused:
            yield refused.event
            return
        except StoreError as error:
            yield Failed(Failure("unknown", str(error)), cause=error)
            return
        # A model that is told to stop before it begins sends nothing.
        unsent = stop.is_set()
        meter.sent()
        try:
            event: ModelEvent | Consulted
            for event in self._model.stream(request, stop):
                meter.add((event,))
                match event:
                    case Done(_, usage):
                        meter.settle(_cost(usage, info))
                    case Failed(_, usage):
                        meter.settle(usage.cost, failed=True)
                    case _:
                        pass
                yield event
                if not isinstance(event, Done | Failed) and not meter.go_on():
                    meter.settle()
                    yield USED_UP.event
                    return
        except Exception:
            meter.settle(failed=True)
            raise
        finally:
            meter.settle(failed=unsent)


class MeteredEmbedder:
    """An embedding model whose calls are paid for. They are no answers, also where nobody knows their price."""

    def __init__(self, embedder: Embedder, info: ModelInfo, begin: Begin) -> None:
        self._embedder = embedder
        self._info = info
        self._begin = begin

    @property
    def name(self) -> str:
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> Numbers:
        words: tuple[ProviderMessage, ...] = tuple({"role": "user", "content": text} for text in texts)
        try:
            meter = self._begin(self._info, words, {"max_tokens": 1}, answers=0)
        except SpendingRefused as refused:
            raise ModelError(refused.failure) from refused
        meter.sent()
        try:
            rows = self._embedder.embed(texts)
        except BaseException:
            meter.settle(failed=True)
            raise
        tokens = sum(estimate_tokens(text) for text in texts)
        meter.settle(priced(Usage(tokens, 0), self._info))
        return rows


def _billed(events: Iterable[ModelEvent | Consulted]) -> list[str]:
    """The texts that a provider bills as its answer."""
    return [
        event.arguments or "{}" if isinstance(event, ToolCallDone) else event.text
        for event in events
        if isinstance(event, TextDelta | ReasoningDelta | ToolCallDone)
    ]


def _cost(usage: Usage, info: ModelInfo) -> float | None:
    return usage.cost if usage.cost is not None else priced(usage, info)
