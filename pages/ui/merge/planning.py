"""A merge being planned in this tab: its options, the plan that they give, and what stands in its way.

The options are in the URL; the plan is remade when they change, or when a branch moves. A text that a person has
edited, or a model has written, is never thrown away by that: the page says what came first and waits (law 8).

A plan without a model costs nothing and is there at once. A model writes only when somebody presses for it: an address
that is opened sends nothing to anybody. The core keeps what a model wrote, so that a reload is not paid for again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Event

import streamlit as st

from forky_core.context.masking import Lookup
from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.contract import Model
from forky_core.merge.conflicts.conflict import Choice, Policy
from forky_core.merge.editing import BranchLines
from forky_core.merge.options import NO_CHOICES, MergeOptionFields
from forky_core.merge.picked_parts import PickedPart
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import find_strategy
from forky_core.merge.strategy import Strategy
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.merge.written.plan import SquashRejected
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import ForkyError, NotFound
from forky_core.model.payload_kinds import FUSION, SQUASH
from pages.ui.merge.asking_price import AskingPrice, count_fusion, count_notes
from pages.ui.merge.examination_job import RunningExamination


@dataclass(frozen=True, slots=True)
class MergeAddress:
    """The merge that an address asks for: which branches, and the choices for the plan of it."""

    conversation: ConversationId
    target: str
    source: str
    strategy: str = SQUASH.name
    """The name of a strategy, or of a fusion."""
    focus: str = ""
    budget: int | None = None
    """Tokens of a squash; None: the usual share."""
    writer: str | None = None
    """The model that may write it when it is asked; None: there is none. A fusion is made anew for another writer."""
    picks: tuple[MessageId, ...] = ()
    """Of a cherry-pick; of a fusion, the answers."""
    parts: tuple[PickedPart, ...] = ()
    """Of a fusion: the parts of the answers that it is put together from; () for the whole answers."""
    force: bool = False
    """A merge message where a fast-forward would do."""
    others: tuple[str, ...] = ()
    """Further branches that are merged in the same message: an octopus."""
    graft: ConversationId | None = None
    """The conversation that `source` is a branch of, where it is not this one."""
    again: bool = False
    """As if earlier merges of this source had brought nothing."""
    policy: Policy = "ask"
    """What becomes of a three-way merge's conflicts that nobody decides."""
    request: int | None = None
    """The merge request that is looked at: what its author decided is in the plan."""

    @property
    def fuses(self) -> bool:
        """Whether answers are fused, which is no merge of a branch."""
        return self.strategy == FUSION.name

    @property
    def way(self) -> Strategy | None:
        """The strategy; None of a fusion."""
        return find_strategy(self.strategy)

    @property
    def model_writes(self) -> bool:
        """Whether a model may write the payload of a merge."""
        return self.way is not None and self.way.model == "writes"


