"""A branch analysed for a note: its passages, their speakers, and which of them may not be quoted alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from forky_core.merge.cues import NO
from forky_core.merge.headings import is_heading
from forky_core.merge.note.code_blocks import with_code_blocks
from forky_core.merge.note.coverage import Relevance, distinct, names_sources
from forky_core.merge.note.passages import NotePassage, atoms, is_named, named_atoms, passages, plain_lines
from forky_core.merge.wording import speaker_of
from forky_core.model import Message, MessageId, Role
from forky_core.model.parts import ToolCallPart
from forky_core.retrieval.cues import is_question
from forky_core.retrieval.passages import QUOTES
from forky_core.retrieval.words import terms

RECENCY = 0.8
"""The weight of a model's first lines relative to its last ones: what it said late has seen more."""
NARRATION = 0.35
"""The weight of a model's text that only accompanies the use of a tool."""
REPORT = 600
"""The characters from which on a model's text counts as a report, even if a tool call follows."""
ANNOUNCEMENT = 0.1
"""The weight of the sentence right before a tool call, which announces the call."""
SAME = 0.15
"""The share of a passage's weight that a later passage must share to be about the same subject."""
ALL_THEIRS = 3
"""The most lines of a person's message that all count as their own words."""
COMMON = 6
"""A word in more passages than this, and in more than a twentieth of them, links no two of them by subject."""
SHORT_CODE = 6
"""The most lines of a piece of code that a conclusion may include: a command to run, an error."""
MOST_COMMON = 40
"""The passages from which on a word links no two of them by subject, however many there are."""
REFERS_BACK = re.compile(
    r"\W*(?:(?:and|but|so|yeah|yes|und|aber|et|mais|y|pero)\W+)?(?:(?:it|its|it['’]s|they|their|they['’]re|them|he|she|he['’]s|she['’]s|his|her|this|that|"
    r"that['’]s|these|those|er|sie|das|dies\w*|il|elle|ils|elles|ce|c['’]est|ça|cela|eso|esto|él|ella|ellos)\b|[它他她这那])",
    re.IGNORECASE,
)
"""The beginning of a sentence that refers to the one before."""
_TAKEN_UP = 2
"""The fewest earlier messages whose words a recap repeats."""
_CLEAR = 7
"""The content words from which on an answer is understood without its question."""
_CHATTER = 3
"""The fewest content words of prose without a name or a number that is worth quoting."""
_ITEM = re.compile(r"\s*(?:[-*+•|]|\d+[.)]\s)")
"""The beginning of an item of a list, or of a row of a table."""


