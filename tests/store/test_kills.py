from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path

import pytest

from forky_core.model import ConversationId, MessageId
from forky_core.store.duckdb.store import DuckDBStore
from tests.killing import victim
from tests.store.acknowledging_writer import main

ROUNDS = int(os.environ.get("FORKY_KILLS", "10"))


def acknowledged_until_killed(
    path: Path, name: str, beside: str, lines: int
) -> dict[ConversationId, list[MessageId]]:
    """Start a writer, kill it while it works, and collect what it had been promised."""
    promised: dict[ConversationId, list[MessageId]] = defaultdict(list)
    with victim(main, str(path), name, beside) as (writer, said):
        for number, line in enumerate(said):
            if line.endswith("\n"):
                conversation, message = line.split()
                promised[ConversationId(conversation)].append(MessageId(message))
            if number == lines:
                writer.kill()
    return promised


@pytest.mark.long
def test_no_acknowledged_commit_is_lost_when_the_process_is_killed(path: Path) -> None:
    promised: dict[ConversationId, list[MessageId]] = {}
    for number in range(ROUNDS):
        beside = "rest" if number % 2 else ""
        promised |= acknowledged_until_killed(path, f"round{number}", beside, random.randint(0, 400))
        with DuckDBStore.open(path) as store:
            for conversation, messages in promised.items():
                stored = store.path(conversation, messages[-1])
                assert [message.id for message in stored] == messages
                head = store.view(conversation).branch("main").head
                assert head is not None
                assert len(messages) <= len(store.path(conversation, head)) <= len(messages) + 1
            assert store.verify().clean
    assert promised
