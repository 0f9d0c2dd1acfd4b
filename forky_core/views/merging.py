"""The view model of a merge preview: where the branches stand, what is cited, what is left out and why, the cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.branch_origins import BranchOrigin
from forky_core.conversation.visible import Visible
from forky_core.llm.contract import ModelInfo
from forky_core.merge.block import cited
from forky_core.merge.plan import MergePlan
from forky_core.merge.squash import NOTHING_LEARNED
from forky_core.model import Message, MessageId, View
from forky_core.model.errors import ForkyError
from forky_core.model.graph import ancestors, first_parent_path, parents_in
from forky_core.views.listed import listed_branches
from forky_core.views.places import branch_for
from forky_core.views.sides import left_from, model_answering

BUDGET_STEP = 20
_SMALLEST = 60
_HOME = "main"
"""The branch with which every conversation begins."""
_NO_SHORTER = "is no shorter than the branch"
"""The words of a plan's warning that condensing the branch saves nothing."""
_SETTLES = "A three-way merge settles"
"""The words of a plan's warning about conflicts."""
_LARGEST = 20_000


@dataclass(frozen=True, slots=True)
class BranchRelation:
    """How the two branches relate, in numbers of messages."""

    shared: int
    """Messages on the target's path up to where the source left it."""
    own: int
    """Messages on the target's path after that."""
    line: int
    """Messages on the source's path after it left the target's."""
    new: int
    """Those of them that the target lacks."""
    picked: int | None
    """For a cherry-pick: the messages that would be copied."""
    base: Message | None
    """The last shared message."""
    merged_before: tuple[MessageId, ...]
    """Merges of this source on the target's path, oldest first."""
    unanswered: int = 0
    """Messages that wait for an answer, if nothing else is new."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages left out for one reason."""

    why: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Price:
    """What a plan adds to each later question, in US dollars; None if the model's price is not known."""

    each: float | None
    cached: float | None
    """The price if the provider has the prefix cached."""
    full: float | None
    """The price of everything the source said."""


def branch_relation(plan: MergePlan, visible: Visible) -> BranchRelation:
    """Return how the two heads of the plan relate."""
    known = visible.messages
    ours = _line(plan.target, known)
    theirs = _line(plan.source, known)
    on_target = set(ours)
    shared = next((at for at, id in enumerate(theirs) if id not in on_target), len(theirs))
    base = known[theirs[shared - 1]] if shared else None
    place = ours.index(base.id) + 1 if base is not None else 0
    merges = tuple(
        id for id in ours[place:] if any(block.source == plan.source_name for block in known[id].merges)
    )
    picks = len(plan.turns) if plan.kind.reading == "quotation" else None
    has = ancestors(
        [plan.target] if plan.target is not None and plan.target in known else [],
        parents_in(known),
    )
    new = len(plan.delta) if picks is None else sum(id not in has for id in theirs)
    return BranchRelation(
        place, len(ours) - place, len(theirs) - shared, new, picks, base, merges, len(plan.unanswered)
    )


def _line(head: MessageId | None, known: Mapping[MessageId, Message]) -> tuple[MessageId, ...]:
    return first_parent_path(head, parents_in(known)) if head in known else ()


def default_source(view: View, visible: Visible, target: str) -> str | None:
    """Return the branch a person most likely wants to merge: one with news, then the last that left, then the
    newest.
    """
    known = visible.messages
    own = view.branch(target).head
    depth = {id: at for at, id in enumerate(_line(own, known))}
    has = ancestors((own,), parents_in(known)) if own is not None and own in known else frozenset[MessageId]()
    ranked: list[tuple[bool, int, int, str]] = []
    for branch in listed_branches(view).values():
        if branch.name == target or branch.head is None or branch.head not in known:
            continue
        left_at = left_from(branch.head, depth, visible)
        ranked.append((branch.head not in has, left_at, known[branch.head].created, branch.name))
    return max(ranked)[3] if ranked else None


