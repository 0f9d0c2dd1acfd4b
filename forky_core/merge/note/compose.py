"""A note of a branch without a model: what was asked, how it ended, and the facts between, in the order they were said.

Everything in it is quoted whole. The closing passage of the last answer that says something comes first, then each of
the person's messages has a sentence, then the passages that tell most for their length. What a later message took back
or replaced stands under `Tried and undone`, with what took its place, or nowhere.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import PayloadLine
from forky_core.merge.headings import ASKED, FACTS, FILES, HEADINGS, NOTE, RESULT
from forky_core.merge.note.coverage import CITATION, Picker, Relevance, distinct, size
from forky_core.merge.note.passages import Passage, atoms, call_text, is_named, passages, plain, plain_lines
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart, ToolCallPart
from forky_core.retrieval.cues import is_question

SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2
RESULT_SHARE = 0.45
"""Of the room, the most that the closing passage takes."""
RECENCY = 0.8
"""How much less than its last lines the first lines of a branch tell, where a model answers a person."""
ASK = 0.4
LASTS = 1
LEAN = 1
EVIDENCE = 0.4
FILES_SHARE = 0.08
NARRATION = 0.35
_CHANGES = re.compile(r"write|edit|create|patch|replace|apply|insert|delete|move|rename|update", re.IGNORECASE)
_PATH = re.compile(r"\w/\w|\w\.[A-Za-z]\w{0,4}$")
LEAST = 0.03
ENOUGH = 0.2
UNITS = 1
SAME = 0.15
MANY = 6
TALK = 0.33
"""The person's share of the prose from which on a branch is talk among people, and no questions with answers."""
PERSON_SHARE = 0.25
"""Of the room, the most that the person's own messages take, a sentence of each."""
_SHORTEST = 8
"""Characters below which a passage without a name or a number is not worth its citation."""


def default_budget(branch_tokens: int) -> int:
    """Tokens of a payload where the person named none."""
    return max(SMALLEST_BUDGET, math.ceil(branch_tokens * DEFAULT_SHARE))


def file_line(part: AttachmentPart) -> str:
    """What stands in a payload for a file."""
    return f"{part.name or part.sha256[:8]} ({part.media_type})"


