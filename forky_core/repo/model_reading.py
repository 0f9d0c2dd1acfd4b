"""A model's readings of a conversation: asked for once, kept beside it, and never for what was read before.

A range is kept under the ids of its messages, the model and the focus. Where a branch has grown, the longest beginning
that was read is taken as it is and only the rest is asked for. A range too long for the model is read in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event

from forky_core.llm.contract import Model
from forky_core.merge.asking import read_with
from forky_core.merge.reading import Reading, reading_key
from forky_core.merge.squash import default_budget
from forky_core.merge.wording import spoken
from forky_core.model import Message
from forky_core.repo.once import ask_once
from forky_core.repo.repo import Repo

PIECE = 24_000
"""Tokens read at a time at most; of a smaller window, half of it."""


@dataclass(frozen=True, slots=True)
class ModelReader:
    """A model that reads for one person's plan."""

    repo: Repo
    name: str
    focus: str
    stop: Event
    afresh: bool = False
    """Read again what was read before."""

    def read(self, turns: Sequence[Message], keys: Sequence[str] = ()) -> Reading:
        """What the model reads in these messages, in their order.

        Raises:
            ReadingFailed: an answer failed a check, and so did the mended one. What was read before it is kept.
            ModelError: the model did not answer, or was stopped.
            NotFound: the model is gone.
        """
        model = self.repo.models.model(self.name)
        reading, start = (Reading(), 0) if self.afresh else self._known(turns)
        for piece in _pieces(turns[start:], model):
            used = tuple(dict.fromkeys((*keys, *(claim.key for claim in reading.claims if claim.key))))
            cost = sum(model.count_tokens(spoken(turn)) for turn in piece)
            more = read_with(
                lambda prompt: ask_once(model, self.name, prompt, stop=self.stop),
                piece,
                focus=self.focus,
                budget=default_budget(cost),
                keys=used,
            )
            reading, start = reading + more, start + len(piece)
            kept = {
                reading_key([turn.id for turn in turns[:start]], self.name, self.focus): reading.to_json()
            }
            self.repo.store.keep_derived(self.repo.id, kept)
        return reading

    def _known(self, turns: Sequence[Message]) -> tuple[Reading, int]:
        """The longest beginning that was read before, and its length."""
        ids = [turn.id for turn in turns]
        keys = {reading_key(ids[:end], self.name, self.focus): end for end in range(1, len(ids) + 1)}
        kept = self.repo.store.derived(self.repo.id, keys)
        for key, end in sorted(keys.items(), key=lambda item: -item[1]):
            reading = Reading.from_json(kept[key]) if key in kept else None
            if reading is not None:
                return reading, end
        return Reading(), 0


def _pieces(turns: Sequence[Message], model: Model) -> Iterator[Sequence[Message]]:
    window = model.info().context_window
    most = min(PIECE, window // 2) if window else PIECE
    piece: list[Message] = []
    spent = 0
    for turn in turns:
        cost = model.count_tokens(spoken(turn))
        if piece and spent + cost > most:
            yield piece
            piece, spent = [], 0
        piece.append(turn)
        spent += cost
    if piece:
        yield piece
