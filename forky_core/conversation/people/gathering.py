"""Several people in one conversation: the verbs of `Conversation` about participants."""

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
    """A branch with several participants."""

    @property
    def room(self) -> Room:
        """The participants, and the rule for when models answer."""
        return self.view.room

    @property
    def answering(self) -> tuple[str, ...]:
        """The models that answer on this branch, in turn."""
        return models_of(self._repo, self.rules)

    @property
    def person(self) -> str | None:
        """The person who uses this handle; None if nobody was named."""
        return self._repo.person

    def as_person(self, name: str) -> Self:
        """A handle on the same conversation for a person: their messages and operations carry their name.

        Raises:
            BadName: the name is too long, or empty once it is normalised.
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
        """Add a message; models answer by the room's rule and the person's allowance, or only `model` does.

        `search` as in `ask`.

        Raises:
            Outdated: the branch has moved since `seen`; nothing was written.
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
        """Add a participant, or change their address and allowance."""
        return rooms.set_person(self._repo, person)

    def remove_person(self, name: str) -> Operation:
        """Remove a participant; their messages stay."""
        return rooms.remove_person(self._repo, name)

    def set_room(self, room: Room) -> Operation:
        """Set when models answer, the name they are addressed by, and which of them answer in turn."""
        return rooms.set_room(self._repo, room)

    def spent(self, name: str | None = None) -> Spent:
        """How much of their allowance a person (default: this handle's) has used today."""
        return spent(self._repo, name or self._repo.person or "")
