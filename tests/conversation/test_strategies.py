"""What every strategy promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import adopt
from forky_core.merge.strategies import REGISTRY, STRATEGIES, find_strategy, strategies, strategy_named
from forky_core.merge.strategy import Strategy
from forky_core.model import MessageId
from forky_core.model.errors import BadContent
from forky_core.model.payload_kinds import kind_of
from forky_core.views import captions
from forky_core.views.graph import line_of_text
from tests.builders import talk, workspace
from tests.formats.forky_file.chats import file_of, parsed
from tests.outline import OUTLINE
from tests.packages import installed

EVERY = (*STRATEGIES, OUTLINE)
FACT = "The port of the proxy is 8443"


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(OUTLINE):
        yield


@pytest.fixture
def forky() -> Workspace:
    return workspace()[0]


@pytest.fixture
def chat(forky: Workspace) -> Conversation:
    chat = talk(forky.create("Ports"), "Let us set up the proxy.", "Which one?")
    talk(chat.fork("debug"), "Where does it listen? Be exact.", f"{FACT}. It is set in proxy.toml.")
    return talk(chat, "Caddy.", "Fine.")


def picks(chat: Conversation, strategy: Strategy) -> list[MessageId]:
    """What is ticked of the branch, where that is asked for."""
    return [message.id for message in chat.checkout("debug").path()[-2:]] if strategy.takes_picks else []


def merge(chat: Conversation, strategy: Strategy) -> None:
    plan = chat.plan_merge("debug", strategy=strategy.name, picks=picks(chat, strategy))
    assert plan.lands
    chat.merge(plan)


def sent(chat: Conversation) -> str:
    return "\n".join(str(message["content"]) for message in chat.context().messages)


@pytest.mark.parametrize("strategy", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, strategy: Strategy) -> None:
        assert strategy in strategies() and strategy_named(strategy.name) is strategy
        assert kind_of(strategy.name) == strategy.payload
        for words in (
            strategy.label,
            strategy.entry,
            strategy.icon,
            strategy.caption,
            strategy.payload.landed,
        ):
            assert words.strip() == words != ""
        assert strategy.caption.endswith(".")
        assert strategy.takes_several == bool(strategy.caption_of_several)
        assert not strategy.model or "model" in strategy.takes

    def test_planning_writes_nothing_and_what_lands_is_read_and_told(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        version = chat.view.version
        chat.plan_merge("debug", strategy=strategy.name, picks=picks(chat, strategy))
        assert chat.view.version == version
        merge(chat, strategy)
        assert FACT in sent(chat)
        for message in chat.path():
            for part in message.merges:
                assert part.strategy == strategy.name
                assert strategy.payload.landed in captions.brought(part)
                assert "debug" in line_of_text(message)

    def test_a_later_squash_of_that_branch_keeps_its_lines_and_who_said_them(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        origin = chat.checkout("debug").path()[-1].id
        side = chat.fork("gather")
        merge(side, strategy)
        talk(side, "Good.", "Shall I go on?")
        plan = chat.plan_merge("gather")
        assert FACT in plan.payload
        line = next(line for line in plan.payload.split("\n") if FACT in line)
        marks = re.findall(r"\[([0-9a-f]{6,})\]", line) or re.findall(
            r"\[([0-9a-f]{6,})\]", plan.payload.partition(line)[2]
        )
        copies = {message.id for message in side.path() if origin in message.sources}
        assert any(id.removeprefix("b2:").startswith(marks[0]) for id in (origin, *copies))

    def test_what_it_brought_is_not_brought_twice(self, chat: Conversation, strategy: Strategy) -> None:
        merge(chat, strategy)
        talk(chat, "And now?", "It runs.")
        again = chat.plan_merge("debug", strategy="full")
        assert not again.lands or strategy.takes_picks

    def test_it_is_undone_in_one_step(self, chat: Conversation, strategy: Strategy) -> None:
        head = chat.branch.head
        merge(chat, strategy)
        chat.undo()
        assert chat.branch.head == head

    def test_what_it_does_not_take_is_refused_in_a_sentence(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        if "budget" not in strategy.takes:
            with pytest.raises(BadContent, match=f"A merge by {strategy.name} brings messages as they are"):
                chat.plan_merge("debug", strategy=strategy.name, budget=100)
        if not strategy.takes_picks:
            with pytest.raises(BadContent, match="takes the whole branch"):
                chat.plan_merge("debug", strategy=strategy.name, picks=[chat.checkout("debug").path()[-1].id])
        if "policy" not in strategy.takes:
            with pytest.raises(BadContent, match="compares no claims"):
                chat.plan_merge("debug", strategy=strategy.name, policy="mine")

    def test_several_branches_are_merged_at_once_or_refused(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        talk(chat.fork("logs", at=chat.path()[1].id), "And the logs?", "They go to journald. No file.")
        if not strategy.takes_several:
            with pytest.raises(BadContent, match="cannot be merged at once"):
                chat.plan_merge(["debug", "logs"], strategy=strategy.name)
            return
        chat.merge(chat.plan_merge(["debug", "logs"], strategy=strategy.name))
        assert FACT in sent(chat) and "journald" in sent(chat)

    def test_a_request_proposes_it_and_is_accepted(self, chat: Conversation, strategy: Strategy) -> None:
        made = chat.request_merge("debug", strategy=strategy.name, picks=picks(chat, strategy))
        assert made.strategy == strategy.name
        chat.merge(chat.plan_request(made.number))
        assert FACT in sent(chat)

    def test_a_branch_of_another_conversation_is_merged_by_it(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        forky, _ = workspace()
        here = talk(forky.create("Here"), "Hello.", "Hello.")
        other = talk(forky.create("There"), "Where does it listen? Be exact.", f"{FACT}. It is set.")
        ticked = [message.id for message in other.path()] if strategy.takes_picks else []
        here.merge(here.plan_graft(other, strategy=strategy.name, picks=ticked))
        assert FACT in sent(here)

    def test_a_file_that_somebody_else_opens_reads_the_same(
        self, forky: Workspace, chat: Conversation, strategy: Strategy
    ) -> None:
        merge(chat, strategy)
        other, _ = workspace()
        file = parsed(file_of(forky, chat))
        there = other.conversation(adopt(other, file).conversation, "main")
        assert sent(there) == sent(chat)

    def test_an_edit_is_kept_where_a_person_may_write_it(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        if strategy.takes_picks or strategy.payload.reading == "turns":
            return
        chat.merge(chat.plan_merge("debug", strategy=strategy.name).edited("It listens on 8443."))
        assert "It listens on 8443." in sent(chat)


def test_a_name_that_nobody_knows_is_refused_and_a_payload_of_one_is_read_as_lines(
    chat: Conversation,
) -> None:
    with pytest.raises(BadContent, match="no way to merge called “haiku”"):
        chat.plan_merge("debug", strategy="haiku")
    assert kind_of("haiku").reading == "lines"


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="outline"):
        REGISTRY.add(OUTLINE)


def test_an_installed_package_adds_one_by_an_entry_point(tmp_path: Path) -> None:
    REGISTRY.remove(OUTLINE)
    try:
        with installed(tmp_path, REGISTRY, outline="tests.outline:OUTLINE"):
            assert find_strategy("outline") is OUTLINE and kind_of("outline") == OUTLINE.payload
        assert find_strategy("outline") is None and kind_of("outline") != OUTLINE.payload
    finally:
        REGISTRY.add(OUTLINE)
