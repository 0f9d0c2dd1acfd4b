"""Models with a price, and the people who ask them, for tests of spending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event

from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Done, Failed, Model, ModelEvent, ModelInfo, Request
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Usage
from forky_core.model.errors import NotFound
from forky_core.team.spending.amounts import NANO
from forky_core.team.spending.quotes import Quote
from forky_core.team.team import Team

DOLLAR = NANO
DEAR = ModelInfo("dear/one", "Dear", "Dear", input_price=1e-5, output_price=1e-4)
"""A thousand tokens of an answer cost ten cents."""
UNPRICED = ModelInfo("odd/one", "Odd", "Odd")
OFFLINE = ModelInfo("offline/quote", "Offline: quotes", "Offline", input_price=0.0, output_price=0.0)


def asked(question: float = 0.01, step: float = 0.1, *, messages: int = 1, model: str = "dear/one") -> Quote:
    """The quote of a call; amounts are in US dollars."""
    return Quote(model, model, True, round(question * NANO), round(step * NANO), messages, 1e-4, "c1", "main")


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
    stream: Iterator[ModelEvent] = model.stream(request or question(model.info().name), stop or Event())
    return list(stream)


def refusal(found: Sequence[ModelEvent]) -> str:
    """The sentence with which a call was refused; "" if it was not."""
    end = found[-1]
    return end.failure.sentence if isinstance(end, Failed) else ""


def left(team: Team, person: str) -> int:
    """What can still be set aside of a balance in money."""
    return (
        team.spending.accounts.balances(person)["dollars"].amount
        - team.spending.accounts.set_aside(person)[0]
    )
