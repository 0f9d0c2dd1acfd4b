"""Has two models write the note of a merge, as the app does, without a conversation around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.note import NoteModels, WrittenNote, write_note
from forky_core.merge.written.plan import Write
from forky_core.merge.written.verifier import Ask
from forky_core.model import Message


def notes_by(write: Ask, check: Ask | None) -> Write:
    """A way to write notes with this writer and this verifier."""

    def note(
        material: NoteMaterial, target: Sequence[Message], room: int, count: Callable[[str], int]
    ) -> WrittenNote:
        return write_note(NoteModels(write, check), material, room=room, count_tokens=count, target=target)

    return note
