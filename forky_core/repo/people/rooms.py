"""Several people and several models in one conversation: who takes part, and who answers what is posted.

A post is kept in any case; whether a model answers it is the room's rule and the person's allowance, and where none
does a sentence says why. Two models answer in turn: the second reads what the first has said, as somebody else's words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.errors import BadContent, ForkyError, NothingToDo
from forky_core.model import Branch, Message, Operation, Rules
from forky_core.parts import Draft, Json
from forky_core.repo.answers.asking import answer, say
from forky_core.repo.answers.once import NO_PARAMETERS
from forky_core.repo.answers.reply_job import Place, ReplyJob
from forky_core.repo.people.spending import spent
from forky_core.repo.people.voices import voice_of
from forky_core.repo.repo import Repo
from forky_core.repo.taking_in import fit_model
from forky_core.repo.transaction import with_a_free_key
from forky_core.room import ANSWERS, PEOPLE, ROOM, Person, Room, addressed, fit_name, fit_person

_log = logging.getLogger(__name__)
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
    """Say something, and have answered what the room has answered.

    Raises:
        Outdated: somebody was faster; nothing was written.
        InTheWay: a reply is being written on this branch; nothing was written.
        NotFound: a model is gone; nothing was written.
    """
    text = " ".join(part.text for part in draft.parts if hasattr(part, "text"))
    who, silent = _answering(repo, text, model or seen.rules.model)
    for name in who:
        repo.models.model(name)
    if who and repo.person is not None:
        allowance = spent(repo, repo.person)
        if silent := allowance.refusal:
            who = ()
        else:
            answers, silent = allowance.of_several(len(who))
            who = who[:answers]
    message, operation = say(repo, seen, draft)
    if not who:
        return Posted(message, None, silent)
    place = Place(repo.id, seen.name, message.id, group=operation.number)
    job = answer(repo, place, seen.rules, model=who[0], parameters=parameters, search=search)
    if len(who) > 1:
        turn = Round(repo, job, seen.rules, who[1:], parameters, search)
        repo.replays.add(turn)
        turn.begin()
    return Posted(message, job, silent)


def _answering(repo: Repo, text: str, model: str | None) -> tuple[tuple[str, ...], str]:
    """The models that answer, in turn, and why none does."""
    room = repo.view.room
    everyone = room.models or (model or repo.models.default(),)
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


class Round:
    """The models after the first, each answering when the one before it has."""

    def __init__(
        self,
        repo: Repo,
        first: ReplyJob,
        rules: Rules,
        models: Sequence[str],
        parameters: Mapping[str, Json],
        search: str = "",
    ) -> None:
        self._repo, self._job, self._rules, self._models = repo, first, rules, tuple(models)
        self._parameters, self._search = parameters, search
        self._stop, self._ended = threading.Event(), threading.Event()

    def stop(self) -> None:
        """Let nobody else answer; the one who is writing is stopped too."""
        self._stop.set()
        self._job.stop()

    def wait(self, seconds: float | None = None) -> bool:
        return self._ended.wait(seconds)

    def begin(self) -> None:
        threading.Thread(target=self._run, name="round", daemon=True).start()

    def _run(self) -> None:
        try:
            for model in self._models:
                self._job.wait()
                said, before = self._job.message, self._job.place
                if self._stop.is_set() or said is None or self._job.generation.status != "done":
                    return
                if self._repo.branch(before.branch).head != said.id:
                    return  # Somebody went on meanwhile: the turn is over.
                place = replace(before, parent=said.id, replaces=None, speaker=None)
                self._job = answer(
                    self._repo,
                    place,
                    self._rules,
                    model=model,
                    parameters=self._parameters,
                    search=self._search,
                )
            self._job.wait()
        except ForkyError as error:
            _log.info("A model's turn was left out: %s", error)
        finally:
            self._repo.replays.discard(self)
            self._ended.set()


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
