"""A process that asks, forks, merges, undoes and stashes without end and says what it was promised; meant to be killed.

Each line is one promise: `operation CONVERSATION ID`, `message CONVERSATION ID`, `running CONVERSATION GENERATION` and
`arrived GENERATION CHARACTERS SECONDS`, `saved GENERATION CHARACTERS` for the text of a reply being written.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from contextlib import suppress

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Pause, Step
from forky_core.model.errors import ForkyError
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels

CONVERSATIONS = 2
TALKERS = 3
"""Threads on each conversation."""
_speaking = threading.Lock()


def promise(*words: object) -> None:
    with _speaking:
        sys.stdout.write(" ".join(map(str, words)) + "\n")
        sys.stdout.flush()


def long_answer(request: Request) -> tuple[Step, ...]:
    """Words that come slowly enough for a kill to fall between them."""
    number = random.randint(1, 60)
    return tuple(step for at in range(number) for step in (f"word{at} ", Pause(0.02)))


def told(chat: Conversation, known: set[int]) -> None:
    """Promise every operation and message that can be read."""
    for operation in chat.history.operations:
        if operation.number not in known:
            known.add(operation.number)
            promise("operation", chat.id, operation.id)
    for message in chat.path()[-3:]:
        promise("message", chat.id, message.id)


def ask(chat: Conversation) -> None:
    job = chat.send(f"Question {random.random()}")
    promise("message", chat.id, job.place.parent)
    promise("running", chat.id, job.generation.id)
    if random.random() < 0.2:
        time.sleep(0.1)
        job.stop()
    job.wait()
    if job.message is not None:
        promise("message", chat.id, job.message.id)


def merge(chat: Conversation) -> None:
    source = random.choice([name for name in chat.branches if name != chat.branch_name] or ["main"])
    strategy = random.choice(("squash", "full"))
    chat.merge(chat.plan_merge(source, strategy=strategy))


def stash(chat: Conversation) -> None:
    chat.stashes.create(draft="half a thought", last=random.randint(0, 2))


def pop(chat: Conversation) -> None:
    chat.stashes.pop(random.choice([stash.number for stash in chat.view.stashes] or [0]))


VERBS = (
    ask,
    ask,
    ask,
    ask,
    Conversation.fork,
    merge,
    Conversation.undo,
    Conversation.redo,
    Conversation.regenerate,
    stash,
    pop,
)


def talk(workspace: Workspace, chat: Conversation) -> None:
    known: set[int] = set()
    while True:
        # Refusals are part of the life of a conversation with several people in it.
        with suppress(ForkyError):
            here = chat.checkout(random.choice(list(chat.branches)))
            random.choice(VERBS)(here)
            told(here, known)


def watch(workspace: Workspace) -> None:
    """Say how far each reply is, and how far it is saved."""
    while True:
        for job in workspace.replies.running():
            promise("arrived", job.generation.id, len(_arrived(job)), time.monotonic())
        for conversation, id in workspace.store.running():
            for generation in workspace.store.generations(conversation):
                if generation.id == id and generation.partial:
                    promise("saved", id, sum(len(part.stored()["text"]) for part in generation.partial))
        time.sleep(0.05)


def _arrived(job: ReplyJob) -> str:
    return "".join(part.stored()["text"] for part in job.parts)


def main(path: str) -> None:
    random.seed(os.environ.get("TEST_SEED"))
    models = ScriptedModels()
    models.one._answer = models.two._answer = long_answer
    workspace = Workspace(DuckDBStore.open(path), models)
    for _ in range(CONVERSATIONS):
        chat = workspace.create("Restless")
        for _ in range(TALKERS):
            threading.Thread(target=talk, args=(workspace, chat), daemon=True).start()
    watch(workspace)
