"""`chat.people`: who takes part in a conversation, when models answer them, and what each may spend.

A post is stored in any case; whether a model answers it depends on the room's rule and the person's allowance, and if
none does, a sentence says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.identity import branch_name, free_name
from forky_core.conversation.people.spending import Spending, asker, spent
from forky_core.conversation.people.voices import voice_of
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.session import RestrictedModels, Session
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_model, fit_parameters
from forky_core.model import Branch, Message, MessageId, Operation, Rules
from forky_core.model.errors import BadContent, ForkyError, NameTaken, NothingToDo, Outdated
from forky_core.model.parts import AttachmentPart, Draft, Json, TextPart
from forky_core.model.room import ANSWERS, PEOPLE, ROOM, Person, Room, addressed, fit_name, fit_person
from forky_core.process.lazy_names import import_when_used

if TYPE_CHECKING:
    from forky_core.conversation.replies.asking import answer, draft_of, posted, say, say_on_fork
    from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
    from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
else:
    import_when_used(globals(), __spec__)

Handle = TypeVar("Handle", bound=BranchReader)
MOST_MODELS = 8
"""The most models in one room."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """The outcome of a post: its message, the reply if there is one, and in `silent` why some model does not answer."""

    message: Message
    job: ReplyJob | None
    silent: str = ""


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
        also: Sequence[str] = (),
        **parameters: Json,
    ) -> PostResult:
        """Add a message; models answer by the room's rule and the person's allowance, or only `model` does.

        Each model in `also` answers the same message on a new branch of its own. `search` as in `ask`. `post_id` is an
        id that the caller made for this message: where the same is posted again, because nobody knows whether it
        arrived, it is stored once.

        Raises:
            Outdated: the branch has moved since `seen`; nothing was written.
        """
        branch = seen if seen is not None else self._chat.branch
        draft = draft_of(self._session, text, attachments)
        fit = fit_parameters(parameters)

        def store() -> tuple[str, Message, Operation]:
            return branch.name, *say(self._session, branch, draft, post_id)

        return self._post(
            store, draft, branch.rules, post_id, model=model, parameters=fit, search=search, also=also
        )[1]

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
        also: Sequence[str] = (),
    ) -> tuple[Handle, PostResult]:
        """Fork at an earlier message and post there, in one gesture; the new branch, checked out, comes first.

        None for `at` posts on a new branch on which nothing was said before. `post_id` and `also` as in `post`.
        """
        draft = draft_of(self._session, text, attachments)
        point = self._chat.message(at).id if at is not None else None
        rules = self._chat.branch.rules

        def store() -> tuple[str, Message, Operation]:
            return say_on_fork(self._session, branch, point, rules, draft, post_id=post_id)

        name, result = self._post(store, draft, rules, post_id, model=model, search=search, also=also)
        return self._chat.checkout(name), result

    def _post(
        self,
        store: Callable[[], tuple[str, Message, Operation]],
        draft: Draft,
        rules: Rules,
        post_id: str,
        *,
        model: str | None,
        parameters: Mapping[str, Json] = NO_PARAMETERS,
        search: str,
        also: Sequence[str],
    ) -> tuple[str, PostResult]:
        """Store a message, unless it was stored under this `post_id`, and start the answers that the room's rule calls
        for; the branch comes first.

        Raises:
            NotFound: a model is no longer available; nothing was written.
        """
        session = self._session
        who, silent = _answering(session, draft, rules, model)
        for name in also:
            session.models.model(name)
        stored, group = posted(session, post_id), None
        if stored is None:
            try:
                branch, message, operation = store()
            except (Outdated, NameTaken):
                if (stored := posted(session, post_id)) is None:
                    raise
            else:
                stored, group = (branch, message), operation.number
        branch, message = stored
        if group is None and not _waits_for_answer(session, branch, message):
            return branch, PostResult(message, session.replies.on_branch(session.id, branch))
        target = ReplyTarget(session.id, branch, message.id, group=group)
        job = (
            answer_in_turn(session, target, rules, who, parameters=parameters, search=search) if who else None
        )
        told = [
            silent,
            *(self._ask_beside(target, draft, rules, name, search) for name in dict.fromkeys(also)),
        ]
        return branch, PostResult(message, job, " ".join(dict.fromkeys(filter(None, told))))

    def _ask_beside(self, target: ReplyTarget, draft: Draft, rules: Rules, model: str, search: str) -> str:
        """Have one more model answer a stored message, on a branch of its own; return why it does not, or ""."""
        session, own = self._session, replace(rules, model=model)

        def put() -> str:
            tx = session.require_not_trashed()
            name = free_name(branch_name(model.rpartition("/")[2][:40] or "model"), tx.view.branches)
            tx.create_branch(name, target.parent, own)
            tx.publish("fork", f"Forked “{name}” to have another model answer", group=target.group)
            return name

        try:
            who, silent = _answering(session, draft, rules, model)
            if who:
                branch = with_a_free_key("heads/", put)
                answer(session, replace(target, branch=branch), own, search=search)
        except ForkyError as error:
            return str(error)
        return silent

    def has_post(self, post_id: str) -> bool:
        """Whether a message was stored under this `post_id`."""
        return posted(self._session, post_id) is not None

    def set(self, person: Person) -> Operation:
        """Add a participant, or change their address and allowance. A name in another case is the same person.

        As soon as somebody's allowance is limited, whoever is not on the list may not ask (`Room.person`).

        Raises:
            BadName, BadContent: see `fit_person`.
            NothingToDo: these are the settings already.
        """
        fit = fit_person(person)

        def put() -> Operation:
            tx = self._session.require_not_trashed()
            for other in tx.view.room.people:
                if other.name != fit.name and other.name.casefold() == fit.name.casefold():
                    tx.set(f"{PEOPLE}{other.name}", None)  # The same person, written in another case.
            setter = self._session.person
            if fit.limited and setter is not None and not tx.view.room.knows(setter):
                # From now on only who is on the list may ask; whoever makes it so is one of them.
                tx.set(f"{PEOPLE}{setter}", Person(setter).stored())
            tx.set(f"{PEOPLE}{fit.name}", fit.stored())
            known = f"{PEOPLE}{fit.name}" in tx.view.entries
            summary = f"{'Changed' if known else 'Added'} {fit.name}"
            return tx.publish("people", summary, unchanged=f"{fit.name} takes part like that already.")

        return with_a_free_key(PEOPLE, put)

    def remove(self, name: str) -> Operation:
        """Remove a participant; their messages stay."""
        tx = self._session.require_not_trashed()
        if f"{PEOPLE}{name}" not in tx.view.entries:
            raise NothingToDo(f"{name} does not take part.")
        tx.set(f"{PEOPLE}{name}", None)
        return tx.publish("people", f"{name} takes part no longer")

    def set_room(self, room: Room) -> Operation:
        """Set when models answer, the name they are addressed by, and which of them answer in turn. People are set one
        by one.

        Raises:
            BadContent, BadName: the settings are invalid.
            NotFound: one of the models is no longer available.
            NothingToDo: these are the settings already.
        """
        if room.answers not in ANSWERS:
            raise BadContent(f"A model answers {', '.join(ANSWERS)}.")
        if len(room.models) > MOST_MODELS:
            raise BadContent(f"At most {MOST_MODELS} models answer in turn.")
        for model in room.models:
            self._session.models.model(model)
        models = tuple(fit_model(model) or "" for model in dict.fromkeys(room.models))
        fit = Room((), room.answers, fit_name(room.called, "A model"), models)
        tx = self._session.require_not_trashed()
        tx.set(ROOM, fit.stored() or None)
        return tx.publish("people", "Set when models answer, and which", unchanged="It is so already.")

    def spent(self, name: str | None = None) -> Spending:
        """How much of their allowance a person (default: this handle's) has used today."""
        return spent(self._session, name or self._session.person or "")


def _waits_for_answer(session: Session, branch: str, message: Message) -> bool:
    """Whether a stored message ends its branch and no model was asked to answer it."""
    held = session.view.branches.get(branch)
    asked = any(call.parent == message.id for call in session.store.generations(session.id))
    return held is not None and held.head == message.id and not asked


def _answering(
    session: Session, draft: Draft, rules: Rules, model: str | None
) -> tuple[tuple[str, ...], str]:
    """The models that answer, in turn, within the person's allowance; and why some or all do not.

    Raises:
        NotFound: one of them is no longer available.
    """
    who, silent = _spoken_to(session, draft, models_of(session, rules, model))
    for name in who:
        session.models.model(name)
    if who and isinstance(session.models, RestrictedModels):
        refused = {name: session.models.refusal(name) for name in who}
        silent = next((sentence for sentence in refused.values() if sentence), silent)
        who = tuple(name for name in who if not refused[name])
    if not who or (asks := asker(session)) is None:
        return who, silent
    allowance = spent(session, asks)
    if allowance.refusal:
        return (), allowance.refusal
    answers, fewer = allowance.of_several(len(who))
    return who[:answers], fewer or silent


def _spoken_to(session: Session, draft: Draft, everyone: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Which of the models the room's rule lets answer, and a sentence if none."""
    room = session.view.room
    text = " ".join(part.text for part in draft.parts if isinstance(part, TextPart))
    if room.answers == "asked":
        return (), "It is posted. A model answers when somebody asks it to."
    named = {name: _names(session, name) for name in everyone}
    spoken_to = set(addressed(text, (room.called, *(word for words in named.values() for word in words))))
    alone = tuple(name for name in everyone if spoken_to.intersection(named[name]))
    if alone and room.called not in spoken_to:
        return alone, ""
    if room.answers == "always" or spoken_to:
        return everyone, ""
    return (), f"It is posted. A model answers where it is addressed: as {room.called}, or with @."


def _names(session: Session, model: str) -> tuple[str, ...]:
    """The names by which a model can be addressed: its name in the picker, and the short one."""
    return tuple(dict.fromkeys((voice_of(session, model), model.rpartition("/")[2])))