def came_from(
    view: View, visible: Visible, branch: str, origin_of: Callable[[str], BranchOrigin]
) -> str | None:
    """Return the branch that this one left last, to which it is brought back: `main` before others; None if it left no
    branch. One that was made later did not lie behind it, and one that holds another model's answer is nobody's aim.
    """
    own = view.branch(branch).head
    depth = {id: at for at, id in enumerate(_line(own, visible.messages))}
    left = {
        other.name: left_from(other.head, depth, visible)
        for other in listed_branches(view, {branch}).values()
        if other.name != branch
        and other.head in visible.messages
        and own is not None
        and origin_of(other.name).number <= origin_of(branch).number
        and model_answering(other.name, view) is None
    }
    return max(
        (name for name, at in left.items() if 0 <= at < len(depth) - 1),
        key=lambda name: (left[name], name == _HOME),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class MergeDirection:
    """A branch to merge, and the one to merge it into."""

    source: str
    target: str


def default_direction(
    message: MessageId, view: View, visible: Visible, current: str, came_from: str = ""
) -> MergeDirection | None:
    """Return what to merge into what for a message: its branch into “main”.

    A message of “main” itself means that main is merged into the branch one came from, or is on. Returns None where
    nothing names another branch: that is for whoever merges to choose.
    """
    named = branch_for(message, view, visible, current)
    others = [name for name in listed_branches(view, {current}) if name != named]
    target = next((name for name in (_HOME, came_from, current) if name in others), None)
    return MergeDirection(named, target) if target is not None else None


def strange_marks(plan: MergePlan, lookup: Callable[[MessageId], Message]) -> tuple[str, ...]:
    """Return marks that look like citations and name no message: an edit has broken them. A three-way merge cites both
    sides.
    """
    marks = dict.fromkeys(re.findall(r"\[([0-9a-f]{6,32})\]", plan.payload))
    header = set(re.findall(r"\b[0-9a-f]{6,32}\b", plan.header))
    strange = [m for m in marks if m not in header and not cited(f"[{m}]", plan.citable)]
    return tuple(m for m in strange if not plan.kind.settles or not _known(m, lookup))


def _known(mark: str, lookup: Callable[[MessageId], Message]) -> bool:
    try:
        lookup(MessageId(mark))
    except ForkyError:
        return False
    return True


def left_out(plan: MergePlan, lookup: Callable[[MessageId], Message]) -> tuple[LeftOut, ...]:
    """Group the omitted messages by reason, in the order of the plan."""
    groups: dict[str, list[Message]] = {}
    for omission in plan.omitted:
        groups.setdefault(omission.why, []).append(lookup(omission.message))
    return tuple(LeftOut(why, tuple(messages)) for why, messages in groups.items())


def price(plan: MergePlan, info: ModelInfo) -> Price:
    """Compute a plan's price with the model that answers on the target."""

    def cost(tokens: int, rate: float | None) -> float | None:
        return None if rate is None else tokens * rate

    return Price(
        cost(plan.tokens, info.input_price),
        cost(plan.tokens, info.cached_input_price),
        cost(plan.tokens_full, info.input_price),
    )


def size_in_words(plan: MergePlan) -> str:
    """Return how long a plan's text is beside what was said on its branches, in sentences; "" if it is no shorter."""
    part = -(-100 * plan.tokens // plan.tokens_full) if plan.tokens < plan.tokens_full else 100
    budget = plan.options.budget if plan.options is not None else None
    over = " It is longer than you asked for." if budget and plan.tokens > budget else ""
    return (f"{part} % of the length of what was said." if part < 100 else "") + over


def takes_more_than_full(plan: MergePlan) -> bool:
    """Whether condensing the branch saves nothing."""
    return plan.kind.reading == "lines" and plan.tokens >= plan.tokens_full > 0


def other_warnings(plan: MergePlan) -> tuple[str, ...]:
    """Return the plan's warnings without those for which a page has a control of its own."""
    told = (_NO_SHORTER, NOTHING_LEARNED, *((_SETTLES,) if plan.conflicts else ()))
    return tuple(warning for warning in plan.warnings if not any(words in warning for words in told))


def budget_range(tokens_full: int, tokens: int) -> tuple[int, int, int]:
    """Return (least, most, usual) tokens for a squash's budget; the usual is what it takes without a budget."""
    usual = max(_SMALLEST, _up(tokens))
    return _SMALLEST, max(_SMALLEST * 4, usual, min(_LARGEST, _up(tokens_full))), usual


def _up(tokens: float) -> int:
    return -(-int(tokens) // BUDGET_STEP) * BUDGET_STEP


def bound_together(messages: Sequence[Message]) -> frozenset[MessageId]:
    """Return the messages with a tool call or a tool result: they move with their counterparts."""
    return frozenset(
        message.id
        for message in messages
        if any(part.type in ("tool_call", "tool_result") for part in message.parts)
    )
