"""Which branches are listed: those of an experiment's cells would flood a list or a graph, and stand in its table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from types import MappingProxyType

from forky_core.conversation.visible import Visible
from forky_core.experiments.experiments import is_judges
from forky_core.model import Branch, Message, MessageId, View
from forky_core.model.experiment import Experiment, experiment_in, experiments_in, is_cell

_NO_MESSAGES: Mapping[MessageId, Message] = MappingProxyType({})


def without_cells(
    view: View, kept: Collection[str | None] = (), messages: Mapping[MessageId, Message] = _NO_MESSAGES
) -> View:
    """The view without the branches of experiments, but for those in `kept`; the same view if there are none.

    With the visible `messages`, also without the earlier answers of cells that were asked again.
    """
    experiments = frozenset(experiments_in(view))
    if not experiments:
        return view
    cells = {name for name in view.branches if is_cell(name, experiments)}
    left_out = {f"{kind}/{name}" for kind in ("heads", "rules") for name in cells.difference(kept)}
    questions = _questions(view, cells.difference(kept), messages) - _questions(
        view, cells.intersection(kept), messages
    )
    left_out |= {f"kept/{id}" for id in view.kept if id in messages and messages[id].parent in questions}
    entries = {key: value for key, value in view.entries.items() if key not in left_out}
    return View(MappingProxyType(entries), view.version)


def _questions(
    view: View, cells: Collection[str], messages: Mapping[MessageId, Message]
) -> set[MessageId | None]:
    """What is asked on the branches of these cells."""
    ends = [view.branches[name].head for name in cells]
    heads = [messages[head] for head in ends if head is not None and head in messages]
    return {head.id if head.role == "user" else head.parent for head in heads} - {None}


def continued_cells(view: View, messages: Mapping[MessageId, Message]) -> frozenset[str]:
    """The branches of experiments on which somebody went on, and those below their names that are somebody's own."""
    found: set[str] = set()
    for name in experiments_in(view):
        with suppress(KeyError, TypeError, ValueError):  # One that cannot be read has no cells to tell apart.
            experiment = experiment_in(view, name)
            found |= {
                branch
                for branch, at in ((one.name, one.head) for one in view.branches.values())
                if branch.startswith(f"{name}/") and _is_continued(experiment, branch, at, messages)
            }
    return frozenset(found)


def asked_cells(view: View) -> Mapping[str, tuple[Branch, ...]]:
    """The branches of each experiment's cells by its name, without those on which judges answer."""
    return {
        name: tuple(
            branch
            for branch in view.branches.values()
            if branch.name.startswith(f"{name}/") and not is_judges(branch.name.split("/")[1:])
        )
        for name in experiments_in(view)
    }


def _is_continued(
    experiment: Experiment, branch: str, head: MessageId | None, messages: Mapping[MessageId, Message]
) -> bool:
    """Whether more messages than a cell or a judge asks and answers lead to the head."""
    parts = branch.removeprefix(f"{experiment.name}/").split("/")
    longest, at = 2, None
    if not is_judges(parts):
        row = experiment.row(int(parts[0])) if parts[0].isdecimal() and len(parts) in {2, 3} else None
        column = experiment.column(parts[1]) if row is not None else None
        if row is None or column is None or (len(parts) == 3 and not parts[2].isdecimal()):
            return True
        longest, at = len(column.turns) + 1, row.at
    for _ in range(longest):
        if head is None or head == at or head not in messages:
            return False
        head = messages[head].parent
    return head is not None and head != at


def listed_branches(view: View, kept: Collection[str | None] = ()) -> Mapping[str, Branch]:
    """The branches without those of experiments, but for those in `kept`."""
    experiments = frozenset(experiments_in(view))
    if not experiments:
        return view.branches
    return {
        name: branch
        for name, branch in view.branches.items()
        if name in kept or not is_cell(name, experiments)
    }


def visible_without_cells(visible: Visible, view: View, kept: Collection[str | None] = ()) -> Visible:
    """The visible messages without those that only branches of experiments lead to; the same value if there are none.

    The question of a row is asked below a message of the conversation, where it would be counted as another version of
    what a person said.
    """
    listed = without_cells(view, kept, visible.messages)
    return visible if listed is view else visible.narrowed(listed)
