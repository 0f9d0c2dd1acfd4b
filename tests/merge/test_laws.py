"""What holds after any sequence of talking, forking, merging and picking."""

from __future__ import annotations

from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.model import MessageId
from forky_core.model.graph import ancestors
from forky_core.model.parts import TextPart, ToolCallPart, ToolResultPart
from tests.context.validity import problems
from tests.merge.conversations import Talk, forked

Step = tuple[
    Literal["turn", "question", "tools", "fork", "full", "squash", "cherry-pick", "three-way"], int, int
]
steps: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(
        ["turn", "turn", "question", "tools", "fork", "full", "squash", "cherry-pick", "three-way"]
    ),
    st.integers(0, 5),
    st.integers(0, 5),
)


def take(talk: Talk, step: Step, number: int) -> None:
    kind, one, other = step
    names = sorted(talk.heads)
    branch, source = names[one % len(names)], names[other % len(names)]
    if kind == "turn":
        talk.say(branch, f"user: Question {number}", f"assistant: Answer {number}")
    elif kind == "question":
        talk.say(branch, f"user: Only a question {number}")
    elif kind == "tools":
        talk.parts(branch, "user", TextPart(f"Look {number}"))
        talk.parts(branch, "assistant", ToolCallPart("look", "{}", "same"), ToolCallPart("look", "{}", None))
        talk.parts(branch, "tool", ToolResultPart("look", f"seen {number}", "same"))
        if other % 2:
            talk.parts(branch, "tool", ToolResultPart("look", "seen too", None))
            talk.say(branch, f"assistant: Looked {number}")
    elif kind == "fork":
        path = talk.path(branch)
        talk.heads[f"b{number}"] = path[other % len(path)].id
    elif branch != source:
        merge(talk, branch, source, kind, other)


def merge(talk: Talk, target: str, source: str, strategy: str, choice: int) -> None:
    """Plan, land, and check what must hold of the two."""
    path = talk.path(source)
    picks: list[MessageId] = [message.id for message in path[choice % len(path) :][:3]]
    plan = talk.plan(strategy, target=target, source=source, picks=picks)
    landed = talk.land(plan)
    assert bool(landed) == bool(plan.drafts)
    listed = set(plan.citable) | {omission.message for omission in plan.omitted}
    assert set(plan.delta) <= listed or plan.fast_forward is not None
    if strategy != "cherry-pick" and landed:
        head = talk.heads[target]
        assert head is not None
        assert set(plan.delta) <= ancestors((head,), talk.parents_of)
        again = talk.plan(strategy, target=target, source=source)
        assert not set(again.delta) & set(plan.delta)


@settings(deadline=None)
@given(st.lists(steps, max_size=14))
def test_after_any_sequence_contexts_can_be_sent_and_cost_what_the_previews_said(program: list[Step]) -> None:
    talk = forked()
    for number, step in enumerate(program):
        take(talk, step, number)
    for branch in talk.heads:
        assert problems(talk.context(branch).messages) == []
