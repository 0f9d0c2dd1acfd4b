"""A note that a model writes: requested once, judged line by line, repaired once.

Quotations of the branch replace the lines that still fail (quotations.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.llm.contract import ProviderMessage
from forky_core.merge.headings import NOTE
from forky_core.merge.models.checks import CheckName, FailedCheck
from forky_core.merge.models.line_checks.pipeline import judge
from forky_core.merge.models.note_answer import NoteLine, read_note
from forky_core.merge.models.note_request import Limit, note_request, repair_request
from forky_core.merge.models.numbers import numbers
from forky_core.merge.models.quotations import with_quotations
from forky_core.merge.models.transcript import Transcript, numbered
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError, ModelError
from forky_core.model.parts import canonical_json
from forky_core.retrieval.words import terms

Ask = Callable[[tuple[ProviderMessage, ...]], str]
"""Sends messages to the chosen model and returns its whole answer; raises ModelError if there is none."""

TOO_LONG = 1.25
"""The factor over its limit from which on a note is requested again, shorter."""
_ALIKE = 0.5
"""The share of common words from which on a line counts as the repaired form of another."""
_WHOLE = 0.7
"""The share of a first answer's lines from which on a repaired note counts as complete."""


class NoteFailed(ForkyError):
    """Neither a model's note nor its repaired one has a line that stands."""

    def __init__(self, failed: Sequence[FailedCheck], answer: str) -> None:
        super().__init__("The model's note cannot be used.", " ".join(one.sentence for one in failed[:6]))
        self.failed = tuple(failed)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """The usable part of a model's answers."""

    lines: tuple[NoteLine, ...]
    """In the order of the sections; a failed line of the model is replaced by a quotation of the branch."""
    failed: tuple[FailedCheck, ...] = ()
    """Lines that do not stand, each with the reason."""
    answer: str = ""
    """The last answer, unchanged."""

    def to_json(self) -> str:
        return canonical_json(
            {
                "lines": [[one.section, one.text, list(one.cites), one.quoted] for one in self.lines],
                "failed": [[one.check, one.sentence, one.entry or 0, one.shown] for one in self.failed],
                "answer": self.answer,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> WrittenNote | None:
        """Parse what `to_json` wrote; return None for anything else."""
        try:
            entry = json.loads(text)
            lines = tuple(
                NoteLine(number, section, said, tuple(map(MessageId, cites)), quoted=quoted)
                for number, (section, said, cites, quoted) in enumerate(entry["lines"], 1)
            )
            failed = tuple(
                FailedCheck(check, said, at or None, shown) for check, said, at, shown in entry["failed"]
            )
            return cls(lines, failed, entry["answer"])
        except (ValueError, KeyError, TypeError):
            return None

    def shown(self, ids: Mapping[str, MessageId]) -> str:
        """Return the note as a model is shown it again, with the short ids of its request."""
        marks = {id: mark for mark, id in ids.items()}
        rows: list[str] = []
        for section in NOTE:
            mine = [line for line in self.lines if line.section == section]
            rows += [section] if mine else []
            rows += [
                f"- {line.text} {' '.join(f'[{marks[id]}]' for id in line.cites if id in marks)}"
                for line in mine
            ]
        return "\n".join(rows)


def write_note(
    ask: Ask,
    transcript: Transcript,
    *,
    room: int,
    count_tokens: Callable[[str], int],
    focus: str = "",
    target: Sequence[Message] = (),
    so_far: WrittenNote | None = None,
    start: int = 0,
) -> WrittenNote:
    """Return the note that a model writes about a branch, in about `room` tokens.

    `target` are messages that the reader knows. For a long branch, `so_far` is the note of the messages before number
    `start`, and the result is the note of all.

    Raises:
        NoteFailed: no line of the answer stands, nor of the repaired one.
        ModelError: from `ask`.
    """
    ids = numbered(transcript.messages)
    limit = Limit.of(room, transcript, count_tokens)
    known = so_far.shown(ids) if so_far is not None else ""
    asked = note_request(transcript, limit, focus=focus, target=target, so_far=known, start=start)
    answer = ask(asked)
    first = _Judged.of(answer, ids, transcript)
    mendable = [one for one in first.failed if one.check != "repeat"]
    too_long = _too_long(first.stands, limit)
    if not mendable and not too_long:
        return _written(first.stands, first.failed, (first,), answer, transcript)
    try:
        mended = ask(repair_request(asked, answer, mendable, too_long))
    except ModelError as error:
        if error.failure.kind == "stopped" or not first.stands:
            raise
        return _written(first.stands, first.failed, (first,), answer, transcript)
    second = _Judged.of(mended, ids, transcript)
    lines = _joined(first.stands, second.stands)
    kept = answer if second.no_note else mended
    if not lines:
        raise NoteFailed(first.failed or second.failed, answer if first.no_note else kept)
    return _written(
        lines, _dropped(first.failed, second.failed, first.stands, lines), (first, second), kept, transcript
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """One answer of the model: its lines, and which of them stand."""

    lines: tuple[NoteLine, ...]
    stands: tuple[NoteLine, ...]
    failed: tuple[FailedCheck, ...]
    no_note: bool

    @classmethod
    def of(cls, answer: str, ids: Mapping[str, MessageId], transcript: Transcript) -> _Judged:
        lines, wrong = read_note(answer, ids)
        if wrong is not None:
            return cls((), (), (wrong,), True)
        found = judge(lines, transcript)
        return cls(lines, found.lines, found.failed, False)

    def line_of(self, failed: FailedCheck) -> NoteLine | None:
        """Return the line that failed."""
        return next(
            (one for one in self.lines if (one.number, one.text) == (failed.entry, failed.shown)), None
        )


def _written(
    lines: Sequence[NoteLine],
    failed: Sequence[FailedCheck],
    answers: Sequence[_Judged],
    answer: str,
    transcript: Transcript,
) -> WrittenNote:
    """Return the note of the lines that stand, with quotations of the branch in place of the others."""
    dropped: list[tuple[NoteLine, CheckName]] = []
    for one in failed:
        line = next((found for judged in answers if (found := judged.line_of(one)) is not None), None)
        if line is not None:
            dropped.append((line, one.check))
    return WrittenNote(_ordered(with_quotations(_ordered(lines), dropped, transcript)), tuple(failed), answer)


def _too_long(lines: Sequence[NoteLine], limit: Limit) -> int:
    """Return by how many words or characters the lines together are too long; 0 for a tolerable excess."""
    text = [line.text for line in lines]
    size = sum(map(len, text)) if limit.unit == "characters" else sum(len(one.split()) for one in text)
    return size - limit.count if size > TOO_LONG * limit.count else 0


def _joined(first: Sequence[NoteLine], second: Sequence[NoteLine]) -> tuple[NoteLine, ...]:
    """Return a repaired note; if it has little but the repaired lines, together with the earlier lines that stood."""
    if not second or not first:
        return tuple(second or first)
    left = [line for line in first if not any(_same_thing(line.text, other.text) for other in second)]
    if len(second) >= _WHOLE * len(first):
        return tuple(second)
    return (*left, *second)


def _dropped(
    first: Sequence[FailedCheck],
    second: Sequence[FailedCheck],
    before_it: Sequence[NoteLine],
    lines: Sequence[NoteLine],
) -> tuple[FailedCheck, ...]:
    """Return the failures for which no repaired line stands."""
    found: dict[str, FailedCheck] = {}
    before = {line.text for line in before_it}
    mending = [line.text for line in lines if line.text not in before]
    for one in (*first, *second):
        mended = one.entry is not None and any(_alike(one.shown, text) for text in mending)
        if not mended and (one.entry is not None or not lines):
            found.setdefault(one.shown.casefold(), one)
    return tuple(found.values())


def _same_thing(text: str, other: str) -> bool:
    return _alike(text, other) and {n.forms for n in numbers(text)} == {n.forms for n in numbers(other)}


def _alike(text: str, other: str) -> bool:
    mine, theirs = frozenset(terms(text)), frozenset(terms(other))
    return len(mine & theirs) >= _ALIKE * max(1, len(mine | theirs))


def _ordered(lines: Sequence[NoteLine]) -> tuple[NoteLine, ...]:
    return tuple(sorted(lines, key=lambda line: NOTE.index(line.section)))
