"""Models with a price, and quotes of their calls, for tests of allowances."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from forky_core.conversation.allowance.amounts import NANO
from forky_core.conversation.allowance.quotes import Quote
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Done, Failed, Model, ModelEvent, ModelInfo, Request
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Usage
from forky_core.model.errors import NotFound

DOLLAR = NANO
DEAR = ModelInfo("dear/one", "Dear", "Dear", input_price=1e-5, output_price=1e-4)
"""A thousand tokens of an answer cost ten cents."""
UNPRICED = ModelInfo("odd/one", "Odd", "Odd")
OFFLINE = ModelInfo("offline/quote", "Offline: quotes", "Offline", input_price=0.0, output_price=0.0)


def asked(question: int = DOLLAR // 100, longest: int = DOLLAR // 10, answers: int = 1) -> Quote:
    """The quote of a call; amounts are in billionths of a dollar."""
    return Quote("Dear", True, question, longest, answers, 1e-4)


def paid(cost: float | None = 0.05, tokens: int = 500) -> Done:
    """The end of an answer that cost so many US dollars."""
    return Done("stop", Usage(100, tokens, cost=cost))


class PricedModels:
    """A dear model, one without a known price, and an offline one."""

    def __init__(self) -> None:
        self.dear = ScriptedModel(info=DEAR, answer=lambda _request: ("Yes.", paid()))
        self.odd = ScriptedModel(info=UNPRICED, answer=lambda _request: ("Odd.", paid(None)))
        self.offline = ScriptedModel(info=OFFLINE, answer=lambda _request: "Quoted.")

    def model(self, name: str) -> Model:
        for model in (self.dear, self.odd, self.offline):
            if model.info().name == name:
                return model
        raise NotFound(f"There is no model “{name}”.")

    def models(self) -> tuple[ModelInfo, ...]:
        return DEAR, UNPRICED, OFFLINE

    def embedder(self, name: str) -> Embedder:
        raise NotFound(f"There is no embedding model “{name}”.")

    def default(self) -> str:
        return DEAR.name

    def can_write(self, name: str) -> bool:
        return name in {DEAR.name, UNPRICED.name}


def question(model: str = DEAR.name, text: str = "Why do boats float?") -> Request:
    return Request(model, ({"role": "user", "content": text},))


def events(model: Model, request: Request | None = None, stop: Event | None = None) -> Sequence[ModelEvent]:
    """All events of one call."""
    return list(model.stream(request or question(model.info().name), stop or Event()))


def refusal(found: Sequence[ModelEvent]) -> str:
    """The sentence with which a call was refused; "" if it was not."""
    end = found[-1]
    return end.failure.sentence if isinstance(end, Failed) else ""
