"""Conversations to give away: one with everything in it, in which every text that somebody writes is the given one."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.experiments.experiments import Experiments
from forky_core.formats.reports.publishing import report_of
from forky_core.formats.reports.report import Report
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.model.parts import Draft, TextPart
from tests.builders import workspace

THINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("comparison", ("main", "debug", "third")),
    ("experiment", ()),
    ("poll", ()),
    ("merge", ()),
    ("replay", ()),
    ("replay", ("everything",)),
)


@dataclass(frozen=True)
class Given:
    forky: Workspace
    chat: Conversation

    def report(self, thing: str, which: tuple[str, ...] = ()) -> Report:
        return report_of(self.forky, self.chat, thing, which)


def given(text: str = "The port is 8080.", *, title: str = "Ports") -> Given:
    """A comparison of three, an experiment of two columns, a revealed poll, a merge, and something undone."""
    forky, models = workspace()
    for model in (models.one, models.two):
        model._answer = lambda _request: text
    chat = forky.create(title)
    chat.say(text)
    chat.append([Draft("assistant", (TextPart(text),))])
    first, answered = chat.path()[0].id, chat.path()[1].id
    third = chat.fork("third", at=first)
    third.say(f"Another one. {text}", role="assistant")
    debug = chat.fork("debug", at=answered)
    debug.say(f"Why? {text}")
    debug.say(f"Decision: use port 9090. {text}", role="assistant")
    chat.say("Undone.")
    chat.undo()
    chat.merge(chat.plan_merge(debug, strategy="squash"))
    poll = chat.polls.open([answered, "third"], title=text[:100], criteria=["clear"])
    chat.people.as_person("Ada").polls.vote(poll.number, "A", note=text[:1_000], scores={"A": {"clear": 4}})
    chat.people.as_person("Bo").polls.vote(poll.number, "tie")
    chat.polls.reveal(poll.number)
    experiments = Experiments(chat)
    rows = [ExperimentRow(text, checks=(RowCheck("contains", "8080"),)), ExperimentRow(f"Again: {text}")]
    columns = [
        ExperimentColumn("scripted/one"),
        ExperimentColumn("scripted/two", label="Two" if "@" in text else text[:60]),
    ]
    experiments.save(Experiment("grid", rows=rows, columns=columns))
    experiments.run("grid")
    return Given(forky, chat)
