"""Several people and several models in one conversation: who takes part, and who answers what is posted.

A post is kept in any case; whether a model answers it is the room's rule and the person's allowance, and where none
does a sentence says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forky_core.conversation.people.spending import spent
from forky_core.conversation.people.voices import voice_of
from forky_core.conversation.replies.asking import say, say_on_fork
from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.repo import Repo
from forky_core.conversation.taking_in import fit_model
from forky_core.conversation.transaction import with_a_free_key
from forky_core.model import Branch, Message, MessageId, Operation, Rules
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import Draft, Json, TextPart
from forky_core.model.room import ANSWERS, PEOPLE, ROOM, Person, Room, addressed, fit_name, fit_person

MOST_MODELS = 8
"""In one room."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a post: it was kept; a reply is under way, and `silent` says why none is, or not everybody's."""

    message: Message
    job: ReplyJob | None
    silent: str = ""


def post(
    repo: Repo,
    seen: Branch,
    draft: Draft,
    *,
    model: str | None = None,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    search: str = "",
) -> Posted:
    """Say something, and have answered what the room has answered; `model` answers alone.

    Raises:
        Outdated: somebody was faster; nothing was written.
        InTheWay: a reply is being written on this branch; nothing was written.
        NotFound: a model is gone; nothing was written.
    """
    who, silent = _answering(repo, draft, seen.rules, model)
    message, operation = say(repo, seen, draft)
    place = ReplyTarget(repo.id, seen.name, message.id, group=operation.number)
    job = answer_in_turn(repo, place, seen.rules, who, parameters=parameters, search=search) if who else None
    return Posted(message, job, silent)


def post_on_fork(
    repo: Repo,
    name: str | None,
    at: MessageId,
    rules: Rules,
    draft: Draft,
    *,
    model: str | None = None,
    search: str = "",
) -> tuple[str, Posted]:
    """As `post`, on a new branch that begins at an earlier message; its name comes first."""
    who, silent = _answering(repo, draft, rules, model)
    branch, message, operation = say_on_fork(repo, name, at, rules, draft)
    place = ReplyTarget(repo.id, branch, message.id, group=operation.number)
    job = answer_in_turn(repo, place, rules, who, search=search) if who else None
    return branch, Posted(message, job, silent)


def _answering(repo: Repo, draft: Draft, rules: Rules, model: str | None) -> tuple[tuple[str, ...], str]:
    """Who answers, in turn, within what the person may spend; and why nobody does, or not everybody.

    Raises:
        NotFound: one of them is gone.
    """
    who, silent = _spoken_to(repo, draft, models_of(repo, rules, model))
    for name in who:
        repo.models.model(name)
    if not who or repo.person is None:
        return who, silent
    allowance = spent(repo, repo.person)
    if allowance.refusal:
        return (), allowance.refusal
    answers, silent = allowance.of_several(len(who))
    return who[:answers], silent


def _spoken_to(repo: Repo, draft: Draft, everyone: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Those of the models that the room's rule has answer, and why none does."""
    room = repo.view.room
    text = " ".join(part.text for part in draft.parts if isinstance(part, TextPart))
    if room.answers == "asked":
        return (), "It is posted. A model answers when somebody asks it to."
    named = {name: _names(repo, name) for name in everyone}
    spoken_to = set(addressed(text, (room.called, *(word for words in named.values() for word in words))))
    alone = tuple(name for name in everyone if spoken_to.intersection(named[name]))
    if alone and room.called not in spoken_to:
        return alone, ""
    if room.answers == "always" or spoken_to:
        return everyone, ""
    return (), f"It is posted. A model answers where it is addressed: as {room.called}, or with @."


def _names(repo: Repo, model: str) -> tuple[str, ...]:
    """What a model can be addressed by: its name in the picker, and the short one."""
    return tuple(dict.fromkeys((voice_of(repo, model), model.rpartition("/")[2])))


def set_person(repo: Repo, person: Person) -> Operation:
    """Let somebody take part, or change what is set for them.

    Raises:
        BadName, BadContent: see `fit_person`.
        NothingToDo: it is so already.
    """
    fit = fit_person(person)

    def put() -> Operation:
        tx = repo.live()
        tx.set(f"{PEOPLE}{fit.name}", fit.stored())
        if not tx.changes:
            raise NothingToDo(f"{fit.name} takes part like that already.")
        known = f"{PEOPLE}{fit.name}" in tx.view.entries
        return tx.publish("people", f"{'Changed' if known else 'Added'} {fit.name}")

    return with_a_free_key(PEOPLE, put)


def remove_person(repo: Repo, name: str) -> Operation:
    """Somebody takes part no longer; what they said stays, under their name."""
    tx = repo.live()
    if f"{PEOPLE}{name}" not in tx.view.entries:
        raise NothingToDo(f"{name} does not take part.")
    tx.set(f"{PEOPLE}{name}", None)
    return tx.publish("people", f"{name} takes part no longer")


def set_room(repo: Repo, room: Room) -> Operation:
    """Set when models answer, what they are called, and which of them are there. People are set one by one.

    Raises:
        BadContent, BadName: it makes no sense.
        NotFound: one of the models is gone.
        NothingToDo: it is so already.
    """
    if room.answers not in ANSWERS:
        raise BadContent(f"A model answers {', '.join(ANSWERS)}.")
    if len(room.models) > MOST_MODELS:
        raise BadContent(f"At most {MOST_MODELS} models answer in turn.")
    for model in room.models:
        repo.models.model(model)
    models = tuple(fit_model(model) or "" for model in dict.fromkeys(room.models))
    fit = Room((), room.answers, fit_name(room.called, "A model"), models)
    tx = repo.live()
    tx.set(ROOM, fit.stored() or None)
    if not tx.changes:
        raise NothingToDo("It is so already.")
    return tx.publish("people", "Set when models answer, and which")
