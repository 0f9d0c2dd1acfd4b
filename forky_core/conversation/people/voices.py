"""The speakers of a conversation, for the request to a model: people and models by their names."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation.session import Session
from forky_core.conversation.transaction import Transaction
from forky_core.model import Message
from forky_core.model.errors import ForkyError
from forky_core.model.parts import Draft
from forky_core.model.room import PEOPLE, Room, Voices, fit_name


def introduce(tx: Transaction, draft: Draft) -> None:
    """Add the author of a first message to the participants."""
    if draft.role == "user" and draft.name and f"{PEOPLE}{draft.name}" not in tx.view.entries:
        tx.set(f"{PEOPLE}{draft.name}", {})


def voice_of(session: Session, model: str) -> str:
    """The name that a model speaks under."""
    try:
        return fit_name(session.models.model(model).info().label)
    except ForkyError:
        return fit_name(model[-60:] or "model")


def speaker_of(session: Session, room: Room, model: str) -> str | None:
    """The name that a reply carries; None if only one model is in the room."""
    return voice_of(session, model) if len(room.models) > 1 else None


def voices_of(session: Session, room: Room, path: Sequence[Message], model: str) -> Voices | None:
    """The speakers of this path as `model` should see them; None if there are none to distinguish."""
    people = {person.name for person in room.people}
    # The person who asks now may be new, and must be included so that the inspector shows what will be sent.
    people.update(message.name for message in path[-1:] if message.role == "user" and message.name)
    models = [voice_of(session, name) for name in room.models] if len(room.models) > 1 else []
    if len(people) < 2 and not models:
        return None
    own = voice_of(session, model) if models else ""
    return Voices((*sorted(people), *models), own, room.called)
