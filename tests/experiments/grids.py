"""Small experiments with scripted models, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.experiments.experiments import Experiments
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Answer, Fail, ScriptedModel
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.store.contract import Store
from tests.builders import ScriptedModels, workspace

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo"}


class GridModels(ScriptedModels):
    """The two scripted models, which answer from a function each, and a judge."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = ScriptedModel(
            "scripted/judge", answer=lambda _: '{"reason": "Fine.", "pass": true, "score": 1}'
        )

    def model(self, name: str) -> ScriptedModel:
        if name == "scripted/judge":
            return self.judge
        found = super().model(name)
        assert isinstance(found, ScriptedModel)
        return found

    def let(self, name: str, answer: Answer) -> None:
        """Have a model answer like this from now on."""
        self.model(name)._answer = answer

    @property
    def asked(self) -> int:
        return len(self.one.requests) + len(self.two.requests)


def question_in(request: Request) -> str:
    """The last message of a request."""
    return str(request.messages[-1]["content"])


def knows(request: Request) -> str:
    """The right capital."""
    said = question_in(request)
    return next((f"It is {city}." for country, city in CAPITALS.items() if country in said), "I do not know.")


def knows_half(request: Request) -> str | Sequence[Fail]:
    """The right capital of two countries; for the others the call fails."""
    said = question_in(request)
    return knows(request) if "France" in said or "Italy" in said else (Fail("bad_request", "No."),)


def capitals(**changes: object) -> Experiment:
    """Four rows, each with its own check, and two columns."""
    rows = [
        ExperimentRow(
            f"What is the capital of {country}?", reference=city, checks=(RowCheck("contains", city),)
        )
        for country, city in CAPITALS.items()
    ]
    columns = [ExperimentColumn("scripted/one", label="One"), ExperimentColumn("scripted/two", label="Two")]
    fields: dict[str, object] = {"name": "capitals", "rows": rows, "columns": columns, **changes}
    return Experiment(**fields)  # type: ignore[arg-type]


def saved(
    **changes: Any,
) -> tuple[Workspace, GridModels, Conversation, Experiments]:
    """The same, with the experiment about capitals saved."""
    forky, models, chat, experiments = opened()
    experiments.save(capitals(**changes))
    return forky, models, chat, experiments


def ran(**changes: Any) -> tuple[Workspace, GridModels, Conversation, Experiments]:
    """The same, and it has run."""
    forky, models, chat, experiments = saved(**changes)
    experiments.run("capitals")
    return forky, models, chat, experiments


def opened(store: Store | None = None) -> tuple[Workspace, GridModels, Conversation, Experiments]:
    """A workspace with a conversation for experiments."""
    forky, _ = workspace(store)
    models = GridModels()
    models.let("scripted/one", knows)
    models.let("scripted/two", lambda _: "It is Paris.")
    forky.models = models
    chat = forky.create("Capitals")
    return forky, models, chat, Experiments(chat)
