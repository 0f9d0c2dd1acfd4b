"""A persistent cache of what models read and wrote about a conversation, so that no message is read twice.

A range too long for the model is read in pieces. Each piece is stored by itself, under the ids of all messages up to
its end, the model and the focus, with the number of messages before it: it continues the piece that ended there. When a
branch has grown, its longest cached beginning is reused and only the rest is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event

from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.llm.contract import Model
from forky_core.merge.models.asking import read_with
from forky_core.merge.models.cache_keys import cache_keys
from forky_core.merge.models.note_request import REQUEST
from forky_core.merge.models.reading import ClaimReading
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.models.written_note import WrittenNote, write_note
from forky_core.merge.note.compose import default_budget
from forky_core.merge.wording import message_as_text
from forky_core.model import Message

PIECE = 24_000
"""The most tokens of a piece; half the window of a model with a smaller one."""


MOST_SO_FAR = 1_200
"""The fewest tokens of the note on a long branch's earlier pieces; its last piece decides which of it is needed."""


@dataclass(frozen=True, slots=True)
class ModelReader:
    """A model that reads messages for one person's plan."""

    session: Session
    name: str
    focus: str
    stop: Event
    afresh: bool = False
    """Whether to ignore the cache."""
    heard: Callable[[Sequence[Message]], Sequence[Message]] = tuple
    """Prepares messages for the model; for a summary it attributes the content of merges to their original messages."""

    def read(self, turns: Sequence[Message], keys: Sequence[str] = ()) -> ClaimReading:
        """The claims that the model finds in these messages, in their order.

        Raises:
            ReadingFailed: an answer failed a check, and so did the mended one. What was read before it is kept.
            ModelError: the model did not answer, or was stopped.
            NotFound: the model is gone.
        """
        model = self.session.models.model(self.name)
        places = cache_keys((turn.id for turn in turns), self.name, self.focus)
        reading, start = (ClaimReading(), 0) if self.afresh else self._known(places)
        for piece in _pieces(turns[start:], model):
            used = tuple(dict.fromkeys((*keys, *(claim.key for claim in reading.claims if claim.key))))
            more = self._read(model, self.heard(piece), used)
            end = start + len(piece)
            self.session.store.keep_derived(self.session.id, {places[end - 1]: _stored(more, start)})
            reading, start = reading + more, end
        return reading

    def _read(self, model: Model, shown: Sequence[Message], keys: Sequence[str]) -> ClaimReading:
        if not shown:
            return ClaimReading()
        return read_with(
            lambda prompt: ask_once(self.session, self.name, prompt, stop=self.stop),
            shown,
            focus=self.focus,
            budget=default_budget(sum(model.count_tokens(message_as_text(turn)) for turn in shown)),
            keys=keys,
        )

    def _known(self, places: Sequence[str]) -> tuple[ClaimReading, int]:
        """The cached reading of the longest beginning, and its length."""
        kept = self.session.store.derived(self.session.id, places)
        for end in range(len(places), 0, -1):
            pieces = _chain(places, kept, end) if places[end - 1] in kept else None
            if pieces is not None:
                return sum(pieces, ClaimReading()), end
        return ClaimReading(), 0


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
            keys = cache_keys((one.id for one in messages[:end]), f"{REQUEST} {size} {self.name}", self.focus)
            stored = (
                None if self.afresh else self.session.store.derived(self.session.id, keys[-1:]).get(keys[-1])
            )
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
                self.session.store.keep_derived(self.session.id, {keys[-1]: found.to_json()})
            note, start = found, end
        return note if note is not None else WrittenNote(())


def _stored(reading: ClaimReading, start: int) -> str:
    """Encode a piece for the cache: the number of messages before it, and its reading on the next line."""
    return f"{start}\n{reading.to_json()}"


def _chain(places: Sequence[str], kept: Mapping[str, str], end: int) -> Sequence[ClaimReading] | None:
    """The pieces that read the first `end` messages, in order; None if one is missing or unreadable."""
    pieces: list[ClaimReading] = []
    while end:
        start, _, text = kept.get(places[end - 1], "").partition("\n")
        reading = ClaimReading.from_json(text)
        if reading is None or not start.isdecimal() or int(start) >= end:
            return None
        pieces.append(reading)
        end = int(start)
    return pieces[::-1]


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
