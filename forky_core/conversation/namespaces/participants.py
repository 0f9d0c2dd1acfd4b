"""`chat.people`: who takes part in a conversation, when models answer them, and what each may spend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.message_drafts import draft_of
from forky_core.conversation.people import rooms
from forky_core.conversation.people.rooms import PostResult
from forky_core.conversation.people.spending import Spending, spent
from forky_core.conversation.replies.asking import posted
from forky_core.conversation.replies.in_turn import models_of
from forky_core.conversation.validation import fit_parameters
from forky_core.model import Branch, MessageId, Operation
from forky_core.model.parts import AttachmentPart, Json
from forky_core.model.room import Person, Room, fit_name

Handle = TypeVar("Handle", bound=BranchReader)


class Participants(Generic[Handle]):
    """The participants of a conversation, people and models."""

    def __init__(self, chat: Handle) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def me(self) -> str | None:
        """The person who uses this handle; None if nobody was named. `as_person` names one."""
        return self._session.person

    def as_person(self, name: str) -> Handle:
        """A handle on the same conversation for a person: their messages and operations carry their name.

        Raises:
            BadName: the name is too long, or empty once it is normalised.
        """
        return type(self._chat)(self._session.as_person(fit_name(name)), self._chat.branch_name)

    def author_of(self, message: MessageId) -> str:
        """The name of the member of a team who said a message, "You" for whoever uses this handle, and "Somebody" for
        who is no member, as from before there was a team; "" where nobody signs in.
        """
        if self._session.name_of is str:
            return ""
        actor = self._session.author(message)
        name = self._session.name_of(actor)
        if name == actor:  # It is no id of a member's.
            return "Somebody"
        return "You" if actor == self._session.actor else name

    @property
    def room(self) -> Room:
        """The participants, and the rule for when models answer."""
        return self._chat.view.room

    @property
    def answering(self) -> tuple[str, ...]:
        """The models that answer on this branch, in turn."""
        return models_of(self._session, self._chat.branch.rules)

    def post(
        self,
        text: str,
        *,
        seen: Branch | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
        post_id: str = "",
        **parameters: Json,
    ) -> PostResult:
        """Add a message; models answer by the room's rule and the person's allowance, or only `model` does.

        `search` as in `ask`. `post_id` is an id that the caller made for this message: where the same is posted again,
        because nobody knows whether it arrived, it is stored once.

        Raises:
            Outdated: the branch has moved since `seen`; nothing was written.
        """
        branch = seen if seen is not None else self._chat.branch
        draft = draft_of(self._session, text, attachments)
        fit = fit_parameters(parameters)
        return rooms.post(
            self._session, branch, draft, model=model, parameters=fit, search=search, post_id=post_id
        )

    def post_from(
        self,
        at: MessageId | None,
        text: str,
        *,
        branch: str | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
        post_id: str = "",
    ) -> tuple[Handle, PostResult]:
        """Fork at an earlier message and post there, in one gesture; the new branch, checked out, comes first.

        None for `at` posts on a new branch on which nothing was said before. `post_id` as in `post`.
        """
        draft = draft_of(self._session, text, attachments)
        point = self._chat.message(at).id if at is not None else None
        rules = self._chat.branch.rules
        name, posted = rooms.post_on_fork(
            self._session, branch, point, rules, draft, model=model, search=search, post_id=post_id
        )
        return self._chat.checkout(name), posted

    def has_post(self, post_id: str) -> bool:
        """Whether a message was stored under this `post_id`."""
        return posted(self._session, post_id) is not None

    def set(self, person: Person) -> Operation:
        """Add a participant, or change their address and allowance."""
        return rooms.set_person(self._session, person)

    def remove(self, name: str) -> Operation:
        """Remove a participant; their messages stay."""
        return rooms.remove_person(self._session, name)

    def set_room(self, room: Room) -> Operation:
        """Set when models answer, the name they are addressed by, and which of them answer in turn."""
        return rooms.set_room(self._session, room)

    def spent(self, name: str | None = None) -> Spending:
        """How much of their allowance a person (default: this handle's) has used today."""
        return spent(self._session, name or self._session.person or "")
