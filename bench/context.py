"""What it costs to build a context: beside reading the same path from the file, and when most of it is left out."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.measure import Line, elapsed, in_turns
from forky_core.context.account import Context
from forky_core.context.build import build_context
from forky_core.context.conversion_cache import converter
from forky_core.context.memory_policies import label_of
from forky_core.conversation.identity import now
from forky_core.forky import Forky
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import ConversationId, Message, MessageId, Role, Rules, seal
from forky_core.model.memory import Memory
from forky_core.model.parts import Draft, TextPart

_WORDS = "so it was said, and the server listens on port {} because of `config_{}.toml`. "
_GOAL_WARM = 20.0
"""Milliseconds."""


def lines(*, quick: bool) -> Iterator[Line]:
    count, rounds = (2_000, 5) if quick else (10_000, 15)
    with tempfile.TemporaryDirectory() as kept:
        file = Path(kept) / "forky.duckdb"
        id, head = _seed(file, count)
        policies = (Memory(), Memory("last", 20), Memory("tokens", 8_000))
        taken = [
            [_first_time(file, id, head, memory) for memory in policies] for _ in range(3 if quick else 7)
        ]
        # The quickest of each side: what is done once cannot be repeated within a turn, and others' work only adds.
        load = min(one[0] for turn in taken for one in turn)
        first = [min(turn[at][1] for turn in taken) for at in range(len(policies))]
        with Forky.open(file) as forky:
            path = forky.store.path(id, head)
    for memory, spent in zip(policies, first, strict=True):
        yield Line(f"context of {count:,}, {label_of(memory)}, the first time; SQL", spent, load, 0.2)
    warm = in_turns([partial(_build, path, memory) for memory in policies], rounds)
    for memory, spent in zip(policies, warm, strict=True):
        yield Line(f"– built again, {label_of(memory)}; their SQL for the first time", spent, load, 0.2)
        yield Line(f"– built again, {label_of(memory)}; the goal", spent, _GOAL_WARM, 1)
    long, short = _sent(path[: count // 2 * 2 - 1]), _sent(path[:99])
    yield Line(f"characters sent under “last 20” at {count:,} messages; at 100", long, short, 1.05, "")


def _first_time(file: Path, id: ConversationId, head: MessageId, memory: Memory) -> tuple[float, float]:
    """Milliseconds to read the path from the file, and to build its context, nothing of either being known."""
    with Forky.open(file) as forky:
        path: list[tuple[Message, ...]] = []
        # Each side begins with a collected heap: a collection of all that this run has made falls on neither.
        gc.collect()
        load = elapsed(lambda: path.append(forky.store.path(id, head)))
        gc.collect()
        converter.cache_clear()  # It keeps what was converted.
        return load, elapsed(lambda: _build(path[0], memory))


def _build(path: Sequence[Message], memory: Memory) -> Context:
    return build_context(path, Rules(), lookup=_nothing, count_tokens=estimate_tokens, memory=memory)


def _nothing(id: MessageId) -> Message:
    raise KeyError(id)


def _sent(path: Sequence[Message]) -> float:
    return float(sum(len(message["content"]) for message in _build(path, Memory("last", 20)).messages))


def _seed(file: Path, count: int) -> tuple[ConversationId, MessageId]:
    with Forky.open(file) as forky:
        chat = forky.create("Long")
        tx = chat._session.require_not_trashed()
        parent: MessageId | None = None
        for number in range(count):
            words = _WORDS.format(8_000 + number, f"{number:05}") * 3
            role: Role = "assistant" if number % 2 else "user"
            message = seal(Draft(role, (TextPart(words),)), (parent,), created=now())
            tx.messages.append(message)
            parent = message.id
        tx.move("main", parent)
        tx.publish("import", "Filled")
        assert parent is not None
        return chat.id, parent
