"""Merging as a plan that is read first and landed as one operation (law 8).

Planning reads; landing writes what the plan says and nothing else, on the heads that the plan saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from forky_core.errors import ModelError, NothingToDo
from forky_core.llm.contract import Done, Failed, Model, ProviderMessage, Request, TextDelta
from forky_core.merge import octopus
from forky_core.merge.model_squash import squash_with_model
from forky_core.merge.place import Place
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge
from forky_core.merge.wish import Wish
from forky_core.model import Branch, GenerationStatus, MessageId, Operation, seal
from forky_core.repo.asking import refuse_if_moved
from forky_core.repo.branching import refuse_while_replying
from forky_core.repo.identity import now
from forky_core.repo.reader import reader_of
from forky_core.repo.repo import Repo


def plan(repo: Repo, target: str, source: str, wish: Wish) -> MergePlan:
    """What merging `source` into `target` would write.

    Raises:
        BadContent: there is no such strategy.
        NothingToDo: the source is empty, or the target itself.
        SquashRejected: the model's summary failed a check.
        ModelError: the model did not answer.
    """
    into, of = repo.branch(target), repo.branch(source)
    if of.head is None:
        raise NothingToDo(f"“{source}” is empty: there is nothing to merge.")
    if source == target:
        raise NothingToDo(f"“{source}” cannot be merged into itself.", "Choose another branch.")
    place = place_of(repo, into, of)
    planned = plan_merge(place, wish)
    return _written(repo, planned, wish)


def _written(repo: Repo, planned: MergePlan, wish: Wish) -> MergePlan:
    """The plan with its block written by the model that is wished for, where one is."""
    if wish.model is None or wish.strategy != "squash" or not planned.drafts:
        return planned
    writer, name = repo.models.model(wish.model), wish.model
    return squash_with_model(
        planned,
        lookup=repo.messages.__getitem__,
        ask=lambda prompt: _ask_once(writer, name, prompt),
        model=name,
        focus=wish.focus,
        budget_tokens=wish.budget,
    )


def plan_octopus(repo: Repo, target: str, sources: Sequence[str], wish: Wish) -> MergePlan:
    """What merging several branches at once would write; errors as `plan`."""
    into = repo.branch(target)
    if target in sources:
        raise NothingToDo(f"“{target}” cannot be merged into itself.", "Choose other branches.")
    branches = [repo.branch(name) for name in dict.fromkeys(sources)]
    full_ones = [branch for branch in branches if branch.head is not None]
    if not full_ones:
        raise NothingToDo("These branches are empty: there is nothing to merge.")
    if len(full_ones) == 1:
        return plan(repo, target, full_ones[0].name, wish)
    planned = octopus.plan_octopus([place_of(repo, into, branch) for branch in full_ones], wish)
    if wish.model is None or not planned.sides:
        return planned
    return planned.of_sides([_written(repo, side, replace(wish, budget=None)) for side in planned.sides])


def place_of(repo: Repo, into: Branch, of: Branch) -> Place:
    """Where a plan is made. The source must not be empty."""
    assert of.head is not None
    messages = repo.messages
    reader = reader_of(repo, into.rules)
    return Place(
        target=into.head,
        source=of.head,
        target_name=into.name,
        source_name=of.name,
        lookup=messages.__getitem__,
        parents_of=lambda id: messages[id].parents,
        count_tokens=reader.count_tokens,
        statuses=statuses(repo),
        sight=reader.sight,
        target_system=into.rules.system,
        source_system=of.rules.system,
        exclusions=of.rules.exclusions,
    )


def land(repo: Repo, planned: MergePlan) -> Operation:
    """Write a plan.

    Raises:
        Outdated: one of the two branches has moved since the plan was made.
        NothingToDo: it brings nothing.
    """
    if not planned.lands:
        raise NothingToDo(f"“{planned.target_name}” has all of “{planned.source_name}” already.")
    target = planned.target_name
    source = "”, “".join(side.source_name for side in planned.sides) or planned.source_name
    refuse_while_replying(repo, target)
    tx = repo.live()
    for name, head in planned.expected_heads.items():
        refuse_if_moved(repo, tx, name, head)
    if planned.fast_forward is not None:
        tx.move(target, planned.fast_forward)
        return tx.publish("merge", f"Fast-forwarded “{target}” to “{source}”")
    for one in planned.drafts:
        tx.messages.append(seal(one.draft, one.parents, created=now()))
    tx.move(target, tx.messages[-1].id)
    what = "Picked from" if planned.strategy == "cherry-pick" else "Merged"
    return tx.publish("merge", f"{what} “{source}” into “{target}” ({planned.strategy})")


def statuses(repo: Repo) -> dict[MessageId, GenerationStatus]:
    """How the newest call that produced each message ended."""
    return {call.message: call.status for call in repo.generations() if call.message is not None}


def _ask_once(model: Model, name: str, prompt: tuple[ProviderMessage, ...]) -> str:
    """The whole answer of one call outside the conversation.

    Raises:
        ModelError: there is none.
    """
    said: list[str] = []
    for event in model.stream(Request(name, prompt), Event()):
        match event:
            case TextDelta(text):
                said.append(text)
            case Failed(failure, _):
                raise ModelError(failure)
            case Done():
                pass
    return "".join(said)
