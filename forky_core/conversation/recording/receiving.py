"""What programs send to one conversation: an array's last message, found or made; and answers that are given again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.identity import title_from
from forky_core.conversation.reading import BranchReader
from forky_core.conversation.recording.filing import Ground, keep_files, put
from forky_core.conversation.recording.reusing import REUSE, switch
from forky_core.conversation.repo import Repo
from forky_core.matching import Call, chat_call
from forky_core.model import Message, MessageId, Operation, Reuse
from forky_core.model.errors import Outdated
from forky_core.model.parts import Json

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


class Receiving(BranchReader):
    """A conversation that programs write to."""

    def find_or_create(self, messages: Sequence[Mapping[str, Json]] | Call) -> Received:
        """The message that an array of a provider's API ends with; what is new of it is added, branching where it does.

        docs/matching.md says what counts as the same. A system prompt in it becomes that of the branch.

        Raises:
            BadCall: it cannot be read; `.where` names the field.
        """
        call = messages if isinstance(messages, Call) else chat_call(messages)
        return find_or_create(self._repo, call, self.branch_name)

    @property
    def gives_again(self) -> bool:
        """Whether stored answers to the same greedy call (temperature 0) are given again."""
        return bool(self.view.entries.get(REUSE))

    def give_again(self, on: bool) -> Operation:  # noqa: FBT001 - it is the whole of the call
        """Say whether stored answers to the same greedy call (temperature 0) are given again."""
        return switch(self._repo, on=on)

    @property
    def reuse(self) -> Reuse:
        """What giving stored answers again came to here."""
        return self._repo.store.reuse(self.id)


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
    stood = put(tx, Ground(repo.id, lambda: repo.messages, lambda: repo.visible, near), call, found)
    end = stood.place.parent
    if not stood.fresh and end not in repo.visible.messages:
        tx.keep(end)
    operation = None
    if tx.changes:
        said = next(
            (title_from(message.text) for message in reversed(stood.fresh) if message.text.strip()), ""
        )
        operation = tx.publish("receive", f"Received on “{stood.place.branch}”: {said}".removesuffix(": "))
    answers = answers_to(repo, end) if not stood.fresh else ()
    return Received(repo.message(end), stood.place.branch, found.known, found.skipped, answers, operation)


def answers_to(repo: Repo, message: MessageId) -> tuple[Message, ...]:
    """What is to be seen below a message and is of the assistant, oldest first."""
    visible = repo.visible
    below = (visible.messages[id] for id in visible.children.get(message, ()))
    return tuple(one for one in below if one.role == "assistant")
