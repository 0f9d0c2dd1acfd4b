"""Having a model examine texts side by side, by a press only, and a persistent cache of what it found.

An examination is kept under the texts themselves, whichever branch or page they are read on, and used again until one
of them changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation.merging.note_writing import VERIFIER
from forky_core.conversation.session import Models, Session
from forky_core.merge.conflicts.conflict import ComparedSide
from forky_core.merge.conflicts.examination import (
    Examination,
    examination_key,
)
from forky_core.model import Rules
from forky_core.store.contract import Store


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
