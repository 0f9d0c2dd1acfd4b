"""Programs' calls to one conversation: find or create an array's last message, and reuse stored answers."""

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
    """The branch that ends there, or with an answer to it; "" if the array ends further up."""
    known: int
    """How many of its messages were stored already."""
    skipped: int
    """How many of these, at the beginning, were not matched: the array's head was trimmed or replaced."""
    alternatives: tuple[Message, ...]
    """The existing answers to it, oldest first: one prompt may have many."""
    operation: Operation | None
    """The operation that added new messages; None if there were none."""


class Receiving(BranchReader):
    """A conversation that programs write to."""

    def find_or_create(self, messages: Sequence[Mapping[str, Json]] | Call) -> Received:
        """The last message of an array in a provider's format; new messages are added, branching where the array
        differs.

        docs/matching.md says which messages count as the same. A system prompt in the array becomes the branch's.

        Raises:
            BadCall: it cannot be read; `.where` names the field.
        """
        call = messages if isinstance(messages, Call) else chat_call(messages)
        return find_or_create(self._repo, call, self.branch_name)

    @property
    def gives_again(self) -> bool:
        """Whether identical greedy calls (temperature 0) get the stored answer."""
        return bool(self.view.entries.get(REUSE))

    def give_again(self, on: bool) -> Operation:  # noqa: FBT001 - it is the whole of the call
        """Set whether identical greedy calls (temperature 0) get the stored answer."""
        return switch(self._repo, on=on)

    @property
    def reuse(self) -> Reuse:
        """How often stored answers were reused here and what that saved."""
        return self._repo.store.reuse(self.id)


def find_or_create(repo: Repo, call: Call, near: str) -> Received:
    """Find the end of an array; new messages are added as one operation, with the rules of branch `near`.

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
    """The visible answers of the assistant below a message, oldest first."""
    visible = repo.visible
    below = (visible.messages[id] for id in visible.children.get(message, ()))
    return tuple(one for one in below if one.role == "assistant")
