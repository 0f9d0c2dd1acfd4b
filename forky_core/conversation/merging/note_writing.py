"""A persistent cache of the notes that models wrote about a conversation, so that none is paid for twice.

A branch too long for the model is read in pieces, each with the note of the pieces before it. Each note is stored under
the ids of all messages up to its end, the model and the focus; when a branch has grown, the stored ones are reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event

from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.llm.contract import Model
from forky_core.merge.models.note_request import REQUEST
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.models.written_note import WrittenNote, write_note
from forky_core.merge.wording import message_as_text
from forky_core.model import Message
from forky_core.model.hashing import content_hash

PIECE = 24_000
"""The most tokens of a piece; half the window of a model with a smaller one."""


MOST_SO_FAR = 1_200
"""The fewest tokens of the note on a long branch's earlier pieces; its last piece decides which of it is needed."""


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """A model that writes the note of a merge for one person's plan."""

    session: Session
    name: str
    focus: str
    stop: Event
    afresh: bool = False
    """Whether to ignore the cache."""

    def write(
        self,
        transcript: Transcript,
        target: Sequence[Message],
        room: int,
        count_tokens: Callable[[str], int],
    ) -> WrittenNote:
        """The note on a branch, in about `room` tokens. A branch too long for the model is read in pieces.

        Raises:
            NoteFailed: no line that it wrote passed the checks.
            ModelError: the model did not answer, or was stopped.
            NotFound: the model is gone.
        """
        model = self.session.models.model(self.name)
        messages = transcript.messages
        pieces = list(_pieces(messages, model))
        note: WrittenNote | None = None
        start = 0
        for at, piece in enumerate(pieces):
            end = start + len(piece)
            size = room if at == len(pieces) - 1 else max(room, MOST_SO_FAR)
            key = self._key(messages[:end], size)
            stored = None if self.afresh else self.session.store.derived(self.session.id, [key]).get(key)
            found = WrittenNote.from_json(stored) if stored else None
            if found is None:
                found = write_note(
                    lambda prompt: ask_once(self.session, self.name, prompt, stop=self.stop),
                    replace(transcript, messages=messages[:end]),
                    room=size,
                    count_tokens=count_tokens,
                    focus=self.focus,
                    target=target,
                    so_far=note,
                    start=start,
                )
                self.session.store.keep_derived(self.session.id, {key: found.to_json()})
            note, start = found, end
        return note if note is not None else WrittenNote(())

    def _key(self, messages: Sequence[Message], room: int) -> str:
        """Return the key under which the note on these messages is stored."""
        asked = [REQUEST, room, self.name, self.focus.strip(), *(one.id for one in messages)]
        return f"note/{content_hash(asked).removeprefix('b2:')}"


def _pieces(turns: Sequence[Message], model: Model) -> Iterator[Sequence[Message]]:
    window = model.info().context_window
    most = min(PIECE, window // 2) if window else PIECE
    piece: list[Message] = []
    spent = 0
    for turn in turns:
        cost = model.count_tokens(message_as_text(turn))
        if piece and spent + cost > most:
            yield piece
            piece, spent = [], 0
        piece.append(turn)
        spent += cost
    if piece:
        yield piece