@dataclass(slots=True)
class Planning:
    """One set of merge options and what has come of it so far."""

    options: MergeAddress
    proposed: MergePlan | None = None
    """The plan before anybody edited it."""
    plan: MergePlan | None = None
    """What landing would write."""
    sentence: str = ""
    """Why there is no plan."""
    quoted: MergePlan | None = None
    """The plan without a model, where one may write it."""
    writing: Future[MergePlan] | None = None
    stop: Event = field(default_factory=Event)
    """Set, it ends the model's call."""
    rejected: SquashRejected | None = None
    failed: str = ""
    """Why the model did not answer."""
    overtaken: str = ""
    """What moved a branch since the plan was made; landing waits until it is planned again."""
    serial: int = field(default_factory=count(1).__next__)
    """Tells the browser which planning it draws."""
    heard: dict[str, int] = field(default_factory=dict)
    """The last change of each block that the browser sent and that was made, by the name of its source."""
    opened: set[MessageId] = field(default_factory=set)
    """Messages of the source from which on a person asked for more."""
    sources: dict[tuple[MessageId, ...], BranchLines] = field(default_factory=dict)
    """What the sources say by lines, by their turns: read once."""
    counted: dict[str | None, AskingPrice] = field(default_factory=dict)
    """The calls that a written merge would take, by its writer: counted once (asking_price.py)."""
    examination: RunningExamination | None = None
    """A model that reads the sides against each other, or reviews the request."""
    not_examined: str = ""
    """Why that came to nothing."""
    written: MergePlan | None = None
    """What a model wrote, where it is not what would land: it waits to be taken."""

    def asking(self, lookup: Lookup, writer: Model | None) -> AskingPrice:
        """The calls that it would take to have it written, as `writer` would read it."""
        assert self.quoted is not None
        options = self.options
        if options.writer not in self.counted:
            self.counted[options.writer] = (
                count_fusion(self.quoted)
                if options.fuses
                else count_notes(self.quoted, options.focus, options.budget, lookup, writer)
            )
        return self.counted[options.writer]

    @property
    def edited(self) -> bool:
        return self.plan is not self.proposed

    @property
    def settled(self) -> bool:
        """Whether the person has decided a conflict."""
        return isinstance(self.plan, ThreeWayPlan) and any(one.choice for one in self.plan.conflicts)

    @property
    def by_model(self) -> bool:
        """Whether what would land was written by a model."""
        if self.plan is None:
            return False
        return any(one.block is not None and one.block.made_by for one in self.plan.sides or (self.plan,))

    def take(self, plan: MergePlan) -> None:
        """Propose this plan, with what the person has settled."""
        self.written = self.proposed if self.by_model and plan is self.quoted else None
        self.proposed = self.plan = self._settled_too(plan)
        self.rejected, self.failed = None, ""

    def _settled_too(self, plan: MergePlan) -> MergePlan:
        if not isinstance(self.plan, ThreeWayPlan) or not isinstance(plan, ThreeWayPlan):
            return plan
        there = {one.hash for one in plan.conflicts}
        choices = {one.hash: one.choice for one in self.plan.conflicts if one.choice and one.hash in there}
        return plan.resolved(choices) if choices else plan

    def tell(self, examination: RunningExamination | None) -> None:
        """Note that a model reads the sides, or that nobody waits for it any more."""
        self.examination, self.not_examined = examination, ""

    def put(self, side: MergePlan) -> None:
        """Take a plan whose block was changed, which may be one side of an octopus."""
        assert self.plan is not None
        sides = self.plan.sides
        if sides:
            side = self.plan.of_sides([side if one.source_name == side.source_name else one for one in sides])
        # Taking the last change back leaves nothing that could be overtaken.
        self.plan = (
            self.proposed if self.proposed is not None and side.payload == self.proposed.payload else side
        )

    def source_of(self, side: MergePlan, lookup: Lookup) -> BranchLines:
        """What the source of a plan says."""
        if side.turns not in self.sources:
            self.sources[side.turns] = BranchLines.of(side, lookup)
        return self.sources[side.turns]

    def choose(self, conflict: str, choice: Choice | None) -> None:
        """Settle a conflict of a three-way merge, or (None) open it again."""
        assert isinstance(self.plan, ThreeWayPlan)
        self.proposed = self.plan = self.plan.resolved({conflict: choice})

    def settle(self) -> None:
        """Take in what the model wrote, once it is there."""
        writing, self.writing = self.writing, None
        assert writing is not None
        try:
            made = writing.result()
            if self.plan is not None and (self.edited or self.settled):
                self.written = made
            else:
                self.take(made)
        except SquashRejected as error:
            if self.plan is not None and not self.edited:
                self.take(error.plan)
            self.rejected = error
        except ForkyError as error:
            self.failed = str(error)


def planning_for(
    planning: Planning | None, forky: Forky, chat: Conversation, options: MergeAddress
) -> Planning:
    """The planning of these options: the one at hand where it still holds, else a new one. `chat` is on the target."""
    if planning is None or _plans(planning.options) != _plans(options):
        return plan_anew(forky, chat, options)
    planning.options = options
    if planning.examination is not None and planning.examination.future.done():
        return _examined(planning, planning.examination, forky, chat)
    made = planning.plan or planning.quoted
    if made is None or planning.overtaken or _as_it_was(chat, made):
        return planning
    if planning.edited or planning.settled or planning.writing is not None or planning.by_model:
        planning.overtaken = "A branch has moved since this preview was made."
        return planning
    return plan_anew(forky, chat, options)


def _examined(
    planning: Planning, examination: RunningExamination, forky: Forky, chat: Conversation
) -> Planning:
    """The planning with what a model has found, and with what the person chose and wrote."""
    planning.examination, planning.not_examined = None, examination.failure()
    if planning.not_examined or planning.overtaken or not examination.replans:
        return planning
    fresh = plan_anew(forky, chat, planning.options)
    if fresh.plan is not None and (planning.edited or planning.settled or planning.by_model):
        fresh.take(go_on(planning, chat).plan or fresh.plan)
    return fresh