@dataclass(frozen=True, slots=True)
class BranchDigest:
    """The analysis of a branch from which the lines of a note are chosen."""

    messages: Sequence[Message]
    passages: Sequence[NotePassage]
    """The passages that may be quoted: each line and sentence once, and none that the target has."""
    relevance: Relevance
    speakers: Mapping[MessageId, str]
    """The author's name for each message, or its role."""
    talk: bool
    """Whether two or more speakers have names: people talk to each other, and no answer concludes anything."""
    narrating: frozenset[int]
    """Indices of messages before a tool call: they say what the model is about to do."""
    announced: frozenset[int]
    """Indices of passages right before a tool call, which announce it."""
    _by_turn: Mapping[int, Sequence[int]]
    _holding: Mapping[str, Sequence[int]]
    _lead_ins: Mapping[int, int]
    """For each passage, the line ending in a colon above the list or the code that it belongs to."""
    _sources: Mapping[int, int]
    """For each message, its SOURCES line."""
    _remembered: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, messages: Sequence[Message], target_texts: Sequence[str], focus: str = "") -> BranchDigest:
        """Analyse the messages for a reader who knows `target_texts` and asks for `focus`."""
        known = plain_lines(target_texts)
        # An offline model answers by quoting: without the quotation, the question would stand there without an answer.
        offline = {message.id for message in messages if message.text.startswith(QUOTES)}
        found = [
            one
            for one in distinct(passages(messages), known, repeats=offline)
            if not is_heading(one.text)
            and (any(map(str.isalpha, one.text)) or one.text == messages[one.turn].text.strip())
        ]
        named = {message.name for message in messages if message.name and message.role != "tool"}
        # Up to here the text that an edit removes separates the blocks of code around it.
        found = [one for one in with_code_blocks(found, messages) if one.shape != "removed"]
        narrating = frozenset(turn for turn in range(len(messages)) if _narrates(messages, turn))
        by_turn: dict[int, list[int]] = {}
        for at, one in enumerate(found):
            by_turn.setdefault(one.turn, []).append(at)
        talk = len(named) > 1
        relevance = Relevance.of(found, (*target_texts, *named), focus)
        announced = frozenset(_last_prose(by_turn.get(turn, ()), found) for turn in narrating)
        if not talk:
            for at, one in enumerate(found):
                if one.role == "assistant":
                    share = 1 - RECENCY * (1 - one.turn / max(1, len(messages) - 1))
                    if one.turn in narrating and one.shape in ("prose", "code"):
                        share *= ANNOUNCEMENT if at in announced else NARRATION
                    relevance.scale(at, share)
        return cls(
            messages,
            found,
            relevance,
            {message.id: speaker_of(message) for message in messages},
            talk,
            narrating,
            announced,
            by_turn,
            _holding(found, relevance),
            {at: lead for mine in by_turn.values() for at, lead in _lead_ins(mine, found)},
            {one.turn: at for at, one in enumerate(found) if names_sources(one)},
        )

    def of_turn(self, turn: int) -> Sequence[int]:
        """Return the indices of a message's passages."""
        return self._by_turn.get(turn, ())

    def said_by(self, role: Role) -> list[int]:
        """Return the indices of the messages of a role."""
        return [turn for turn, message in enumerate(self.messages) if message.role == role]

    def prose_of(self, turn: int) -> list[int]:
        """Return the indices of a message's sentences."""
        return [at for at in self.of_turn(turn) if self.passages[at].shape == "prose"]

    def blocks(self, turn: int, *, apart: bool = False) -> list[list[int]]:
        """Return an answer's sentences, headings and short pieces of code, by paragraphs.

        What stands below a lead-in line, or below a heading, belongs to that line's block; with `apart`, the sentence
        after a list or code does not, since it may be what all of that comes to.
        """
        found: list[list[int]] = []
        for at in self._readable(turn):
            concludes = apart and bool(found) and self._follows_list(found[-1][-1], at)
            led = found and (self._lead_ins.get(at) in found[-1] or self._goes_on(found[-1][-1], at))
            if led and not concludes:
                found[-1].append(at)
            else:
                found.append([at])
        return found

    def _goes_on(self, before: int, at: int) -> bool:
        """Whether a passage belongs to the one above: to its heading, its lead-in or its paragraph."""
        above = self.passages[before]
        return above.shape == "heading" or leads_in(above) or above.row == self.passages[at].row

    def _follows_list(self, before: int, at: int) -> bool:
        """Whether a sentence stands on a line of its own below an item of a list, or code."""
        above, one = self.passages[before], self.passages[at]
        listed = above.shape == "code" or _begins_item(above.whole_row)
        return listed and one.shape == "prose" and not _begins_item(one.whole_row) and above.row != one.row

    def _readable(self, turn: int) -> list[int]:
        found: list[int] = []
        for shape, run in groupby(self.of_turn(turn), key=lambda at: self.passages[at].shape):
            mine = list(run)
            lines = sum(self.passages[at].text.count("\n") + 1 for at in mine)
            if shape in ("prose", "heading") or (shape == "code" and lines <= SHORT_CODE):
                found += mine
        return found

    def length(self, turn: int) -> int:
        """Return the characters in the sentences of a message."""
        return sum(len(self.passages[at].text) for at in self.prose_of(turn))

    def names_in(self, at: int) -> int:
        """Count the names with letters in a passage: of a file, a commit, a function."""
        return sum(any(map(str.isalpha, atom)) for atom in named_atoms(self.passages[at].text))

    def reports(self, turn: int) -> bool:
        """Whether a message says what came of tools' work: it follows their output, and no further call follows it."""
        return turn not in self.narrating and turn > 0 and self.messages[turn - 1].role == "tool"

    def is_item(self, at: int) -> bool:
        """Whether a passage is an item of a list, or a row of a table."""
        return _begins_item(self.passages[at].whole_row)

    def is_command(self, turn: int) -> bool:
        """Whether a message consists of nothing but commands to a program: its lines begin with a slash."""
        return all(line.lstrip().startswith("/") for line in self.messages[turn].text.strip().splitlines())

    def says_something(self, at: int) -> bool:
        """Whether a person's sentence has a content word."""
        return bool(terms(self.passages[at].text))

    def recap(self) -> int | None:
        """Return the sentence of the later half that repeats most of earlier messages, as a summary of the branch does.

        Returns None if no sentence repeats words of two earlier messages.
        """
        said: dict[str, tuple[int, ...]] = {}
        best, most = None, 0.0
        last = max(1, len(self.messages) - 1)
        for at, one in enumerate(self.passages):
            if one.shape not in ("prose", "code"):
                continue
            words = self.relevance.words[at]
            if one.shape == "prose" and one.turn * 2 >= last and not is_question(one.text):
                earlier = {
                    word: [turn for turn in said[word] if turn != one.turn] for word in words if word in said
                }
                if len({turn for turns in earlier.values() for turn in turns}) >= _TAKEN_UP:
                    worth = sum(words[word] * len(turns) for word, turns in earlier.items())
                    worth *= 1 + one.turn / last
                    if worth > most:
                        best, most = at, worth
            for word in words:
                turns = said.get(word, ())
                if len(turns) < _TAKEN_UP and one.turn not in turns:
                    said[word] = (*turns, one.turn)
        return best

    def own_words(self, turn: int) -> list[int]:
        """Return the sentences of a person's message that are surely their own: the rest may be pasted from elsewhere.

        All of a short message; of a longer one the first and the last line, or the first alone if it leads in what
        follows.
        """
        mine = [at for at in self.of_turn(turn) if self.passages[at].shape in ("prose", "heading")]
        rows = sorted({self.passages[at].row for at in mine})
        if not rows:
            return list(self.of_turn(turn))[:1]
        last_of_first = max(at for at in mine if self.passages[at].row == rows[0])
        if leads_in(self.passages[last_of_first]):
            own = rows[:1]
        else:
            own = rows if len(rows) <= ALL_THEIRS else [rows[0], rows[-1]]
        return [at for at in mine if self.passages[at].row in own]

    def pasted(self, turn: int) -> list[int]:
        """Return the sentences of a person's message that may be pasted; none for any other message."""
        if self.messages[turn].role != "user":
            return []
        own = frozenset(self.own_words(turn))
        return [at for at in self.prose_of(turn) if at not in own]

    def is_chatter(self, at: int) -> bool:
        """Whether a sentence has next to no content: a greeting, a word of thanks, "let me look"."""
        one = self.passages[at]
        if one.shape != "prose" or any(is_named(atom) or atom.isdigit() for atom in atoms(one.text)):
            return False
        return len(set(terms(one.text))) < _CHATTER

    def not_alone(self, at: int) -> list[int]:
        """Return the passages without which this one would be misread, and the ones those need in turn.

        They are the lead-in of its list, the person's reply to it, and the last passage about the same subject. So if
        two statements differ, the later one is never missing.
        """
        found: list[int] = []
        ends = [at]
        while ends:
            for one in self._beside(ends.pop()):
                if one != at and one not in found:
                    found.append(one)
                    ends.append(one)
        return found

    def in_context(self, at: int) -> list[int]:
        """Return, for talk between people, the passages needed to understand a sentence: its question, what “it” refers
        to, a no to it.
        """
        found = self.with_sources(at)
        one = self.passages[at]
        mine = self.of_turn(one.turn)
        first = at == mine[0]
        before = at - 1 if not first else self._last_of_turn_before(one.turn)
        if before is not None and before != at:
            answers = first and is_question(self.passages[before].text)
            short = len(set(terms(one.text))) < _CLEAR
            if (answers and short) or (
                REFERS_BACK.match(one.text) and not (first and self.is_chatter(before))
            ):
                found.append(before)
        if at == mine[-1]:
            found += self._denial_in(one.turn + 1)
        return [other for other in found if other != at]

    def _denial_in(self, turn: int) -> list[int]:
        """Return the first sentence of a message if it begins with a no."""
        mine = self.prose_of(turn)[:1]
        return [at for at in mine if NO.search(self.passages[at].text)]

    def _last_of_turn_before(self, turn: int) -> int | None:
        mine = self.prose_of(turn - 1) if turn else []
        return mine[-1] if mine else None

    def with_sources(self, at: int) -> list[int]:
        """Return the SOURCES line for the citations in a passage, if its message has one."""
        sources = self._sources.get(self.passages[at].turn)
        return [] if sources is None or sources == at else [sources]

    def _beside(self, at: int) -> list[int]:
        if at not in self._remembered:
            self._remembered[at] = self._found_beside(at)
        return self._remembered[at]

    def _found_beside(self, at: int) -> list[int]:
        found = (
            self._lead_ins.get(at),
            *self.reply_to(at)[:1],
            self.last_word_on(at),
            *self.with_sources(at),
        )
        return [one for one in dict.fromkeys(found) if one is not None]

    def dangling(self, chosen: Collection[int]) -> set[int]:
        """Return the chosen headings and lead-ins of an answer below which nothing of theirs is chosen."""
        found: set[int] = set()
        leading = {
            self._lead_ins[at]
            for at in chosen
            if at in self._lead_ins and not _only_leads_in(self.passages[at])
        }
        for _turn, mine in groupby(sorted(chosen), key=lambda at: self.passages[at].turn):
            below = -1
            for at in sorted(mine, reverse=True):
                one = self.passages[at]
                if one.role != "assistant":
                    continue
                if one.shape == "heading":
                    if below < 0 or any(
                        self.passages[other].shape == "heading" for other in range(at + 1, below)
                    ):
                        found.add(at)
                        continue
                elif _only_leads_in(one) and at not in leading:
                    found.add(at)
                    continue
                below = at
        return found

    def question_before(self, turn: int) -> int | None:
        """Return the person's message that a message answers."""
        return next((at for at in range(turn - 1, -1, -1) if self.messages[at].role == "user"), None)

    def reply_to(self, at: int) -> Sequence[int]:
        """Return the sentences of the person's next message; () for a passage of a person."""
        one = self.passages[at]
        if one.role == "user":
            return ()
        after = range(one.turn + 1, len(self.messages))
        following = next((turn for turn in after if self.messages[turn].role == "user"), None)
        return () if following is None else self.prose_of(following)

    def last_word_on(self, at: int) -> int | None:
        """Return the last passage of a later message about the same subject: if the two differ, it is the one that
        holds.
        """
        words = self.relevance.words[at]
        enough = SAME * (sum(worth for word, worth in words.items() if not word.startswith("=")) or 1.0)
        held = [(worth, self._holding[word]) for word, worth in words.items() if word in self._holding]
        # A single word with enough weight leaves only passages below its last one to search.
        alone = max((places[-1] for worth, places in held if worth >= enough), default=-1)
        last = self.of_turn(self.passages[at].turn)[-1]
        end = max(alone, last)
        shared: dict[int, float] = {}
        for worth, places in held:
            for other in reversed(places):
                if other <= end:
                    break
                shared[other] = shared.get(other, 0.0) + worth
        found = max((other for other, worth in shared.items() if worth >= enough), default=alone)
        return found if found > last else None


