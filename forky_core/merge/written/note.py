"""A note that a model writes about a branch: asked for, checked by code, verified by a second model, mended once.

The words that land are the writer's. Code strikes out a sentence that is made up, the verifier one that the branch
contradicts; what it finds nowhere is marked, and stays.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from forky_core.merge import headings
from forky_core.merge.written.hard_checks import fault
from forky_core.merge.written.material import MOST_SOURCES, NoteMaterial, plain
from forky_core.merge.written.requests import (
    Limit,
    Refused,
    known_turns,
    note_request,
    repair_request,
)
from forky_core.merge.written.sentences import Span, cut, is_code, spans
from forky_core.merge.written.verifier import Ask, Judged, Verdict, verify
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError, ModelError
from forky_core.model.parts import canonical_json
from forky_core.text.fences import parts
from forky_core.text.sentences import language_of

NOT_CONFIRMED = " (not confirmed)"
"""What stands behind a sentence that the verifier found nowhere, where nobody looks before it is read."""
State = Literal["stands", "unread", "not confirmed", "struck"]
"""Of a sentence: the verifier confirmed it, did not speak of it, found it nowhere; or it is out of what lands."""
TOO_LONG = 1.25
"""The factor over its limit from which on a note is asked for again, shorter."""
VERIFIED_CHARACTERS = 80_000
"""The most of a branch that a verifier is shown: of a longer one, the messages nearest to the sentences."""
_AGAINST: Mapping[Verdict, str] = {
    "contradicted": "The branch says otherwise",
    "out of date": "It was changed later",
    "order": "It passes on what a text asks of its readers",
}
"""Why a sentence is struck out, before the words of the branch."""
_WHOLE = 0.6
"""The share of the first note's sentences that a mended one must have."""
_FENCED = re.compile(r"\A\s*```(?:\w+)?\n((?:(?!\s*```).*\n?)*?)```\s*\Z")
_IDS = re.compile(r"\s*\[m\d{1,4}(?:\s*[,;–-]\s*m?\d{1,4})*\](?=[\s.,;:!?。]|$)")
_CODE_SPAN = re.compile(r"(`[^`\n]*`)")
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am)\s+(?:very\s+)?(?:sorry|afraid|unable)|sorry\b|i\s+(?:can['’]?t|can\s?not|won['’]?t|must\s+decline)|as\s+an?\s+(?:ai|language\s+model)|"
    r"unfortunately,?\s+i\b)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"<<[0-9a-f]{10} ")
_TURN = re.compile(
    r"^\W*(?:user|assistant|system|human|tool)\W*[:：]\s*(\S.+)$", re.IGNORECASE | re.MULTILINE
)
_SHORTEST = 12
"""Characters of a note; “No.” and “Sure!” are none."""
_REPEATED = 3
"""So often one sentence shows that the writer was stuck."""
_COPIED = 0.8
"""The share of long sentences that stand in the branch word for word, from which on a note is a transcript."""
_LONG = 30
"""Characters of a long sentence."""


class NoteFailed(ForkyError):
    """What a model answered is no note, or nothing of it stands."""

    def __init__(self, problems: Sequence[str], answer: str) -> None:
        super().__init__(" ".join(problems[:6]))
        self.problems = tuple(problems)
        """Why, in sentences."""
        self.answer = answer