def _plans(options: MergeAddress) -> MergeAddress:
    """The options as far as what is shown at first depends on them. A fusion waits for its writer."""
    return replace(options, writer=options.writer if options.fuses else None)


def offered_model(forky: Forky, name: str) -> Model | None:
    """The model of this name; None if nobody offers it."""
    try:
        return forky.models.model(name)
    except ForkyError:
        return None


def lookup_of(forky: Forky, chat: Conversation, plan: MergePlan) -> Callable[[MessageId], Message]:
    """A function that finds messages of this conversation, and of the grafted one."""
    if plan.graft is None:
        return chat.message
    other = forky.conversation(plan.graft.conversation, plan.graft.branch)

    def find(id: MessageId) -> Message:
        try:
            return other.message(id)
        except NotFound:
            return chat.message(id)

    return find


def _as_it_was(chat: Conversation, plan: MergePlan) -> bool:
    branches = chat.view.branches
    return all(name in branches and branches[name].head == head for name, head in plan.expected_heads.items())


def plan_anew(forky: Forky, chat: Conversation, options: MergeAddress) -> Planning:
    """A plan without a model; one that a model shall write is only begun when the person says so."""
    made = Planning(options)
    try:
        plan = _plan(forky, chat, options, None, made.stop)
    except ForkyError as error:
        made.sentence = str(error)
        return made
    by_model = options.fuses or options.model_writes
    if options.writer is not None and by_model and plan.drafts:
        made.quoted = plan
    if made.quoted is None or not options.fuses:
        made.take(plan)
    _take_its_words(made, chat, plan)
    return made


def _take_its_words(made: Planning, chat: Conversation, plan: MergePlan) -> None:
    """Of a request whose author changed the words: they are the edit, which may be taken back."""
    if made.options.request is None:
        return
    worded = chat.requests.with_edits(made.options.request, plan)
    if worded is not plan:
        made.take(plan)
        made.plan = worded


def planned_again(
    planning: Planning, forky: Forky, chat: Conversation, say: Callable[[str], None]
) -> Planning:
    """Return what `go_on` plans; where that cannot be, `say` why and return a plan of the same merge from the start."""
    try:
        return go_on(planning, chat)
    except ForkyError as error:
        say(str(error))
        return plan_anew(forky, chat, planning.options)


def go_on(planning: Planning, chat: Conversation) -> Planning:
    """After a race: the same merge on the branches as they are now, with what the person chose and wrote.

    Raises:
        ForkyError: it cannot be planned any more.
    """
    made = planning.plan or planning.quoted
    assert made is not None
    fresh = Planning(planning.options)
    if not planning.options.fuses:
        fresh.take(chat.merges.replan(made))
        return fresh
    again, block = chat.merges.plan_fuse(planning.options.picks, parts=planning.options.parts), made.block
    assert block is not None
    assert again.block is not None
    # What is fused does not depend on where it lands: the words stay, whoever wrote them.
    fresh.take(again.with_block(replace(again.block, text=block.text, made_by=block.made_by)))
    return fresh


def begin_writing(planning: Planning, forky: Forky, chat: Conversation) -> None:
    """Ask the model, in the background: it goes on whatever the person clicks meanwhile."""
    planning.rejected, planning.failed, planning.written, planning.stop = None, "", None, Event()
    planning.writing = _writers().submit(
        _plan, forky, chat, planning.options, planning.options.writer, planning.stop
    )


def _plan(
    forky: Forky, chat: Conversation, options: MergeAddress, model: str | None, stop: Event
) -> MergePlan:
    if options.fuses:
        return chat.merges.plan_fuse(options.picks, model=model, stop=stop, parts=options.parts)
    chosen = MergeOptionFields(
        strategy=options.strategy,
        picks=options.picks,
        focus=options.focus,
        budget=options.budget,
        model=model,
        looked_at=True,
        force=options.force or options.graft is not None,
        again=options.again,
        policy=options.policy,
    )
    if options.request is not None:
        # What the page shows of a request is in the URL: choices of conflicts are its author's own.
        takes = options.way is not None and "choices" in options.way.takes
        chosen["choices"] = chat.requests.get(options.request).options.choices if takes else NO_CHOICES
        return chat.requests.plan(options.request, own_words=False, stop=stop, **chosen)
    if options.graft is not None:
        source = forky.conversation(options.graft, options.source)
        return chat.merges.plan_graft(source, stop=stop, **chosen)
    return chat.plan_merge((options.source, *options.others), stop=stop, **chosen)


@st.cache_resource(show_spinner=False)
def _writers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="merge-writers")
