"""Having a model examine texts side by side, by a press only, and a persistent cache of what it found.

An examination is kept under the texts themselves, whichever branch or page they are read on, and used again until one
of them changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from forky_core.conversation.merging.note_writing import VERIFIER
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Models, Session
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.examination import (
    Examination,
    examination_key,
    examination_request,
    read_examination,
)
from forky_core.model import Rules
from forky_core.model.errors import NothingToDo
from forky_core.store.contract import Store


def examine(
    session: Session,
    sides: Sequence[ComparedSide],
    rules: Rules,
    *,
    model: str | None = None,
    stop: Event | None = None,
) -> Examination:
    """Ask a model about these texts; keep and return what of its answer stands in them.

    Raises:
        NothingToDo: fewer than two of them say anything, or there is no model to ask.
        NotExamined: the answer says nothing about them.
        ModelError: the model did not answer, or was stopped.
    """
    if sum(bool(side.said) for side in sides) < 2:
        raise NothingToDo(
            "There are not two texts to compare.", "Nothing was said on one of the sides since."
        )
    name = model or examiner(session.store, session.models, rules)
    if name is None:
        raise NothingToDo(
            "No model is set up that could examine them.", "Name one, or choose one in Settings."
        )
    answer = ask_once(session, name, examination_request(sides), stop=stop)
    found = read_examination(answer, sides, name)
    session.store.keep_derived(session.id, {examination_key(sides): found.to_json()})
    return found


def examination_of(session: Session, sides: Sequence[ComparedSide]) -> Examination | None:
    """What a model has found in these texts; None if none has examined them as they are."""
    key = examination_key(sides)
    stored = session.store.derived(session.id, [key]).get(key)
    found = Examination.from_json(stored) if stored else None
    return found.of_sides(sides) if found is not None else None


def examiner(store: Store, models: Models, rules: Rules) -> str | None:
    """The model that examines: the one that reads merges in Settings, else the one that answers on a branch with these
    rules; None if that one can't be asked.
    """
    return store.setting(VERIFIER) or default_writer(models, rules)


def default_writer(models: Models, rules: Rules) -> str | None:
    """The model that answers on a branch with these rules.

    None if that is an offline one, which only quotes, or if it cannot be asked: its key is missing, its server is not
    set up, or nobody offers it any more.
    """
    name = rules.model or models.default()
    return name if models.can_write(name) else None