def note(
    messages: Sequence[Message],
    target_texts: Sequence[str],
    budget: float,
    *,
    focus: str = "",
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> list[PayloadLine]:
    """The lines of a note of `messages` for a reader who knows `target_texts`, within `budget` tokens."""
    writer = _Writer.of(messages, target_texts, budget, focus, count_tokens)
    if not writer.talk:
        writer.ask()
        writer.conclude()
        writer._outdate()
    writer.attach()
    writer.change()
    if not writer.talk:
        writer.hear_the_person()
    writer.cover()
    return writer.lines()


@dataclass(slots=True)
class _Writer:
    messages: Sequence[Message]
    found: list[Passage]
    picker: Picker
    room: float
    section: dict[int, str]
    files: list[PayloadLine]
    speakers: Mapping[MessageId, str]
    talk: bool
    holding: Mapping[str, Sequence[int]]
    narrating: frozenset[int]
    """Numbers of answers that only say what the model is about to do: a tool's call follows."""
    outdated: set[int] = field(default_factory=set)

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        target_texts: Sequence[str],
        budget: float,
        focus: str,
        count_tokens: Callable[[str], int],
    ) -> _Writer:
        known = plain_lines(target_texts)
        found = [one for one in distinct(passages(messages), known) if _quotable(one)]
        leaned = _leaned_on(found)
        found = [one for at, one in enumerate(found) if one.shape != "output" or at in leaned or not LEAN]
        speakers = {message.id: message.name or message.role for message in messages}
        relevance = Relevance.of(found, target_texts, focus)
        sample = "\n".join(one.text for one in found[:: max(1, len(found) // 50)])
        ratio = max(0.2, count_tokens(sample) / max(1, estimate_tokens(sample))) if sample else 1.0
        narrating = {
            turn
            for turn, (message, following) in enumerate(pairwise(messages))
            if message.role == "assistant"
            and (following.role == "tool" or any(isinstance(part, ToolCallPart) for part in following.parts))
        }
        talk = _is_talk(found, len({message.name for message in messages if message.name and message.role != "tool"}))
        if not talk:
            last = max(1, len(messages) - 1)
            for at, one in enumerate(found):
                late = 1.0 if one.role == "user" else 1 - RECENCY * (1 - one.turn / last)
                if one.shape in ("prose", "code") and one.role == "assistant" and one.turn in narrating:
                    late *= NARRATION
                relevance.words[at] = {word: worth * late for word, worth in relevance.words[at].items()}
        picker = Picker(relevance, budget, ratio, speakers)
        holding: dict[str, list[int]] = {}
        for at, one in enumerate(found):
            if one.shape == "prose":
                for word in relevance.words[at]:
                    if not word.startswith("="):
                        holding.setdefault(word, []).append(at)
        most = max(MANY, len(found) * 0.05)
        holding = {word: held for word, held in holding.items() if len(held) <= most}
        return cls(messages, found, picker, budget, {}, [], speakers, talk, holding, frozenset(narrating))

    def _of_turn(self, turn: int) -> list[int]:
        return [at for at, one in enumerate(self.found) if one.turn == turn]

    def _take(self, at: int, section: str) -> None:
        self.picker.take(at)
        self.section.setdefault(at, section)

    def ask(self) -> None:
        """What the branch set out to do: the most telling sentence of the person's first message."""
        for turn, message in enumerate(self.messages):
            if message.role != "user":
                continue
            mine = [at for at in self._of_turn(turn) if self.found[at].shape in ("prose", "heading", "code")]
            prose = self._own_words(mine)
            room = self.room * PERSON_SHARE
            best = max((at for at in prose if self.picker.fits(at, room)), key=self.picker.gain, default=None)
            if best is not None:
                self._take_whole(best, ASKED, self.room * ASK)
                return
            if message.text.strip():
                return

    def conclude(self) -> None:
        """The closing passage of the last answer that says something, whole, within its share."""
        said = [turn for turn, message in enumerate(self.messages) if message.role == "assistant"]
        answers = [turn for turn in said if turn not in self.narrating] or said
        worth = {turn: self._worth(turn) for turn in answers}
        most = max(worth.values(), default=0.0)
        room = self.room * RESULT_SHARE
        for turn in reversed(answers):
            if worth[turn] < LEAST * most or not worth[turn]:
                continue
            room -= self._close(turn, room)
            if worth[turn] >= ENOUGH * most or room <= 0:
                return

    def _close(self, turn: int, room: float) -> float:
        """Take the end of an answer, in whole sentences and without a question or an offer at its very end."""
        mine = [at for at in self._of_turn(turn) if self.found[at].shape in ("prose", "heading")]
        while mine and (is_question(self.found[mine[-1]].text) or self.found[mine[-1]].shape == "heading"):
            mine.pop()
        taken: list[int] = []
        spent = 0.0
        for at in reversed(mine):
            if _leads_in(self.found[at]) and (not taken or self.found[taken[-1]].place != self.found[at].place + 1):
                continue
            cost = self.picker.cost(at)
            if spent + cost > room:
                break
            spent += cost
            taken.append(at)
        for at in reversed(taken):
            self._take(at, RESULT)
        return spent

    def _outdate(self) -> None:
        """Leave out what the result measures otherwise: an earlier number of the same unit with another value."""
        late: dict[str, set[str]] = {}
        for at in self.picker.chosen:
            if self.section.get(at) == RESULT:
                for unit, number in _measures(self.found[at].text):
                    late.setdefault(unit, set()).add(number)
        turn = max((self.found[at].turn for at in self.picker.chosen if self.section.get(at) == RESULT), default=-1)
        for at, one in enumerate(self.found):
            if one.turn < turn and UNITS:
                measured = _measures(one.text)
                if any(unit in late and number not in late[unit] for unit, number in measured):
                    self.outdated.add(at)

    def _worth(self, turn: int) -> float:
        mine = (at for at in self._of_turn(turn) if self.found[at].shape == "prose")
        return sum(sum(self.picker.relevance.words[at].values()) for at in mine)

    def change(self) -> None:
        """The files that tools changed, one line each with its last change, within a share of the room."""
        room = self.room * FILES_SHARE
        named: dict[str, MessageId] = {}
        for message in reversed(self.messages):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and _CHANGES.search(part.name):
                    first = call_text(part).split("\n", 1)[0]
                    path = next((atom for atom in atoms(first) if _PATH.search(atom)), "")
                    if path and path not in named:
                        named[path] = message.id
        for path, id in named.items():
            cost = size(path) + (CITATION + 1) / 4
            if cost <= min(room, self.picker.budget):
                room -= cost
                self.picker.budget -= cost
                self.files.append(PayloadLine(path, (id,), FILES, quoted=True))

    def attach(self) -> None:
        """One line for each file, since the note does not carry it."""
        for message in self.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    line = file_line(part)
                    self.picker.budget -= size(line) + 4
                    self.files.append(PayloadLine(line, (message.id,), FILES))

    def _own_words(self, mine: list[int]) -> list[int]:
        """Of a person's message the lines that are surely theirs: what stands between may be pasted from elsewhere."""
        prose = [at for at in mine if self.found[at].shape == "prose"] or mine
        rows = {self.found[at].row for at in prose}
        if len(rows) > 1 and self.found[min(prose)].text.endswith((":", "：")):
            return [at for at in prose if self.found[at].row == min(rows)]
        if len(rows) <= 3:
            return prose
        return [at for at in prose if self.found[at].row in (min(rows), max(rows))]

    def hear_the_person(self) -> None:
        """A sentence of each of the person's messages, the latest first, within their share."""
        room = self.room * PERSON_SHARE
        for turn in range(len(self.messages) - 1, -1, -1):
            if self.messages[turn].role != "user":
                continue
            mine = self._own_words([at for at in self._of_turn(turn) if self.found[at].shape == "prose"])
            if not mine or any(at in self.picker.chosen for at in mine):
                continue
            mine = [at for at in mine if at not in self.outdated]
            if not mine:
                continue
            best = max(mine, key=self.picker.gain)
            if not self.picker.fits(best, room):
                best = min(mine, key=self.picker.cost)
            spent = self._take_whole(best, FACTS, room)
            if not spent:
                spent = self._take_whole(min(mine, key=self.picker.cost), FACTS, room)
            room -= spent

    def cover(self) -> None:
        """What tells most for its length."""
        among = [at for at, one in enumerate(self.found) if one.shape not in ("heading", "call") and at not in self.outdated and not _leads_in(one)]
        tools = sum(len(one.text) for one in self.found if one.shape in ("call", "output"))
        share = EVIDENCE * tools / max(1, sum(len(one.text) for one in self.found))
        among = [at for at in among if self.found[at].shape != "output"]
        self.picker.cover(
            among, self.picker.budget - self.room * share, (lambda _at: ()) if self.talk else self._closure
        )
        evidence = [at for at, one in enumerate(self.found) if one.shape in ("call", "output")]
        before = set(self.picker.chosen)
        self.picker.cover(evidence, self.picker.budget)
        for at in self.picker.chosen - before:
            self.section[at] = FILES

    def _closure(self, at: int) -> list[int]:
        """All that has to come along with a passage, and with that in turn."""
        found: list[int] = []
        ends = [at]
        while ends:
            for one in self._along(ends.pop()):
                if one not in found and one != at and one not in self.picker.chosen and one not in self.outdated:
                    found.append(one)
                    ends.append(one)
        return found

    def _take_whole(self, at: int, section: str, room: float) -> float:
        """Take a passage with all that has to come along, if that fits; what it cost, 0 where it doesn't."""
        before = self.picker.budget
        more = self._closure(at) if LASTS else []
        if sum(map(self.picker.cost, (at, *more))) > min(room, before):
            return 0
        self._take(at, section)
        for one in more:
            self._take(one, FACTS)
        return before - self.picker.budget

    def _along(self, at: int) -> list[int]:
        """What a passage may not be told without: the line that leads it in, and how the person took it."""
        one = self.found[at]
        found: list[int] = []
        lead = self._lead_in(at)
        if lead is not None:
            found.append(lead)
        if one.role != "user":
            following = next(
                (turn for turn in range(one.turn + 1, len(self.messages)) if self.messages[turn].role == "user"), None
            )
            mine = [] if following is None else [n for n in self._of_turn(following) if self.found[n].shape == "prose"]
            if mine and not any(n in self.picker.chosen for n in mine):
                found.append(min(mine, key=lambda n: self.found[n].place))
        last = self._last_word_on(at)
        if last is not None and last not in found:
            found.append(last)
        return found

    def _last_word_on(self, at: int) -> int | None:
        """The last passage of a later message that speaks of the same: what holds, if the two differ."""
        words = self.picker.relevance.words[at]
        whole = sum(worth for word, worth in words.items() if not word.startswith("=")) or 1.0
        shared: dict[int, float] = {}
        for word, worth in words.items():
            for other in self.holding.get(word, ()):
                if self.found[other].turn > self.found[at].turn:
                    shared[other] = shared.get(other, 0.0) + worth
        enough = [other for other, worth in shared.items() if worth >= SAME * whole]
        return max(enough, default=None)

    def _lead_in(self, at: int) -> int | None:
        """The line ending in a colon above the list or the code that a passage belongs to."""
        for before in range(at - 1, -1, -1):
            one = self.found[before]
            if one.turn != self.found[at].turn:
                return None
            if one.row != self.found[at].row and one.text.rstrip("*_ ").endswith((":", "：")):
                return before
            if one.row != self.found[at].row and one.shape == "prose" and not one.text.startswith(_ITEMS) and one.text[0] not in "0123456789":
                return None
        return None

    def lines(self) -> list[PayloadLine]:
        """The note in the order of its sections."""
        order = {title: at for at, title in enumerate(NOTE)}
        rows = sorted(
            self.picker.chosen, key=lambda at: (order[self.section.get(at, FACTS)], self.found[at].place)
        )
        lines: list[PayloadLine] = []
        last: int | None = None
        for at in rows:
            one, section = self.found[at], self.section.get(at, FACTS)
            joined = _joined(self.found[last], one, lines[-1].text) if last is not None else ""
            if joined and lines[-1].section == section:
                lines[-1] = PayloadLine(joined, (one.message,), section, quoted=True, speaker=self.speakers[one.message])
            else:
                lines.append(
                    PayloadLine(one.text, (one.message,), section, quoted=True, speaker=self.speakers[one.message])
                )
            last = at
        return [*lines, *self.files]


_MEASURE = re.compile(
    r"(?P<before>[$€£¥])?\s?(?P<number>\d+(?:[.,  ’']\d+)*)\s*(?P<after>[$€£¥%°²³℃℉]?[^\W\d_]{0,12}[²³]?)"
)


def _measures(text: str) -> list[tuple[str, str]]:
    """The numbers of a text that count something, each as (unit, digits)."""
    found: list[tuple[str, str]] = []
    for match in _MEASURE.finditer(unicodedata.normalize("NFKC", text)):
        unit = (match["before"] or match["after"] or "").casefold()
        if "\u3400" <= unit[:1] <= "\u9fff":
            unit = unit[0]
        if unit:
            found.append((unit, "".join(filter(str.isdigit, match["number"]))))
    return found


_ITEMS = ("-", "*", "+", "•", "|")


def _is_talk(found: Sequence[Passage], named: int) -> bool:
    """Whether people talk to each other: two or more have names, or the person says as much as who answers."""
    if named > 1:
        return True
    prose = [one for one in found if one.shape == "prose"]
    whole = sum(len(one.text) for one in prose)
    person = sum(len(one.text) for one in prose if one.role == "user")
    bare = sum(len(one.text) for one in found if one.shape not in ("prose", "heading"))
    return bare < whole / 10 and person > whole * TALK


def _leads_in(one: Passage) -> bool:
    """Whether a line only leads in what follows it."""
    return one.text.rstrip("*_ ").endswith((":", "："))


def _joined(before: Passage, after: Passage, text: str) -> str:
    """Two sentences that follow each other in one paragraph as one piece of it; "" where they don't."""
    if (before.turn, before.row) != (after.turn, after.row) or after.place != before.place + 1:
        return ""
    row = after.whole_row
    start = row.find(text)
    end = row.find(after.text, start + len(text)) if start >= 0 else -1
    return row[start : end + len(after.text)] if end >= 0 else ""


def _quotable(one: Passage) -> bool:
    """Of short passages only those with a name, a number, a word in writing without spaces."""
    if f"{one.text}" in HEADINGS:
        return False
    return len(plain(one.text)) >= _SHORTEST or any(
        is_named(atom) or atom.isdigit() or not atom.isascii() for atom in atoms(one.text)
    )


def _leaned_on(found: Sequence[Passage]) -> set[int]:
    """Lines of tools' output that something said later names: tool output is evidence, and no text by itself."""
    spoken: set[str] = set()
    leaned: set[int] = set()
    for at in range(len(found) - 1, -1, -1):
        one = found[at]
        if one.shape != "output":
            if True:
                spoken.update(atom for atom in atoms(one.text) if is_named(atom))
            continue
        if len(one.text) < 200 and any(is_named(atom) and atom in spoken for atom in atoms(one.text)):
            leaned.add(at)
    return leaned
