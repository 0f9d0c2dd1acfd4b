"""An array of messages in one conversation, without a model call: the message it ends with, found or made."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.errors import Outdated
from forky_core.matching.call import Call
from forky_core.model import Message, MessageId, Operation
from forky_core.repo.filing import Ground, keep_files, put
from forky_core.repo.identity import title_from
from forky_core.repo.repo import Repo

_TRIES = 50


@dataclass(frozen=True, slots=True)
class Received:
    """Where an array ends."""

    message: Message
    branch: str
    """The branch that ends there, or with an answer to it; "" where it is further up."""
    known: int
    """How many of its messages were there."""
    skipped: int
    """Of these, how many at the beginning stand nowhere: the array's head was trimmed or replaced."""
    alternatives: tuple[Message, ...]
    """The answers that stand there, oldest first: one prompt may have many."""
    operation: Operation | None
    """None where nothing was new."""


def find_or_create(repo: Repo, call: Call, near: str) -> Received:
    """The end of an array; what of it is new is added as one operation, by the rules of `near`.

    Raises:
        InTheWay: the conversation is in the trash.
        Outdated: others write here without a pause.
    """
    for _ in range(_TRIES):
        try:
            return _once(repo, call, near)
        except Outdated:
            continue
    return _once(repo, call, near)


def _once(repo: Repo, call: Call, near: str) -> Received:
    version = repo.view.version
    found = repo.match(call.turns)
    keep_files(repo.store, call, found.known)
    tx = repo.live(alone=True)
    if tx.view.version != version:
        raise Outdated("The conversation has changed meanwhile.", None)
    stood = put(tx, Ground(repo.id, repo.messages, lambda: repo.visible, near), call, found)
    end = stood.place.parent
    if not stood.fresh and end not in repo.visible.messages:
        tx.keep(end)
    operation = None
    if tx.changes:
        said = next(
            (title_from(message.text) for message in reversed(stood.fresh) if message.text.strip()), ""
        )
        operation = tx.publish("receive", f"Received on “{stood.place.branch}”: {said}".removesuffix(": "))
    return Received(
        repo.message(end), stood.place.branch, found.known, found.skipped, answers_to(repo, end), operation
    )


def answers_to(repo: Repo, message: MessageId) -> tuple[Message, ...]:
    """What is to be seen below a message and is of the assistant, oldest first."""
    visible = repo.visible
    below = (visible.messages[id] for id in visible.children.get(message, ()))
    return tuple(one for one in below if one.role == "assistant")