def leads_in(one: NotePassage) -> bool:
    """Whether a line only introduces what follows it."""
    return one.text.rstrip("*_ ").endswith((":", "："))


def _only_leads_in(one: NotePassage) -> bool:
    """Whether a line introduces others and is no item of a list itself."""
    return leads_in(one) and not _begins_item(one.text)


def _begins_item(text: str) -> bool:
    return _ITEM.match(text) is not None


def _narrates(messages: Sequence[Message], turn: int) -> bool:
    """Whether a model only says what it is about to do: a short text with a tool call in it or right after it."""
    if messages[turn].role != "assistant" or len(messages[turn].text) > REPORT:
        return False
    near = (part for message in messages[turn : turn + 2] for part in message.parts)
    return any(isinstance(part, ToolCallPart) for part in near)


def _last_prose(mine: Sequence[int], found: Sequence[NotePassage]) -> int:
    return max((at for at in mine if found[at].shape == "prose"), default=-1)


def _holding(found: Sequence[NotePassage], relevance: Relevance) -> dict[str, list[int]]:
    """Map each word to the sentences that have it, for words rare enough to identify a subject."""
    holding: dict[str, list[int]] = {}
    for at, one in enumerate(found):
        if one.shape == "prose":
            for word in relevance.words[at]:
                if not word.startswith("="):
                    holding.setdefault(word, []).append(at)
    most = min(max(COMMON, len(found) / 20), MOST_COMMON)
    return {word: held for word, held in holding.items() if len(held) <= most}


def _lead_ins(mine: Sequence[int], found: Sequence[NotePassage]) -> Iterator[tuple[int, int]]:
    """Yield the passages of a message, each with the line above it that introduces it; a sentence ends the introduced
    lines.
    """
    row, lead, here, header = -1, -1, -1, -1
    for at in mine:
        one = found[at]
        if one.row != row:
            row, lead = one.row, here
        if not one.text.startswith("|"):
            header = -1
        elif header < 0:
            header = at
        if header >= 0 and header != at:
            yield at, header
        elif lead >= 0:
            yield at, lead
        if leads_in(one):
            here = at
        elif one.shape == "prose" and not _begins_item(one.whole_row):
            here = -1
