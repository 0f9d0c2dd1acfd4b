"""Stacked diamonds: two answers to each question, merged, over and over, so that 10,000 merges make 2^10,000 paths.

Whatever walks paths instead of messages never ends here. Each step is timed at 5,000, 10,000 and 20,000 merges, and a
line compares a size with its half: twice as long is linear. Milliseconds are the processor's, all threads together, and
the least of three runs: growth is asked for, and a busy machine hides it in the clock on the wall. The collector rests
meanwhile: its passes go over everything alive, whoever works.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from bench.measure import Line
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import new_id
from forky_core.conversation.message_origins import MessageOrigins, call_index
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import EMPTY_VIEW, ConversationId, Message, Rules, seal
from forky_core.model.parts import Draft, MergePart, TextPart
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.views.drawing import draw
from forky_core.views.graph import build_graph
from forky_core.views.layout.shape import shape_of
from forky_core.views.notebook import notebook

SIZES = (5_000, 10_000, 20_000)
QUICK = (250, 500, 1_000)
GOAL = 3.0
"""Of a size against its half: 2 is linear, 4 quadratic; the rest is the caches' and the machine's."""
ROUNDS = 3


class _NobodyAnswers:
    """One model that is never asked."""

    def __init__(self) -> None:
        self._model = ScriptedModel("scripted/none")

    def model(self, name: str) -> Model:  # noqa: ARG002 - there is only one
        return self._model

    def models(self) -> tuple[ModelInfo, ...]:
        return (self._model.info(),)

    def embedder(self, name: str) -> Embedder:
        raise NotImplementedError(name)

    def default(self) -> str:
        return "scripted/none"

    def can_write(self, name: str) -> bool:
        return name == self.default()


def diamonds(count: int) -> tuple[list[Message], Message, Message]:
    """The messages, the last merge, and a side line's end that left the stack half way up."""
    messages = [seal(Draft("user", (TextPart("Where does it begin?"),)), ())]
    middle = messages[0]
    for floor in range(count):
        below = messages[-1]
        left, right = (
            seal(Draft("assistant", (TextPart(f"{side} answer number {floor}."),)), (below.id,))
            for side in ("The left", "The right")
        )
        payload = MergePart("squash", "right", (right.id,), f"- answer number {floor} [{right.id[3:9]}]")
        messages += [left, right, seal(Draft("user", (payload,)), (left.id, right.id))]
        if floor == count // 2:
            middle = left
    tip = messages[-1]
    side = middle
    for number in range(4):
        role = "assistant" if number % 2 else "user"
        side = seal(
            Draft("assistant" if role == "assistant" else "user", (TextPart(f"Side {number}."),)), (side.id,)
        )
        messages.append(side)
    return messages, tip, side


@contextmanager
def _open(file: Path) -> Iterator[Workspace]:
    with Workspace(DuckDBStore.open(file), _NobodyAnswers()) as forky:
        yield forky


def write(file: Path, count: int) -> ConversationId:
    messages, tip, side = diamonds(count)
    with _open(file) as forky:
        id = ConversationId(new_id())
        tx = Transaction(forky.store, id, EMPTY_VIEW, "you", messages)
        tx.set("title", f"{count} merges")
        tx.create_branch("main", tip.id, Rules())
        tx.create_branch("side", side.id, Rules())
        tx.publish("create", "Stacked diamonds")
    return id


def _steps(file: Path, id: ConversationId) -> dict[str, float]:
    """Milliseconds of each step, done once, from the file on."""
    times: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        gc.collect()
        gc.disable()
        try:
            start = time.process_time()
            work()
            times[name] = (time.process_time() - start) * 1000
        finally:
            gc.enable()

    with _open(file) as forky:
        chat: list[Conversation] = []

        def load() -> None:
            chat.append(forky.conversation(id, "main"))
            chat[0].visible  # noqa: B018 - it is read here for the first time

        timed("load", load)
        main, side = chat[0], chat[0].checkout("side")
        timed("context of the head", main.context)
        for strategy in ("full", "squash"):
            timed(f"plan a {strategy} merge", lambda: main.plan_merge("side", strategy=strategy))  # noqa: B023
        timed("plan a merge of the stack itself", lambda: side.plan_merge("main", strategy="squash"))
        timed("plan a rebase of the side line", lambda: side.merges.plan_rebase("main"))
        plan = main.plan_merge("side", strategy="full")
        timed("land a merge", lambda: main.merge(plan))
        messages, view = main.visible.messages, main.view
        timed(
            "shape and rows of the graph",
            lambda: build_graph(messages, view, current=main.branch.head, shape=shape_of(messages, view)),
        )
        timed(
            "cells of the notebook",
            lambda: notebook(main.path(), main.visible, view, MessageOrigins(call_index(()))),
        )
        timed("draw as text", lambda: sum(1 for _ in draw(messages, view)))
        main.undo()
    return times


def lines(*, quick: bool = False) -> list[Line]:
    sizes = QUICK if quick else SIZES
    with tempfile.TemporaryDirectory() as folder:
        files = {count: Path(folder) / f"{count}.duckdb" for count in sizes}
        ids = {count: write(file, count) for count, file in files.items()}
        # The sizes take turns, so that a busy minute of the machine touches all of them.
        runs = [{count: _steps(files[count], ids[count]) for count in sizes} for _ in range(ROUNDS)]
    table: list[Line] = []
    for name in runs[0][sizes[0]]:
        at = {count: min(run[count][name] for run in runs) for count in sizes}
        for half, whole in pairwise(sizes):
            table.append(Line(f"{name}, {whole} merges against {half}", at[whole], at[half], GOAL))
    return table
