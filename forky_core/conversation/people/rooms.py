"""Several people and several models in one conversation: who takes part, and which models answer what is posted.

A post is stored in any case; whether a model answers it depends on the room's rule and the person's allowance, and if
none does, a sentence says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forky_core.conversation.people.spending import asker, spent
from forky_core.conversation.people.voices import voice_of
from forky_core.conversation.replies.asking import posted, say, say_on_fork
from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import RestrictedModels, Session
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_model
from forky_core.model import Branch, Message, MessageId, Operation, Rules
from forky_core.model.errors import BadContent, NameTaken, NothingToDo, Outdated
from forky_core.model.parts import Draft, Json, TextPart
from forky_core.model.room import ANSWERS, PEOPLE, ROOM, Person, Room, addressed, fit_name, fit_person

MOST_MODELS = 8
"""The most models in one room."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """The outcome of a post: its message, the reply if there is one, and in `silent` why some model does not answer."""

    message: Message
    job: ReplyJob | None
    silent: str = ""


def post(
    session: Session,
    seen: Branch,
    draft: Draft,
    *,
    model: str | None = None,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    search: str = "",
    post_id: str = "",
) -> PostResult:
    """Add a message and start the answers that the room's rule calls for; with `model`, only that one answers.

    What was stored under the same `post_id` is not stored again; it is answered if nobody was asked to yet.

    Raises:
        Outdated: the branch has moved; nothing was written.
        InTheWay: a reply is being written on this branch; nothing was written.
        NotFound: a model is no longer available; nothing was written.
    """
    who, silent = _answering(session, draft, seen.rules, model)
    stored, group = posted(session, post_id), None
    if stored is None:
        try:
            message, operation = say(session, seen, draft, post_id)
        except Outdated:
            if (stored := posted(session, post_id)) is None:
                raise
        else:
            stored, group = (seen.name, message), operation.number
    branch, message = stored
    if group is None and not _waits_for_answer(session, branch, message):
        return PostResult(message, session.replies.on_branch(session.id, branch))
    target = ReplyTarget(session.id, branch, message.id, group=group)
    job = (
        answer_in_turn(session, target, seen.rules, who, parameters=parameters, search=search)
        if who
        else None
    )
    return PostResult(message, job, silent)


def _waits_for_answer(session: Session, branch: str, message: Message) -> bool:
    """Whether a stored message ends its branch and no model was asked to answer it."""
    held = session.view.branches.get(branch)
    asked = any(call.parent == message.id for call in session.store.generations(session.id))
    return held is not None and held.head == message.id and not asked


def post_on_fork(
    session: Session,
    name: str | None,
    at: MessageId | None,
    rules: Rules,
    draft: Draft,
    *,
    model: str | None = None,
    search: str = "",
    post_id: str = "",
) -> tuple[str, PostResult]:
    """Fork at an earlier message and post there as `post` does; the new branch's name comes first."""
    who, silent = _answering(session, draft, rules, model)
    stored, group = posted(session, post_id), None
    if stored is None:
        try:
            branch, message, operation = say_on_fork(session, name, at, rules, draft, post_id=post_id)
        except (Outdated, NameTaken):
            if (stored := posted(session, post_id)) is None:
                raise
        else:
            stored, group = (branch, message), operation.number
    branch, message = stored
    if group is None and not _waits_for_answer(session, branch, message):
        return branch, PostResult(message, session.replies.on_branch(session.id, branch))
    target = ReplyTarget(session.id, branch, message.id, group=group)
    job = answer_in_turn(session, target, rules, who, search=search) if who else None
    return branch, PostResult(message, job, silent)


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


def set_person(session: Session, person: Person) -> Operation:
    """Add a participant, or change their settings. A name in another case is the same person.

    As soon as somebody's allowance is limited, whoever is not on the list may not ask (`Room.person`).

    Raises:
        BadName, BadContent: see `fit_person`.
        NothingToDo: these are the settings already.
    """
    fit = fit_person(person)

    def put() -> Operation:
        tx = session.require_not_trashed()
        for other in tx.view.room.people:
            if other.name != fit.name and other.name.casefold() == fit.name.casefold():
                tx.set(f"{PEOPLE}{other.name}", None)  # The same person, written in another case.
        setter = session.person
        if fit.limited and setter is not None and not tx.view.room.knows(setter):
            # From now on only who is on the list may ask; whoever makes it so is one of them.
            tx.set(f"{PEOPLE}{setter}", Person(setter).stored())
        tx.set(f"{PEOPLE}{fit.name}", fit.stored())
        if not tx.changes:
            raise NothingToDo(f"{fit.name} takes part like that already.")
        known = f"{PEOPLE}{fit.name}" in tx.view.entries
        return tx.publish("people", f"{'Changed' if known else 'Added'} {fit.name}")

    return with_a_free_key(PEOPLE, put)


def remove_person(session: Session, name: str) -> Operation:
    """Remove a participant; their messages stay, under their name."""
    tx = session.require_not_trashed()
    if f"{PEOPLE}{name}" not in tx.view.entries:
        raise NothingToDo(f"{name} does not take part.")
    tx.set(f"{PEOPLE}{name}", None)
    return tx.publish("people", f"{name} takes part no longer")


def set_room(session: Session, room: Room) -> Operation:
    """Set when models answer, the name they are addressed by, and which are in the room. People are set one by one.

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
        session.models.model(model)
    models = tuple(fit_model(model) or "" for model in dict.fromkeys(room.models))
    fit = Room((), room.answers, fit_name(room.called, "A model"), models)
    tx = session.require_not_trashed()
    tx.set(ROOM, fit.stored() or None)
    if not tx.changes:
        raise NothingToDo("It is so already.")
    return tx.publish("people", "Set when models answer, and which")
