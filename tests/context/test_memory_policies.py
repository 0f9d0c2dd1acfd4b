"""What every memory policy promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.context.memory_policies import (
    POLICIES,
    REGISTRY,
    fit_memory,
    label_of,
    parse_memory,
    policies,
    policy_of,
)
from forky_core.context.memory_policy import MemoryPolicy
from forky_core.forky import Forky
from forky_core.model import Rules
from forky_core.model.errors import BadContent
from forky_core.model.memory import Memory
from tests.builders import talk, workspace
from tests.context.questions import CLUMSY, QUESTIONS
from tests.context.test_build import context
from tests.context.test_memory import sent, summarise
from tests.context.test_memory import talk as path_of
from tests.packages import installed

EVERY = (*POLICIES, QUESTIONS)
LONG = path_of(401)
"""Longer than any policy of ours sends in a window of 4,000 tokens; 8,000 tokens by themselves."""


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(QUESTIONS):
        yield


def memory_of(policy: MemoryPolicy) -> Memory:
    """As tight as it gets."""
    return fit_memory(Memory(policy.name, 10 if policy.unit else None))


@pytest.mark.parametrize("policy", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, policy: MemoryPolicy) -> None:
        assert policy in policies() and policy_of(Memory(policy.name)) is policy
        assert policy.label.strip() == policy.label != "" and policy.cache_hint.endswith(".")
        assert label_of(Memory(policy.name)) and not label_of(Memory(policy.name)).endswith(".")
        assert bool(policy.unit) == bool(policy.amount)

    def test_a_person_can_type_it(self, policy: MemoryPolicy) -> None:
        for typed in (policy.name, *policy.examples):
            memory = parse_memory(typed)
            assert memory.policy == policy.name and fit_memory(memory) == memory
            assert Memory.from_stored(memory.stored()) == memory
        if not policy.unit:
            with pytest.raises(BadContent, match=r"Type everything, .* questions"):
                parse_memory(f"{policy.name}:5")

    def test_what_it_has_no_use_for_is_left_out(self, policy: MemoryPolicy) -> None:
        fit = fit_memory(Memory(policy.name, None, 0.25, "gpt-4o"))
        assert (fit.share is not None) == (policy.share is not None)
        assert (fit.model is not None) == policy.written
        assert (fit_memory(Memory(policy.name, 5)).amount == 5) == bool(policy.unit)

    def test_the_newest_question_and_what_is_pinned_are_sent(self, policy: MemoryPolicy) -> None:
        built = context(
            LONG, Rules(pins=(LONG[3].id,)), memory=memory_of(policy), window=4_000, summarise=summarise
        )
        assert LONG[-1].text in sent(built)[-1]
        assert any(LONG[3].text in text for text in sent(built))

    def test_what_is_not_sent_is_in_the_account_with_a_reason(self, policy: MemoryPolicy) -> None:
        built = context(LONG, memory=memory_of(policy), window=4_000, summarise=summarise)
        items = [item for item in built.items if item.message in {one.id for one in LONG}]
        assert len(items) == len(LONG)
        left_out = [item for item in items if not item.included]
        assert bool(left_out) == (policy.name != Memory().policy)
        assert all(item.why.startswith("Not sent: ") and item.why.endswith(".") for item in left_out)

    def test_building_it_again_gives_the_same(self, policy: MemoryPolicy) -> None:
        built = [context(LONG, memory=memory_of(policy), window=4_000, summarise=summarise) for _ in range(2)]
        assert sent(built[0]) == sent(built[1])

    def test_setting_it_is_one_operation_that_says_it_and_can_be_undone(self, policy: MemoryPolicy) -> None:
        chat = talk(workspace()[0].create("Ports"), "Which port?", "Port 8443.")
        chat.rules.set_memory(Memory("last", 3))
        done = chat.rules.set_memory(memory_of(policy))
        assert label_of(memory_of(policy)) in done.summary and chat.rules.memory == memory_of(policy)
        chat.undo()
        assert chat.rules.memory == Memory("last", 3)

    def test_the_command_line_sets_and_shows_it(
        self, policy: MemoryPolicy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        database = str(tmp_path / "chats.duckdb")
        with Forky.open(database) as forky:
            talk(forky.create("Ports"), "Which port?", "Port 8443.")
        assert main(["--database", database, "memory", "last:3"]) == 0
        assert main(["--database", database, "memory", policy.examples[0]]) == 0
        assert main(["--database", database, "memory"]) == 0
        assert policy.cache_hint in capsys.readouterr().out


def test_a_policy_that_is_not_there_sends_everything_and_says_so() -> None:
    assert len(sent(context(LONG, memory=Memory("haiku")))) == len(LONG)
    assert label_of(Memory("haiku")) == "“haiku”, which this version does not know: everything"
    with pytest.raises(BadContent, match=r"There are: everything, last, .*questions"):
        fit_memory(Memory("haiku"))


def test_a_package_s_policy_that_fails_sends_everything_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with REGISTRY.added(CLUMSY):
        built = context(LONG, memory=Memory("clumsy"))
    assert len(sent(built)) == len(LONG)
    assert built.warnings == ("The memory policy “clumsy” failed, so that everything is sent.",)
    assert "name=clumsy" in caplog.text


def test_an_installed_package_adds_one_by_an_entry_point(tmp_path: Path) -> None:
    REGISTRY.remove(QUESTIONS)
    try:
        with installed(tmp_path, REGISTRY, questions="tests.context.questions:QUESTIONS"):
            assert policy_of(Memory("questions")) is QUESTIONS
    finally:
        REGISTRY.add(QUESTIONS)
