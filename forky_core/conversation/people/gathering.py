"""Several people in one conversation: the verbs of `Conversation` about who takes part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from forky_core.conversation.people import rooms
from forky_core.conversation.people.rooms import Posted
from forky_core.conversation.people.spending import Spent, spent
from forky_core.conversation.reading import BranchReader
from forky_core.conversation.replies.in_turn import models_of
from forky_core.conversation.taking_in import fit_parameters
from forky_core.conversation.typed import draft_of
from forky_core.model import Branch, MessageId, Operation
from forky_core.model.parts import AttachmentPart, Json
from forky_core.model.room import Person, Room, fit_name


class Gathering(BranchReader):
    """A branch on which several people speak."""

    @property
    def room(self) -> Room:
        """Who takes part, and when models answer."""
        return self.view.room

    @property
    def answering(self) -> tuple[str, ...]:
        """The models that answer what is said here, in turn."""
        return models_of(self._repo, self.rules)

    @property
    def person(self) -> str | None:
        """Who speaks through this handle; None: nobody said."""
        return self._repo.person

    def as_person(self, name: str) -> Self:
        """The same conversation for somebody: their name is on what they say and do.

        Raises:
            BadName: nothing is left of the name, or it is too long.
        """
        return type(self)(self._repo.as_person(fit_name(name)), self.branch_name)

    def post(
        self,
        text: str,
        *,
        seen: Branch | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
        **parameters: Json,
    ) -> Posted:
        """Say something; models answer by the room's rule and the person's allowance, or `model` does alone.

        `search` as in `ask`.

        Raises:
            Outdated: somebody was faster than `seen`; nothing was written.
        """
        branch = seen if seen is not None else self.branch
        draft = draft_of(self._repo, text, attachments)
        fit = fit_parameters(parameters)
        return rooms.post(self._repo, branch, draft, model=model, parameters=fit, search=search)

    def post_from(
        self,
        at: MessageId,
        text: str,
        *,
        branch: str | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
    ) -> tuple[Self, Posted]:
        """Fork at an earlier message and post there, in one gesture; the new branch, checked out, comes first."""
        draft = draft_of(self._repo, text, attachments)
        point = self.message(at).id
        name, posted = rooms.post_on_fork(
            self._repo, branch, point, self.rules, draft, model=model, search=search
        )
        return self.checkout(name), posted

    def set_person(self, person: Person) -> Operation:
        """Let somebody take part, or change their address and allowance."""
        return rooms.set_person(self._repo, person)

    def remove_person(self, name: str) -> Operation:
        """Somebody takes part no longer; what they said stays."""
        return rooms.remove_person(self._repo, name)

    def set_room(self, room: Room) -> Operation:
        """Set when models answer, what they are called, and which answer in turn."""
        return rooms.set_room(self._repo, room)

    def spent(self, name: str | None = None) -> Spent:
        """What somebody (default: who speaks here) had of their allowance today."""
        return spent(self._repo, name or self._repo.person or "")
