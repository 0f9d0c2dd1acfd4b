"""Splits messages into pieces that say one thing each, with their subject, and whether they stand.

The subject of a piece is not always in it: the question before names it ("which port?" – "8080."), or the sentence
before. So every piece has the words of its surroundings beside its own, weighted by distance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from forky_core.merge.claims.cues import (
    AXES,
    CHANGE,
    DECIDES,
    KEEPS,
    LATER,
    NO,
    NOW,
    PAST,
    SUGGESTED,
    SUPPOSED,
    UNMOVED,
    WHICH,
    YES,
    denials,
    measures,
    scopes,
)
from forky_core.merge.claims.quantities import Quantity, quantities
from forky_core.merge.claims.word_keys import ATTRIBUTES, word_key, word_keys  # fmt: skip
from forky_core.merge.note.passages import NotePassage, passages
from forky_core.model import Message
from forky_core.retrieval.cues import is_question

Standing = Literal["stands", "past", "later", "open"]

OWN, SENTENCE, ASKED, BEFORE, FAR = 1.0, 0.7, 0.8, 0.5, 0.3
"""The weight of a word for the subject of a clause: in the clause, in its sentence, in the question it answers, before
it."""
_CLAUSE = re.compile(
    r"(?<=[;；])\s*|(?<=\w:)\s+(?=\S+\s\S+\s\S)|\s+[–—-]{1,2}\s+|,\s+(?=(?:and|but|so|because|since|or|und|aber|denn|weil|heute|jetzt|nun|today|now|hoy|ahora|aujourd['’]hui|also|et|mais|donc|car|y|pero|"
    r"porque|pues|while|although)\s)|(?<=[，])"
)
_ASKS = re.compile(
    r"^\W*(?:(?:ok|okay|so|and|but|hi|hey|und|also|et|y|btw|next)[\s,:]+){0,2}(?:who|whom|whose|which|where|when|what|why|how|is|are|was|were|do|does|did|can|could|may|should|shall|"
    r"will|would|has|have|wer|wem|wann|wo|wie|was|welche\w*|warum|ist|sind|darf|dürfen|kann|können|muss|müssen|soll|hat|haben|"
    r"qui|que|quel\w*|quand|où|comment|combien|pourquoi|est-ce|peut-on|"
    r"quién|qué|cuál\w*|cuándo|dónde|cómo|cuánt\w+)\b",
    re.IGNORECASE,
)
_ASKS_HAN = re.compile("[吗？]|(?<!着)呢$|么$|什么|怎么|多少|(?<!好)几|谁|哪")
_ANSWER = re.compile(r"^\W*(?:\w+[,，.:;!]|不，|没有，)\s*")
_SHORT = 80
_CUT = re.compile(r"(?:^|\s)(?:\d{1,2}|[A-ZÀ-Þ])\.$")
_BRIEF = 90
_ANSWERING = 2
"""How many passages of an answer, after its first, may still answer the question."""
_LEAST_CLAUSE = 9
"""Bytes: three Chinese characters, two short words of English."""
_FAR_TURNS = 4
_FAR_WORDS = 200
_HEAD = re.compile(
    r"^\W*(?i:(?:and|so|then|but|now|today|und|dann|et|y|heute|aujourd['’]hui|hoy)\W+)?(?i:(?:the|our|my|your|its|a|an|every|each|all|der|die|das|"
    r"unser\w*|mein\w*|ein|eine|le|la|les|notre|nos|mon|ma|un|une|el|los|las|nuestr\w+|mi)\s+|l['’])(?P<noun>[^\W\d_][\w-]*)"
    r"|^(?P<plural>[A-Z][a-z-]{2,})\s+(?=[a-z])"
)
_REASON = re.compile(
    r"^\W*(?:and\s+|so\s+)?(?:since|because|as|weil|da|denn|car|parce\s+que|puisque|porque|ya\s+que|因为|由于)\b|"
    r"\b(?:instead\s+of|rather\s+than|collid\w*|taken|occupied|blocked|gave\s+up|statt|anstelle|belegt|besetzt|blockiert|au\s+lieu|occupée?|"
    r"en\s+lugar|en\s+vez|ocupad[oa])\b|被|占|代替",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"^(?:/\w+(?:\s|$)|[$>]\s)")
_LETS = re.compile(r"^\W*(?:\w+[\s,:–—-]+){0,2}?(?:let me|let['’]?s (?:try|see|check|look))\b", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|then|next|first|so|and|good|great|right)[\s,:–—-]+){0,2}(?:i['’]ll|i will|i['’]m going to|"
    r"(?:running|implementing|checking|updating|reading|looking|adding|removing|fixing)\b|ich werde|lass mich|je vais|voy a)\b",
    re.IGNORECASE,
)
NUMERAL = re.compile(r"^\W*\d{1,5}(?:[.):]+(?=[\s*])|\s?[→│|]|\t)")
_SETS = re.compile(r"[=:`]")
_LISTS = re.compile(r"[,，、]")
_MARKS = re.compile(r"[`\"“„«「]|\w-\w+-\d|_\w*\d")
_LABELLED = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s*[^\n:：–—]{2,40}(?::\s|：|\s[–—-]\s)\s*[^\n]{2,30}$")
"""A row of a list that names something and what it is: “2. The route – J. Kouassi”."""
_NAME_FIRST = re.compile(
    r"^[\"“«`]?(?:(?:Dr|Mr|Ms|Mrs|Frau|Herr|M|Mme)\.?\s+)?[A-ZÀ-Þ][\w.-]+(?:\s+[A-ZÀ-Þ][\w-]+)*[\"”»`]?(?:[,.;:]|$|\s+it\s+is)"
)


@dataclass(slots=True)
class Clause:
    """A clause of a message with its surroundings."""

    at: int
    """Its index on its side."""
    turn: int
    passage: NotePassage
    speaker: str
    text: str
    """Exactly as it stands in the message."""
    standing: Standing
    own: frozenset[str]
    """Keys of its own words."""
    about: Mapping[str, float]
    """The keys of its words and of those around it, with the weight of each."""
    scopes: frozenset[str]
    close: Mapping[str, float] = field(default_factory=dict)
    """Those of these keys that are no turns away."""
    far: frozenset[str] = frozenset()
    """The words of the turns around it."""
    measures: frozenset[str] = frozenset()
    """What its amounts apply to: one, all, with or without tax."""
    quantities: tuple[Quantity, ...] = ()
    sign: int = 1
    """-1 if it denies."""
    axes: Mapping[str, int] = field(default_factory=dict)
    head: str = ""
    """The key of the first word of its subject, if it has one."""
    answers: bool = False
    """Whether it begins an answer to a question."""
    question: str = ""
    """The question that it may answer."""
    asked: frozenset[str] = frozenset()
    decides: bool = False
    changes: bool = False
    keeps: bool = False
    sets: bool = False
    """Whether it may assign values to keys."""
    lists: bool = False
    """Whether it may list things."""
    marks: bool = False
    """Whether it may have a name in code or quotation marks."""
    reason: bool = False
    """Whether it only gives a reason, or names what is replaced."""
    whole: bool = False
    """Whether it answers yes or no."""
    brief: bool = False
    """Whether it is a short clause of prose without a value, which may be compared word by word."""


def pieces(messages: Sequence[Message], *, before: Message | None = None) -> list[Clause]:
    """Return the clauses of the messages in order. Questions are not clauses; they give their words to their answers.

    The message `before` gives its words likewise, and its own clauses are left out.
    """
    if before is not None:
        messages = (before, *messages)
    reader = _ClauseReader({message.id: message.name or message.role for message in messages})
    every = list(_rejoined(passages([message for message in messages if not message.hidden])))
    reader.far = _far(every)
    for passage in every:
        reader.read(passage)
    if before is not None:
        return [piece for piece in reader.found if piece.passage.message != before.id]
    return reader.found


def _rejoined(every: Sequence[NotePassage]) -> Iterator[NotePassage]:
    """Join passages again that were split after a numeral or an initial: “am 3. | Mai”, “J. | Roe”."""
    held: NotePassage | None = None
    for passage in every:
        if (
            held is not None
            and _CUT.search(held.text)
            and (held.message, held.row) == (passage.message, passage.row)
        ):
            start = held.whole_row.find(held.text)
            end = held.whole_row.find(passage.text, start + len(held.text)) + len(passage.text)
            held = replace(held, text=held.whole_row[start:end])
            continue
        if held is not None:
            yield held
        held = passage
    if held is not None:
        yield held


@dataclass(slots=True)
class _ClauseReader:
    """Reads passages one by one, with the question and the passage before each."""

    speakers: Mapping[str, str]
    far: Mapping[int, frozenset[str]] = field(default_factory=dict)
    found: list[Clause] = field(default_factory=list)
    question: str = ""
    asked_in: int = -2
    """The turn of the question."""
    before: str = ""
    said_in: int = -1
    """The turn of the previous passage."""
    in_turn: int = 0

    def read(self, passage: NotePassage) -> None:
        text = passage.text
        self.in_turn = self.in_turn + 1 if passage.turn == self.said_in else 0
        if passage.role != "tool" and _is_asking(passage):
            self.question, self.asked_in = text, passage.turn
        else:
            near = passage.turn - self.asked_in in (0, 1) and self.in_turn <= _ANSWERING
            self._clauses(passage, self.question if near else "")
        self.before, self.said_in = text, passage.turn

    def _clauses(self, passage: NotePassage, question: str) -> None:
        text = passage.text
        far = self.far[passage.turn]
        near = self._around(passage, question)
        around = {**dict.fromkeys(far, FAR), **near}
        asked = frozenset(word_keys(question))
        first = self.in_turn == 0 and self.asked_in == passage.turn - 1
        where = scopes(text) or scopes(question)
        supposed = passage.shape == "prose" and SUPPOSED.search(text) is not None
        changes = CHANGE.search(text if passage.shape == "prose" else self.before) is not None
        for number, clause in enumerate(_clauses(passage)):
            values = _without_numeral(clause, quantities(clause)) if number == 0 else quantities(clause)
            own = frozenset(word_keys(without_values(clause, values)))
            answers = first and number == 0
            begins = self.in_turn == 0 and number == 0
            piece = Clause(
                len(self.found),
                passage.turn,
                passage,
                self.speakers[passage.message],
                clause,
                "open" if supposed else _standing(clause, passage, question),
                own,
                {**around, **dict.fromkeys(own, OWN)},
                where,
                {**near, **dict.fromkeys(own, OWN)},
                far,
                measures(text) if values else frozenset(),
                values,
                head=_head(clause) if passage.shape == "prose" else "",
                answers=answers,
                question=question,
                asked=asked,
                decides=DECIDES.search(clause) is not None
                or _LABELLED.match(passage.text) is not None
                or (answers and WHICH.search(question) is not None)
                or (begins and _NAME_FIRST.match(clause) is not None),
                changes=changes,
                keeps=KEEPS.search(clause) is not None,
                sets=_SETS.search(clause) is not None,
                lists=_LISTS.search(clause) is not None,
                marks=_MARKS.search(clause) is not None,
                reason=_REASON.search(clause) is not None,
                brief=passage.shape == "prose" and not values and len(clause) <= _BRIEF and clause[-1] != "!",
            )
            _polarity(piece, question)
            self.found.append(piece)

    def _around(self, passage: NotePassage, question: str) -> dict[str, float]:
        """Return the words near a passage, with their weights for its subject."""
        around: dict[str, float] = {}
        follows = self.said_in == passage.turn or (
            passage.role != "user" and self.said_in == passage.turn - 1
        )
        for worth, text in (
            (BEFORE, self.before if follows else ""),
            (ASKED, question),
            (SENTENCE, passage.text),
        ):
            for key in word_keys(without_values(text, quantities(text))):
                around[key] = max(worth, around.get(key, 0.0))
        return around


def _without_numeral(clause: str, values: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """Return the values of a clause, without the number of a list item or of a line in a file."""
    numeral = NUMERAL.match(clause) if values else None
    return values[1:] if numeral and values[0].end <= numeral.end() else values


def _head(clause: str) -> str:
    match = _HEAD.match(clause)
    if match is None:
        return ""
    word = match["noun"] or match["plural"]
    key = word_key(word)
    return "" if key in ATTRIBUTES or quantities(f"{word} days") != quantities("days") else key


def _far(every: Sequence[NotePassage]) -> dict[int, frozenset[str]]:
    """Return, for each turn, the words of it and of some turns before and after it."""
    said: dict[int, set[str]] = {}
    for passage in every:
        words = said.setdefault(passage.turn, set())
        if len(words) < _FAR_WORDS:
            words.update(word_keys(without_values(passage.text, quantities(passage.text))))
    reach = range(-_FAR_TURNS, _FAR_TURNS + 1)
    return {turn: frozenset().union(*(said.get(turn + step, ()) for step in reach)) for turn in said}


def without_values(text: str, values: Sequence[Quantity]) -> str:
    """Return a text with its values replaced by placeholders: months and units do not name a subject."""
    for value in reversed(values):
        text = text[: value.start] + " ¤ " + text[value.end :]
    return text


def _is_asking(passage: NotePassage) -> bool:
    text = passage.text
    if is_question(text):
        return True
    if passage.role != "user" or len(text) > _SHORT or text.endswith((".", "!", "。")):
        return False
    return _ASKS.match(text) is not None or _ASKS_HAN.search(text) is not None


def _clauses(passage: NotePassage) -> Iterator[str]:
    """Split a passage into clauses; very short ones are joined to the next."""
    text, start = passage.text, 0
    for match in _CLAUSE.finditer(text) if passage.shape == "prose" else ():
        piece = text[start : match.start()].strip()
        if len(piece.encode()) >= _LEAST_CLAUSE:
            yield piece
            start = match.end()
    if rest := text[start:].strip():
        yield rest


def _standing(clause: str, passage: NotePassage, question: str) -> Standing:
    if passage.shape == "removed":
        return "past"
    if passage.shape in ("code", "output", "call"):
        return "stands" if passage.shape != "call" else "open"
    if SUGGESTED.search(clause) or _is_no_statement(clause, question):
        return "open"
    if PAST.search(clause) and not NOW.search(clause):
        return "past"
    if LATER.search(clause) or (LATER.search(question) and not NOW.search(clause)):
        return "later"
    return "stands"


def _is_no_statement(clause: str, question: str) -> bool:
    """Whether a clause only announces a next step, is a command, or is a number that answers nothing."""
    if (
        _COMMAND.match(clause)
        or _LETS.match(clause)
        or (_ANNOUNCES.match(clause) and not DECIDES.search(clause))
    ):
        return True
    return not question and not any(map(str.isalpha, clause))


def _polarity(piece: Clause, question: str) -> None:
    """Set the sign of a clause, and which side of each pair of opposites it takes."""
    if piece.passage.shape in ("code", "call"):
        return
    text = piece.text
    yes, no = YES.search(text) is not None, NO.search(text) is not None
    rest = _ANSWER.sub("", text) if yes or no else text
    denied = denials(rest)
    if UNMOVED.search(rest):
        piece.keeps, denied = True, denied - 1
    piece.sign = -1 if denied % 2 or (no and not denied) else 1
    piece.whole = piece.answers and (yes or no)
    axes: dict[str, int] = {}
    for axis, (affirms, denies) in AXES.items():
        if denies.search(text):
            axes[axis] = -1 if axis == "may" else -piece.sign
        elif affirms.search(text):
            axes[axis] = piece.sign
        elif piece.whole and affirms.search(question):
            axes[axis] = -1 if no else 1
        elif piece.whole and denies.search(question):
            axes[axis] = 1 if no else -1
    piece.axes = axes
