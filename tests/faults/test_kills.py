from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, Generation, GenerationId, MessageId
from forky_core.model.parts import Part, TextPart
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels
from tests.faults.restless_workspace import main
from tests.killing import victim

ROUNDS = int(os.environ.get("FORKY_KILLS", "12"))


@dataclass
class Promised:
    """What the process had said before it was killed."""

    operations: set[tuple[ConversationId, str]] = field(default_factory=set)
    messages: set[tuple[ConversationId, MessageId]] = field(default_factory=set)
    running: set[tuple[ConversationId, GenerationId]] = field(default_factory=set)
    arrived: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    saved: dict[str, int] = field(default_factory=dict)
    killed_at: float = 0.0

    def hear(self, line: str) -> None:
        match line.split():
            case ["operation", conversation, id]:
                self.operations.add((ConversationId(conversation), id))
            case ["message", conversation, id]:
                self.messages.add((ConversationId(conversation), MessageId(id)))
            case ["running", conversation, id]:
                self.running.add((ConversationId(conversation), GenerationId(id)))
            case ["arrived", id, characters, seconds]:
                self.arrived.setdefault(id, []).append((float(seconds), int(characters)))
            case ["saved", id, characters]:
                self.saved[id] = max(self.saved.get(id, 0), int(characters))

    def seconds_lost(self, id: str, kept: int) -> float:
        """How long before the kill the first text arrived that is gone; 0.0 where none is."""
        lost = (seconds for seconds, characters in self.arrived.get(id, ()) if characters > kept)
        return max(0.0, self.killed_at - min(lost, default=self.killed_at))


def promised_until_killed(path: Path, promised: Promised, seconds: float) -> None:
    """Start a talker, kill it so many seconds after it began to talk, and collect what it had promised."""
    with victim(main, str(path)) as (talker, said):
        promised.hear(said.readline())
        timer = threading.Timer(seconds, talker.kill)
        timer.start()
        for line in said:
            if line.endswith("\n"):
                promised.hear(line)
        promised.killed_at = time.monotonic()
    assert talker.exitcode == -signal.SIGKILL


def killed_while_opening(path: Path) -> None:
    """A second kill, while what the first one left is being found again."""
    with victim(main, str(path)):
        time.sleep(random.uniform(0.0, 0.3))


def length(parts: tuple[Part, ...]) -> int:
    return sum(len(part.text) for part in parts if isinstance(part, TextPart))


def check(workspace: Workspace, promised: Promised) -> list[float]:
    """Every promise against what is there; how many seconds of text each interrupted reply has lost."""
    assert workspace.store.running() == ()
    calls: dict[GenerationId, Generation] = {}
    for conversation in {id for id, _ in promised.operations | promised.messages | promised.running}:
        chat = workspace.conversation(conversation)
        log = {operation.id for operation in chat.history.operations}
        stored = chat._session.messages
        here = {call.id: call for call in chat.calls.generations}
        assert {id for c, id in promised.operations if c == conversation} <= log
        assert {id for c, id in promised.messages if c == conversation} <= stored.keys()
        assert {id for c, id in promised.running if c == conversation} <= here.keys()
        calls.update(here)
    assert all(call.status != "running" for call in calls.values())
    lost: list[float] = []
    for call in calls.values():
        if call.failure is None or call.failure.kind != "crash":
            continue
        parts = (
            chat_of(workspace, promised, call)._session.messages[call.message].parts if call.message else ()
        )
        kept = length(parts)
        assert kept >= promised.saved.get(call.id, 0)
        lost.append(promised.seconds_lost(call.id, kept))
    return lost


def chat_of(workspace: Workspace, promised: Promised, call: Generation) -> Conversation:
    conversations = {conversation for conversation, _ in promised.operations}
    chats = (workspace.conversation(conversation) for conversation in conversations)
    return next(chat for chat in chats if call in chat.calls.generations)


def resume_all(workspace: Workspace) -> int:
    """Resume every interrupted reply at the head of a branch; how many there were."""
    resumed = 0
    for summary in workspace.conversations():
        for name in workspace.conversation(summary.id).branches:
            chat = workspace.conversation(summary.id, name)
            head = chat.head
            call = chat.calls.origins.of(head.id).call if head is not None else None
            if head is None or call is None or call.failure is None or call.failure.kind != "crash":
                continue
            whole = chat.replies.resume().result()
            assert whole.text.startswith(head.text) and len(whole.text) > len(head.text)
            assert chat.head == whole
            resumed += 1
    return resumed


@pytest.mark.long
def test_nothing_promised_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    lost: list[float] = []
    operations = messages = resumed = 0
    for number in range(ROUNDS):
        # The same file goes on from round to round, so that a kill also meets what earlier ones left.
        path = tmp_path / f"forky{number // 10}.duckdb"
        promised = Promised()
        promised_until_killed(path, promised, random.uniform(0.05, 1.5))
        if number % 3 == 2:
            killed_while_opening(path)
        with DuckDBStore.open(path) as store:
            workspace = Workspace(store, ScriptedModels())
            assert store.verify().findings == ()
            lost += check(workspace, promised)
            resumed += resume_all(workspace)
            assert store.verify().findings == ()
            workspace.close()
        operations += len(promised.operations)
        messages += len(promised.messages)
    assert operations and messages
    counted = f"{operations} operations and {messages} messages promised, {len(lost)} replies cut, {resumed} resumed"
    sys.stdout.write(f"{ROUNDS} kills: {counted}, at most {max(lost, default=0.0):.2f} s of text lost\n")
