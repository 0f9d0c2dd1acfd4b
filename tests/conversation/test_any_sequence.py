"""Laws that hold after any sequence of verbs: contexts can be sent, previews are kept, undo gives everything back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.options import MergeOptionFields
from forky_core.merge.plan import MergePlan
from forky_core.model import MessageId, Role
from forky_core.model.errors import ForkyError
from forky_core.model.memory import Memory
from forky_core.model.parts import Json, ToolCallPart, ToolResultPart
from tests.builders import talk, workspace
from tests.context.validity import problems
from tests.conversation.adding import add
from tests.examples import examples
from tests.hangs import HANG

Seen = tuple[Mapping[str, Json], Mapping[str, object]]
"""The entries of a view, and what each branch would send."""


class World:
    """A conversation, another one to graft from, and what undo and redo should give back."""

    def __init__(self) -> None:
        self.forky, _ = workspace()
        self.chat = talk(self.forky.create("Ports"), "Which port?", "Port 8080.")
        talk(self.chat.fork("debug"), "Why 8080?", "`PORT=8080` in config.py line 12.")
        self.other = talk(self.forky.create("Flags"), "Which flags?", "`--fast` and `--safe`.")
        self.before: list[Seen] = []
        self.undone: list[Seen] = []
        self.now = self.seen()

    def seen(self) -> Seen:
        sent = {name: self.chat.checkout(name).context().messages for name in self.chat.branches}
        return self.chat.view.entries, sent

    def branch(self, choice: int) -> Conversation:
        names = sorted(self.chat.branches)
        return self.chat.checkout(names[choice % len(names)])

    def do(self, step: Step, number: int) -> None:
        verb, one, two = step
        count = len(self.chat.history.operations)
        try:
            VERBS[verb](self, one, two, number)
        except ForkyError:
            assert len(self.chat.history.operations) == count, f"{verb} was refused and yet wrote"
            return
        if len(self.chat.history.operations) > count:
            self.before.append(self.now)
            self.undone.clear()
            self.now = self.seen()

    def undo(self) -> None:
        self.chat.undo()
        self.undone.append(self.now)
        self.now = self.before.pop()
        assert self.seen() == self.now

    def redo(self) -> None:
        self.chat.redo()
        self.before.append(self.now)
        self.now = self.undone.pop()
        assert self.seen() == self.now


def ask(world: World, one: int, two: int, number: int) -> None:
    world.branch(one).ask(f"Question {number}?")


def speak(world: World, one: int, two: int, number: int) -> None:
    role: Role = "assistant" if two % 2 else "user"
    world.branch(one).say(f"Said {number}: set `VALUE_{number}=1`. The port is {8000 + two}.", role=role)


def call(world: World, one: int, two: int, number: int) -> None:
    add(world.branch(one), "assistant", ToolCallPart("look", "{}", "same"), ToolCallPart("look", "{}", None))


def result(world: World, one: int, two: int, number: int) -> None:
    add(world.branch(one), "tool", ToolResultPart("look", f"seen {number}", "same" if two % 2 else None))


def fork(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    chat.fork(f"b{number}", at=pick(chat, two))


def merge(strategy: str, *, again: bool = False) -> Verb:
    def by(world: World, one: int, two: int, number: int) -> None:
        target, source = world.branch(one), world.branch(two)
        picks = [message.id for message in source.path()[two % 3 :][:3]] if strategy == "cherry-pick" else []
        land(target, target.plan_merge(source, strategy=strategy, picks=picks, again=again))

    return by


def octopus(world: World, one: int, two: int, number: int) -> None:
    target = world.branch(one)
    others = [name for name in sorted(world.chat.branches) if name != target.branch_name]
    land(target, target.plan_merge(others[: 2 + two % 2], strategy="squash" if two % 2 else "full"))


def graft(world: World, one: int, two: int, number: int) -> None:
    if two % 2:
        world.other.say(f"More {number}: `FLAG_{number}`.", role="assistant")
    target = world.branch(one)
    land(target, target.merges.plan_graft(world.other, strategy="full" if two % 3 else "squash"))


def rebase(world: World, one: int, two: int, number: int) -> None:
    chat, onto = world.branch(one), world.branch(two)
    plan = chat.merges.plan_rebase(onto)
    before = chat.context().tokens
    chat.merges.rebase(plan)
    added = chat.context().tokens - before
    assert added == plan.tokens or chat.branch.rules.memory is not None


def replay(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    assert chat.merges.replay(chat.merges.plan_rebase(world.branch(two)), model="scripted/two").wait(HANG)


def revert(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    plan = chat.plan_revert(pick(chat, two))
    before = chat.context().tokens
    chat.revert(plan)
    added = chat.context().tokens - before
    assert added == plan.tokens or chat.branch.rules.memory is not None


def regenerate(world: World, one: int, two: int, number: int) -> None:
    world.branch(one).regenerate(model="scripted/two" if two % 2 else None)[1].result()


def fuse(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    plan = chat.merges.plan_fuse(seed=two)
    if plan.forks:
        chat.merge(plan)
    else:
        land(chat, plan)


def resolve(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    land(
        chat,
        chat.merges.plan_resolution(
            {one.about: Choice("text", f"It is {two}.") for one in chat.merges.unresolved}
        ),
    )
    assert not chat.merges.unresolved


def request(world: World, one: int, two: int, number: int) -> None:
    target, source = world.branch(one), world.branch(two)
    open_ones = [known for known in target.requests.all if known.state == "open"]
    if not open_ones:
        target.requests.open(source, note=f"Note {number}")
    elif two % 3 == 0:
        target.requests.decline(open_ones[0].number)
    elif two % 3 == 1:
        target.requests.comment(open_ones[0].number, f"Comment {number}")
    else:
        into, known = target.checkout(open_ones[0].into), open_ones[0]
        in_another_way: MergeOptionFields = {"strategy": "three-way", "policy": "theirs"} if two % 2 else {}
        land(into, into.requests.accepting(known.number, into.requests.plan(known.number, **in_another_way)))


def rules(world: World, one: int, two: int, number: int) -> None:
    world.branch(one).rules.set(system=f"System {two}" if two % 2 else "")


def propose(world: World, one: int, two: int, number: int) -> None:
    """What a plan shows, a graft too."""
    target = world.branch(one)
    plan = (
        target.merges.plan_graft(world.other)
        if two % 3 == 0
        else target.plan_merge(world.branch(two), focus="port")
    )
    target.requests.open_plan(plan.edited(f"Words {number}.") if two % 2 and plan.block else plan)


def steer(world: World, one: int, two: int, number: int) -> None:
    chat = world.branch(one)
    act = (chat.rules.pin, chat.rules.unpin, chat.rules.exclude, chat.rules.include)[two % 4]
    act(pick(chat, number))


def remember(world: World, one: int, two: int, number: int) -> None:
    world.branch(one).rules.set_memory(Memory("last", amount=1 + two % 5) if two % 3 else None)


def rearrange(world: World, one: int, two: int, number: int) -> None:
    """What moves, names and hides branches and messages."""
    chat = world.branch(one)
    match two % 6:
        case 0:
            chat.branches.rename(f"renamed{number}")
        case 1:
            chat.branches.delete()
        case 2:
            chat.branches.promote(pick(chat, number))
        case 3:
            chat.tags.add(f"t{number}", at=pick(chat, number))
        case 4:
            chat.stashes.create(draft=f"Draft {number}", note="later")
        case 5:
            chat.branches.prune(chat.branches.plan_prune(pick(chat, number)))


def pick(chat: Conversation, choice: int) -> MessageId:
    path = chat.path()
    return path[choice % len(path)].id if path else MessageId("")


def land(target: Conversation, plan: MergePlan) -> None:
    before = target.context().tokens
    target.merge(plan)
    assert target.context().tokens <= before + plan.tokens


Verb = Callable[[World, int, int, int], None]
Step = tuple[str, int, int]
VERBS: Mapping[str, Verb] = {
    "ask": ask,
    "speak": speak,
    "call": call,
    "result": result,
    "fork": fork,
    "full": merge("full"),
    "squash": merge("squash"),
    "cherry-pick": merge("cherry-pick"),
    "three-way": merge("three-way"),
    "again": merge("full", again=True),
    "octopus": octopus,
    "graft": graft,
    "rebase": rebase,
    "replay": replay,
    "revert": revert,
    "rules": rules,
    "regenerate": regenerate,
    "fuse": fuse,
    "resolve": resolve,
    "request": request,
    "propose": propose,
    "steer": steer,
    "remember": remember,
    "rearrange": rearrange,
}
numbers = st.integers(0, 30)
steps: st.SearchStrategy[Step] = st.tuples(st.sampled_from([*VERBS, "undo", "redo"]), numbers, numbers)


@settings(max_examples=examples(60))
@given(st.lists(steps, max_size=12))
def test_after_any_sequence_contexts_can_be_sent_and_undoing_it_restores_everything(
    program: Sequence[Step],
) -> None:
    world = World()
    start = world.now
    for number, step in enumerate(program):
        if step[0] == "undo":
            if world.before:
                world.undo()
        elif step[0] == "redo":
            if world.undone:
                world.redo()
        else:
            world.do(step, number)
    for branch in world.chat.branches:
        for message in world.chat.checkout(branch).path():
            assert problems(world.chat.checkout(branch).context(message.id).messages) == []
    while world.before:
        world.undo()
    assert world.seen() == start
    while world.undone:
        world.redo()
    assert world.forky.verify().clean


PREVIEWS: Mapping[str, Callable[[World, Conversation], MergePlan]] = {
    "full": lambda _, chat: chat.plan_merge("debug", strategy="full", force=True),
    "squash": lambda _, chat: chat.plan_merge("debug", budget=60),
    "edited": lambda _, chat: chat.plan_merge("debug").edited("Port 8080, for a reason."),
    "three-way": lambda _, chat: chat.plan_merge("idea", strategy="three-way"),
    "cherry-pick": lambda world, chat: chat.plan_merge(
        "debug", strategy="cherry-pick", picks=[world.chat.checkout("debug").path()[-1].id]
    ),
    "octopus": lambda _, chat: chat.plan_merge(["debug", "idea"], strategy="full"),
    "octopus squashed": lambda _, chat: chat.plan_merge(["debug", "idea"]),
    "graft": lambda world, chat: chat.merges.plan_graft(world.other),
    "graft in full": lambda world, chat: chat.merges.plan_graft(world.other, strategy="full"),
}


@settings(max_examples=examples(40))
@given(st.sampled_from(sorted(PREVIEWS)), st.lists(numbers, min_size=1, max_size=6))
def test_no_later_context_is_longer_than_the_preview_of_a_merge_said(kind: str, later: Sequence[int]) -> None:
    world = World()
    chat, debug = world.chat.checkout("main"), world.chat.checkout("debug")
    talk(chat.fork("idea", at=chat.path()[0].id), "Port 9090.", "Why?")
    alone = chat.fork("alone")
    plan = PREVIEWS[kind](world, chat)
    chat.merge(plan)
    for number in later:
        talk(debug, f"The branch goes on: `LATE_{number}`.")
        talk(world.other, f"So does the other: `LATE_{number}`.")
        talk(chat, f"And now {number}?")
        talk(alone, f"And now {number}?")
        assert chat.context().tokens <= alone.context().tokens + plan.tokens
        assert "LATE_" not in str(chat.context().messages)