@dataclass(frozen=True, slots=True)
class NoteSentence:
    """A sentence of a note, and what is known of it."""

    span: Span
    """Its place in the note's text."""
    sources: tuple[MessageId, ...]
    """The messages that it rests on."""
    state: State
    why: str = ""
    """Why it is struck out, or not confirmed."""
    place: MessageId | None = None
    """The message that speaks against it."""
    words: str = ""
    """What that message says."""


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """What a model wrote, whole, with what became of each sentence."""

    text: str
    sentences: tuple[NoteSentence, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a person should know of how it came about, as sentences."""
    answer: str = ""
    """The last answer, unchanged."""

    def to_json(self) -> str:
        rows = [
            [one.span.start, one.span.end, list(one.sources), one.state, one.why, one.place or "", one.words]
            for one in self.sentences
        ]
        return canonical_json(
            {"text": self.text, "sentences": rows, "remarks": list(self.remarks), "answer": self.answer}
        )

    @classmethod
    def from_json(cls, text: str) -> WrittenNote | None:
        """Parse what `to_json` wrote; return None for anything else."""
        try:
            entry = json.loads(text)
            sentences = tuple(
                NoteSentence(
                    Span(start, end),
                    tuple(map(MessageId, sources)),
                    state,
                    why,
                    MessageId(place) if place else None,
                    words,
                )
                for start, end, sources, state, why, place, words in entry["sentences"]
            )
            return cls(entry["text"], sentences, tuple(entry["remarks"]), entry["answer"])
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class NoteModels:
    """The models that make a note."""

    write: Ask
    """Sends to the writer."""
    check: Ask | None
    """Sends to the verifier; None for a note that nobody is to read, such as that of a part of a long branch."""


def write_note(
    models: NoteModels,
    material: NoteMaterial,
    *,
    room: int,
    count_tokens: Callable[[str], int],
    focus: str = "",
    target: Sequence[Message] = (),
    so_far: str = "",
    start: int = 0,
) -> WrittenNote:
    """Return the note that a model writes about a branch, in about `room` tokens.

    `target` are messages that the reader knows. For a long branch, `so_far` is the note of the messages before number
    `start`.

    Raises:
        NoteFailed: the answer is no note, or nothing of it stands.
        ModelError: the writer did not answer.
    """
    limit = Limit.of(room, material, count_tokens)
    asked = note_request(material, limit, focus=focus, target=target, so_far=so_far, start=start)
    everything = replace(material, known=(*material.known, so_far)) if so_far else material
    judge = _Judge(models.check, material, everything, known_turns(target))
    answer = models.write(asked)
    first = judge.note(answer)
    refused = [Refused(one.span.of(first.text), one.why) for one in first.sentences if one.state == "struck"]
    too_long = _too_long(first.text, limit)
    if refused or too_long:
        try:
            mended = judge.note(
                models.write(repair_request(asked, answer, refused, too_long, limit.unit)), before=first
            )
        except ModelError as error:
            if error.failure.kind == "stopped":
                raise
        except NoteFailed:
            pass
        else:
            if len(mended.sentences) >= _WHOLE * (len(first.sentences) - len(refused)) or too_long:
                first = mended
    if all(one.state == "struck" for one in first.sentences):
        why = dict.fromkeys(one.why for one in first.sentences)
        raise NoteFailed(("No sentence of it stands.", *why), first.answer)
    return _within(_remarked(first, material, verified=models.check is not None), room, count_tokens)


def _remarked(note: WrittenNote, material: NoteMaterial, *, verified: bool) -> WrittenNote:
    """Return the note with what a person should know of it as a whole."""
    remarks = list(note.remarks)
    unread = sum(one.state == "unread" for one in note.sentences)
    if verified and unread:
        remarks.append(f"{unread} of {len(note.sentences)} sentences were not verified.")
    if verified and not any(one.state in ("stands", "unread") for one in note.sentences):
        remarks.append("The verifier confirmed nothing of it.")
    if language_of(note.text) != language_of("\n".join(material.texts.values())):
        remarks.append("It is written in another language than the branch.")
    return replace(note, remarks=tuple(remarks))


@dataclass(frozen=True, slots=True)
class _Judge:
    check: Ask | None
    material: NoteMaterial
    everything: NoteMaterial
    """The same, where what was told of earlier messages counts as said."""
    known: Sequence[tuple[str, str]]

    def note(self, answer: str, before: WrittenNote | None = None) -> WrittenNote:
        """Return an answer as a note whose sentences are judged; those of an earlier one keep what was said of them.

        Raises:
            NoteFailed: the answer is no note.
        """
        text = _text_of(answer)
        found = spans(text)
        said = [one.of(text) for one in found]
        wrong = _no_note(text, said, self.material)
        if wrong:
            raise NoteFailed((wrong,), answer)
        sources = [self.material.sources(one) for one in said]
        faults = [fault(one, self.everything, where) for one, where in zip(said, sources, strict=True)]
        earlier = {one.span.of(before.text): one for one in before.sentences} if before is not None else {}
        open_ones = [at for at, one in enumerate(said) if not faults[at] and one not in earlier]
        asked = [said[at] for at in open_ones]
        near = self.material.near(asked, VERIFIED_CHARACTERS) if self.check is not None else None
        judged, remarks = self._verified(asked, text, near)
        verdicts = {at: judged[number] for number, at in enumerate(open_ones) if number in judged}
        ids = [message.id for message in self.material.messages]
        unseen = frozenset(id for at, id in enumerate(ids) if near is not None and at not in near)
        sentences = tuple(
            replace(earlier[one], span=span)
            if one in earlier
            else _judged(span, sources[at], faults[at], verdicts.get(at), unseen)
            for at, (one, span) in enumerate(zip(said, found, strict=True))
        )
        said_before = before.remarks if before is not None else ()
        return WrittenNote(text, sentences, tuple(dict.fromkeys((*said_before, *remarks))), answer)

    def _verified(
        self, sentences: Sequence[str], text: str, near: frozenset[int] | None
    ) -> tuple[Mapping[int, Judged], tuple[str, ...]]:
        if self.check is None:
            return {}, ()
        try:
            judged = verify(self.check, sentences, self.material, note=text, known=self.known, only=near)
        except ForkyError as error:
            if isinstance(error, ModelError) and error.failure.kind == "stopped":
                raise
            return {}, (f"Nobody verified it: {error}",)
        return judged, ()


def _judged(
    span: Span,
    sources: tuple[MessageId, ...],
    wrong: str,
    judged: Judged | None,
    unseen: frozenset[MessageId],
) -> NoteSentence:
    """Return a sentence with what is known of it; `unseen` are the messages that the verifier was not shown."""
    if wrong:
        return NoteSentence(span, sources, "struck", wrong)
    if judged is None:
        return NoteSentence(span, sources, "unread")
    if judged.verdict == "supported":
        found = sources
        if judged.message is not None and judged.message not in sources:
            found = (*sources[: MOST_SOURCES - 1], judged.message)
        return NoteSentence(span, found, "stands")
    if judged.verdict == "not shown" and not unseen.isdisjoint(sources):
        return NoteSentence(
            span, sources, "unread", "The branch was too long for the verifier to read all of it."
        )
    if judged.verdict == "not shown":
        where = "what was read of the branch" if unseen else "the branch"
        return NoteSentence(span, sources, "not confirmed", f"Nothing in {where} was found that says it.")
    why = f"{_AGAINST[judged.verdict]}: “{judged.words}”."
    return NoteSentence(span, sources, "struck", why, judged.message, judged.words)


def with_doubt(sentence: str, state: State) -> str:
    """Return a sentence for readers who see no marks: one that was not confirmed says so itself. Code and the rows of
    tables stay as they are.
    """
    if state != "not confirmed" or sentence.startswith("|") or is_code(sentence):
        return sentence
    bare = sentence.rstrip(".!?。！？")
    return f"{bare}{NOT_CONFIRMED}{sentence[len(bare) :]}"


def without(note: WrittenNote) -> str:
    """Return the text of a note without what is struck out; a heading or an item that is left empty goes, too."""
    return cut(note.text, [one.span for one in note.sentences if one.state == "struck"])


def _text_of(answer: str) -> str:
    """Return an answer without a fence around it, without ids, which nobody asked for, and without lines that look like
    Forky's own above a section of a payload.
    """
    answer = answer.replace("\r\n", "\n").replace("\r", "\n")
    fenced = _FENCED.match(answer)
    rows: list[str] = []
    for written, part in parts((fenced[1] if fenced else answer).strip().split("\n")):
        line = written
        if part == "prose":
            pieces = _CODE_SPAN.split(written)
            line = "".join(piece if at % 2 else _IDS.sub("", piece) for at, piece in enumerate(pieces))
        if headings.is_heading(line):
            line = f"**{line.removesuffix(':')}**"
        rows.append(f" {line}" if line.startswith("[Merged ") else line)
    return "\n".join(rows).strip()


def _no_note(text: str, sentences: Sequence[str], material: NoteMaterial) -> str:
    """Return why an answer is no note, as a sentence; "" if it is one."""
    if not sentences or len(text) < _SHORTEST:
        return "The model answered nothing that tells of the branch."
    if _REFUSAL.match(text):
        return "The model refused to sum it up."
    if text[0] in "{[" and _is_json(text):
        return "The model answered with JSON instead of a note."
    if max(Counter(sentences).values()) >= max(_REPEATED, len(sentences) / 2):
        return "The model said the same sentence again and again."
    long = [one for one in sentences if len(one) >= _LONG]
    copied = sum(plain(one) in material.plain for one in long)
    given = [found[1] for found in _TURN.finditer(text) if plain(found[1]) in material.plain]
    turns = len(given) >= _REPEATED or _FENCE.search(text) is not None
    if turns or (len(long) >= _REPEATED and copied > _COPIED * len(long)):
        return "The model gave the conversation back instead of a note about it."
    return ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _too_long(text: str, limit: Limit) -> int:
    """Return by how many words or characters a text is too long; 0 for a tolerable excess."""
    size = len(text) if limit.unit == "characters" else len(text.split())
    return size - limit.count if size > TOO_LONG * limit.count else 0


def _within(note: WrittenNote, room: int, count_tokens: Callable[[str], int]) -> WrittenNote:
    """Return the note with its last sentences struck out where it is far over its room."""

    def struck(kept: int) -> WrittenNote:
        last = (
            one if one.state == "struck" else replace(one, state="struck", why="There was no room for it.")
            for one in note.sentences[kept:]
        )
        return replace(note, sentences=(*note.sentences[:kept], *last))

    def fits(kept: int) -> bool:
        return count_tokens(without(struck(kept))) <= TOO_LONG * max(room, 1)

    count = len(note.sentences)
    if fits(count):
        return note
    return struck(max(1, bisect_left(range(count), True, key=lambda kept: not fits(kept)) - 1))
