"""What every strategy promises, asked of each that there is and of two that the tests make up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import adopt
from forky_core.merge.block import PayloadLine
from forky_core.merge.branch_merge import plan_branch_merge, plan_of_lines
from forky_core.merge.incoming_changes import IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import REGISTRY, STRATEGIES, find_strategy, strategies, strategy_named
from forky_core.merge.strategy import Strategy
from forky_core.merge.wording import squash_header
from forky_core.model import MessageId
from forky_core.model.errors import BadContent
from forky_core.model.payload_kinds import PayloadKind, kind_of
from forky_core.views import captions
from forky_core.views.graph import line_of_text
from tests.builders import land, sent, talk, workspace
from tests.first_sentences import FIRST_SENTENCES
from tests.formats.forky_file.chats import file_of, parsed
from tests.packages import installed


def topics_of(inputs: MergeInputs, found: IncomingChanges, _options: MergeOptions) -> MergePlan:
    header = squash_header(inputs.source_name, found, inputs.short_ids())
    lines = [PayloadLine(turn.text, (turn.id,), "Topics") for turn in found.turns if turn.role == "user"]
    return plan_of_lines("topics", inputs, found, header, lines)


TOPICS = replace(
    FIRST_SENTENCES,
    payload=PayloadKind("topics", "listed", headings=("Topics",)),
    plan=lambda inputs, options: plan_branch_merge(
        inputs, options, lambda here, found: topics_of(here, found, options)
    ),
    plan_side=topics_of,
)
"""A strategy that brings what was asked, and nothing of the answers."""
EVERY = (*STRATEGIES, FIRST_SENTENCES, TOPICS)
FACT = "The port of the proxy is 8443"
QUESTION = "Where does it listen?"


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(FIRST_SENTENCES), REGISTRY.added(TOPICS):
        yield


@pytest.fixture
def chat(forky: Workspace) -> Conversation:
    chat = talk(forky.create("Ports"), "Let us set up the proxy.", "Which one?")
    talk(chat.fork("debug"), f"{QUESTION} Be exact.", f"{FACT}. It is set in proxy.toml.")
    return talk(chat, "Caddy.", "Fine.")


def picks(chat: Conversation, strategy: Strategy) -> list[MessageId]:
    """What is ticked of the branch, where that is asked for."""
    return [message.id for message in chat.checkout("debug").path()[-2:]] if strategy.takes_picks else []


def merge(chat: Conversation, strategy: Strategy) -> None:
    plan = chat.plan_merge("debug", strategy=strategy.name, picks=picks(chat, strategy))
    assert plan.lands
    land(chat, plan)


def brought(text: str) -> str:
    """What a text has of the branch: its fact or, from a strategy that names only topics, its question."""
    found = next((words for words in (FACT, QUESTION) if words in text), "")
    assert found, text
    return found


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
        assert brought(sent(chat))
        for message in chat.path():
            for part in message.merges:
                assert part.strategy == strategy.name
                assert strategy.payload.landed in captions.payload_summary(part)
                assert "debug" in line_of_text(message)

    def test_a_later_squash_of_that_branch_keeps_its_lines_and_who_said_them(
        self, chat: Conversation, strategy: Strategy
    ) -> None:
        side = chat.fork("gather")
        merge(side, strategy)
        words = brought(sent(side))
        origin = next(message.id for message in chat.checkout("debug").path() if words in message.text)
        talk(side, "Good.", "Shall I go on?")
        plan = chat.plan_merge("gather")
        line = next(line for line in plan.payload.split("\n") if words in line)
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
        head, count = chat.branch.head, len(chat.history.operations)
        merge(chat, strategy)
        assert len(chat.history.operations) == count + 1
        chat.undo()
        assert chat.branch.head == head

    def test_what_it_does_not_take_is_refused(self, chat: Conversation, strategy: Strategy) -> None:
        if "budget" not in strategy.takes:
            with pytest.raises(BadContent, match=f"A merge by {strategy.name} brings messages as they are"):
                chat.plan_merge("debug", strategy=strategy.name, budget=100)
        if not strategy.takes_picks:
            with pytest.raises(BadContent, match="takes the whole branch"):
                chat.plan_merge("debug", strategy=strategy.name, picks=[chat.checkout("debug").path()[-1].id])
        if "policy" not in strategy.takes:
            with pytest.raises(BadContent, match="compares no claims"):
                chat.plan_merge("debug", strategy=strategy.name, policy="mine")

    def test_several_branches_are_merged_or_refused(self, chat: Conversation, strategy: Strategy) -> None:
        talk(chat.fork("logs", at=chat.path()[1].id), "And the logs?", "They go to journald. No file.")
        if not strategy.takes_several:
            with pytest.raises(BadContent, match="cannot be merged at once"):
                chat.plan_merge(["debug", "logs"], strategy=strategy.name)
            return
        chat.merge(chat.plan_merge(["debug", "logs"], strategy=strategy.name))
        assert brought(sent(chat))
        assert "journald" in sent(chat) or "And the logs?" in sent(chat)

    def test_a_request_proposes_it_and_is_accepted(self, chat: Conversation, strategy: Strategy) -> None:
        made = chat.requests.open("debug", strategy=strategy.name, picks=picks(chat, strategy))
        assert made.strategy == strategy.name
        chat.merge(chat.requests.plan(made.number))
        assert brought(sent(chat))

    def test_another_conversation_is_merged_by_it(self, chat: Conversation, strategy: Strategy) -> None:
        forky, _ = workspace()
        here = talk(forky.create("Here"), "Hello.", "Hello.")
        other = talk(forky.create("There"), f"{QUESTION} Be exact.", f"{FACT}. It is set.")
        ticked = [message.id for message in other.path()] if strategy.takes_picks else []
        here.merge(here.merges.plan_graft(other, strategy=strategy.name, picks=ticked))
        assert brought(sent(here))

    def test_a_file_that_somebody_else_opens_reads_the_same(
        self, forky: Workspace, chat: Conversation, strategy: Strategy
    ) -> None:
        merge(chat, strategy)
        other, _ = workspace()
        file = parsed(file_of(forky, chat))
        there = other.conversation(adopt(other, file).conversation, "main")
        assert sent(there) == sent(chat)

    def test_an_edit_is_kept_where_one_may_write(self, chat: Conversation, strategy: Strategy) -> None:
        if strategy.takes_picks or strategy.payload.reading == "turns":
            return
        chat.merge(chat.plan_merge("debug", strategy=strategy.name).edited("It listens on 8443."))
        assert "It listens on 8443." in sent(chat) and QUESTION not in sent(chat)


def test_an_unknown_name_is_refused_and_a_payload_of_one_is_read_as_lines(chat: Conversation) -> None:
    with pytest.raises(BadContent, match="no way to merge called “haiku”"):
        chat.plan_merge("debug", strategy="haiku")
    assert kind_of("haiku").reading == "lines"


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="first-sentences"):
        REGISTRY.add(FIRST_SENTENCES)


def test_an_installed_package_adds_one_by_an_entry_point(tmp_path: Path) -> None:
    REGISTRY.remove(FIRST_SENTENCES)
    try:
        with installed(tmp_path, REGISTRY, first="tests.first_sentences:FIRST_SENTENCES"):
            assert find_strategy("first-sentences") is FIRST_SENTENCES
            assert kind_of("first-sentences") == FIRST_SENTENCES.payload
        assert find_strategy("first-sentences") is None
        assert kind_of("first-sentences") != FIRST_SENTENCES.payload
    finally:
        REGISTRY.add(FIRST_SENTENCES)
