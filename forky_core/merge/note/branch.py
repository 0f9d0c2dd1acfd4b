"""A branch as a note sees it: its passages, who said them, and what each may not be quoted without."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from forky_core.context.citing import own_sources
from forky_core.merge.headings import is_heading
from forky_core.merge.note.passages import NotePassage, passages
from forky_core.merge.note.quotations import ELSEWHERE, offline_answers, quoted_of
from forky_core.merge.wording import speaker_of
from forky_core.model import Message, MessageId
from forky_core.model.parts import ToolCallPart
from forky_core.text.cues import TURNS_DOWN, acts_of, is_question
from forky_core.text.passages import atoms, names, plain, plain_lines
from forky_core.text.words import terms

REPORT = 600
"""The characters from which on a model's text counts as a report, even if a tool call follows."""
ALL_THEIRS = 3
"""The most lines of a person's message that all count as their own words; the rest of a longer one may be pasted."""
LEAST_WORDS = 3
"""The fewest content words of prose without a name or a number that is worth quoting."""
CLEAR = 5
"""The content words from which on an answer is understood without its question."""
SAME = 2
"""The fewest rare words that two sentences about one subject share."""
LONGEST_LIST = 6
"""The most items of a list that is told whole; single ones are told of a longer one."""
RARE = 4
"""The most passages that have a rare word."""
_REFERS_BACK = re.compile(
    r"\W*(?:(?:and|but|so|yeah|yes|und|aber|et|mais|y|pero)\W+)?(?:(?:it|its|it['’]s|they|their|they['’]re|them|he|she|he['’]s|she['’]s|his|her|this|that|"
    r"that['’]s|these|those|such|which|er|sie|das|dies\w*|il|elle|ils|elles|ce|c['’]est|ça|cela|eso|esto|él|ella|ellos|questo|quello|"
    r"however|therefore|otherwise|but|also|instead|though|thus|hence|then|because|aber|allerdings|deshalb|sonst|jedoch|mais|cependant|donc|sinon|"
    r"pero|sin\s+embargo|entonces|así|però|quindi)\b|[它他她这那]|但|所以|因此)",
    re.IGNORECASE,
)
"""The beginning of a sentence that cannot be understood without the one before."""
_ITEM = re.compile(r"\s*(?:[-*+•|]|\d+[.)]\s)")
_FILE = re.compile(r"[*`]*[\w./@-]+\.\w{1,6}[*`:]*")
"""The name of a file alone on a line, as models write it above code."""
_BOX = re.compile(r"^\s*(?:[-*+•]\s+|\d+[.)]\s+)?(?:\[[ xX✓~-]\]|[☐☑☒✓✔✅⬜◻◼])\s*")
_TASKS = re.compile(r"todo|update_plan|task_?list", re.IGNORECASE)
"""The name of a tool that keeps a list of tasks: only its last call says how things stand."""
_ANNOUNCES = re.compile(
    r"\W*(?:(?:now|ok(?:ay)?|good|great|perfect|first|next|alright|so)\b[,.!:]?\s+)*(?:let\s+me|let['’]?s|i['’]?ll|i\s+will|i['’]?m\s+going\s+to|i\s+am\s+going\s+to|"
    r"here(?:['’]s|\s+(?:is|are))|ich\s+(?:werde|schaue|sehe|prüfe)|lass\s+mich|je\s+vais|voici|voy\s+a|déjame|ora\s+|adesso\s+|vado\s+a|我来|让我|我先|我将|接下来)",
    re.IGNORECASE,
)
"""The beginning of a sentence in which a model says what it is about to do, or to show."""
_PROGRAM = re.compile(
    r"\btokens?: .*\b(?:sent|received|cost)\b|\bcost: \$|\(y\)es|\[y(?:es)?/n(?:o)?\]|</?think|^</?[a-z][\w-]*>$|^(?:repo-?map|git repo|main model|weak model|model):? .*|"
    r"\bto the chat\?|^/(?:clear|add|drop|reset|exit|quit|tokens|help|ls|model|compact|context|cost|init|status)\b|\byou can use /undo\b|^use /help\b|^added .* to the chat\b|^\[request interrupted\b|<system-reminder>|^\s*(?:thinking|tool use|tool result)[.…:]*\s*$",
    re.IGNORECASE,
)
"""A line that a program puts between what people and models say."""
MOST_LINES = 8
"""The most lines of a block that is quoted: a command to run, a setting, an error."""


@dataclass(frozen=True, slots=True)
class NoteBranch:
    """The passages of a branch that may be quoted, with what each of them needs."""

    messages: Sequence[Message]
    texts: Sequence[str]
    """Of each message."""
    passages: Sequence[NotePassage]
    """In order; each line and sentence once, in its last place, and none that the reader has."""
    does: Sequence[frozenset[str]]
    """For each passage what it does (`acts_of`); nothing for code, calls and output."""
    asks: Sequence[bool]
    """For each passage whether it ends in a question mark."""
    words: Sequence[frozenset[str]]
    """For each passage its content words, and its names behind a `=`."""
    count: Counter[str]
    """In how many passages each word is."""
    many: Sequence[int]
    """For each passage the number of its content words."""
    concrete: Sequence[bool]
    """For each passage whether it has a name or a number."""
    told: list[bool]
    """For each passage whether it says something by itself: no lead-in, chatter, announcement or pasted line."""
    speakers: Mapping[MessageId, str]
    talk: bool
    """Whether two or more people with names talk to each other."""
    narrating: frozenset[int]
    """Messages before a tool call, which say what the model is about to do."""
    by_turn: Mapping[int, Sequence[int]]
    _prose: Mapping[int, Sequence[int]]
    _lead_ins: Mapping[int, int]
    _sources: Mapping[int, int]
    _lists: Mapping[int, Sequence[int]]
    """For each item of a list, all its items."""
    _quotes: Mapping[int, int]
    """For each passage below a quotation, the passage of an earlier message that is quoted there."""
    _needed: dict[int, Sequence[int]] = field(default_factory=dict)
    """What `needs` has found."""
    _later: dict[str, list[int]] = field(default_factory=dict)
    """For each rare word, the sentences that have it and may be told."""

    @classmethod
    def of(cls, messages: Sequence[Message], known_texts: Sequence[str]) -> NoteBranch:
        """Read the messages for somebody who has read `known_texts`."""
        # An offline model answers by quoting: without the quotation, the question would stand there without an answer.
        texts = [one.text for one in messages]
        told = list(zip(messages, texts, strict=True))
        offline = offline_answers(messages)
        # “/undo” and “no” hold for what stands above them, however often they are said.
        orders = {one.id for one, text in told if one.role == "user" and TURNS_DOWN.match(text)}
        every = with_code_blocks(passages(messages))
        # Without the SOURCES line of its message, a passage's citations mean nothing.
        sources = {one.place for one in every if one.role == "assistant" and own_sources(one.text)}
        known = plain_lines(known_texts)
        repeated = quoted_of(every, messages)
        unrepeated = [one for at, one in enumerate(every) if at not in repeated]
        found = [
            one
            for one in _distinct(unrepeated, known, offline | orders, sources)
            if not any(map(is_heading, one.text.split("\n")))
            and (any(map(str.isalpha, one.text)) or one.text == texts[one.turn].strip())
        ]
        by_turn: dict[int, list[int]] = {}
        for at, one in enumerate(found):
            by_turn.setdefault(one.turn, []).append(at)
        spoken = [frozenset(terms(one.text)) for one in found]
        called = [names(one.text) for one in found]
        words = [mine | own for mine, own in zip(spoken, called, strict=True)]
        count = Counter(word for mine in words for word in mine)
        named = {message.name for message in messages if message.name and message.role != "tool"}
        branch = cls(
            messages,
            texts,
            found,
            [acts_of(one.text) if one.shape in ("prose", "heading") else frozenset() for one in found],
            [is_question(one.text) for one in found],
            words,
            count,
            [len(mine) for mine in spoken],
            [
                bool(own) or any(map(str.isdigit, atoms(one.text)))
                for one, own in zip(found, called, strict=True)
            ],
            [],
            {message.id: speaker_of(message) for message in messages},
            len(named) > 1,
            frozenset(
                turn
                for turn, (one, text) in enumerate(told)
                if one.role == "assistant" and len(text) <= REPORT and _calls(messages[turn : turn + 2])
            ),
            by_turn,
            {turn: [at for at in mine if found[at].shape == "prose"] for turn, mine in by_turn.items()},
            {at: lead for mine in by_turn.values() for at, lead in _lead_ins(mine, found)},
            {one.turn: at for at, one in enumerate(found) if one.place in sources},
            {at: items for mine in by_turn.values() for items in _lists(mine, found) for at in items},
            dict(_answered(found, every, repeated)),
        )
        for turn, mine in by_turn.items():
            own = branch._own_words(turn)
            branch.told.extend(branch._says_something(at, own) for at in mine)
        for at, said in enumerate(words):
            if found[at].shape == "prose" and branch.told[at]:
                for word in said:
                    if count[word] <= RARE:
                        branch._later.setdefault(word, []).append(at)
        return branch

    def prose_of(self, turn: int) -> Sequence[int]:
        """Return the sentences of a message."""
        return self._prose.get(turn, ())

    def is_item(self, at: int) -> bool:
        """Whether a passage is an item of a list, or a row of a table."""
        return _ITEM.match(self.passages[at].whole_row) is not None

    def leads_in(self, at: int) -> bool:
        """Whether a line only introduces what follows it."""
        return leads_in(self.passages[at])

    def announces(self, at: int) -> bool:
        """Whether a model says what it is about to do, and a later message shows whether it did."""
        one = self.passages[at]
        if self.talk or one.role != "assistant" or one.turn == len(self.messages) - 1:
            return False
        if one.turn in self.narrating and self.prose_of(one.turn)[-1:] == [at]:
            return True
        return _ANNOUNCES.match(one.text) is not None

    def _own_words(self, turn: int) -> frozenset[int]:
        """Return the passages of a person's message that are surely their own.

        All of a short message; of a longer one the first and the last line, or the first alone if it leads in what
        follows.
        """
        every = self.by_turn.get(turn, ())
        if len({self.passages[at].row for at in every}) <= ALL_THEIRS:
            return frozenset(every)
        mine = [at for at in every if self.passages[at].shape in ("prose", "heading")]
        rows = sorted({self.passages[at].row for at in mine})
        if not rows:
            return frozenset(every[:1])
        if self.leads_in(max(at for at in mine if self.passages[at].row == rows[0])):
            own = rows[:1]
        else:
            own = [rows[0], rows[-1]]
        return frozenset(at for at in mine if self.passages[at].row in own)

    def _says_something(self, at: int, own: Collection[int]) -> bool:
        one = self.passages[at]
        if one.shape in ("heading", "call", "output") or self.leads_in(at) or self.announces(at):
            return False
        if one.role == "user" and not self.talk and at not in own:
            return False
        return one.shape != "prose" or not self.is_chatter(at)

    def is_chatter(self, at: int) -> bool:
        """Whether a sentence has next to no content: a greeting, a word of thanks, "let me look"."""
        one = self.passages[at]
        if one.role == "assistant" and _FILE.fullmatch(one.text):
            return one.text != self.texts[one.turn].strip()
        if one.turn == len(self.messages) - 1 and self.asks[at]:
            return False
        asked = self.prose_of(one.turn - 1)[-1:] if one.turn else []
        if not self.talk and self.prose_of(one.turn) == [at] and any(self.asks[other] for other in asked):
            return False
        if self.concrete[at]:
            return False
        least = LEAST_WORDS if one.role != "user" or self.talk else 1
        return self.many[at] < least

    def needs(self, at: int) -> list[int]:
        """Return the passages without which this one would be misread, and those that they need in turn."""
        found: list[int] = []
        ends = [at]
        while ends:
            end = ends.pop()
            if end not in self._needed:
                self._needed[end] = tuple(self._needs(end))
            for one in self._needed[end]:
                if one != at and one not in found:
                    found.append(one)
                    ends.append(one)
        return found

    def _needs(self, at: int) -> Iterator[int]:
        one = self.passages[at]
        if at in self._lead_ins:
            yield self._lead_ins[at]
        yield from self._list_of(at)
        if one.shape == "output":
            yield from self._call_of(one.turn)
        if one.shape == "prose":
            above = self._above(at)
            if above is not None:
                yield above
        sources = self._sources.get(one.turn)
        if sources is not None and sources != at:
            yield sources
        reply = self._reply(one.turn)
        if reply is not None:
            mine = self.by_turn[one.turn]
            denied = TURNS_DOWN.search(self.passages[reply].text) and (
                at == mine[-1] or one.role == "assistant"
            )
            if denied or (at == mine[-1] and self.asks[at]):
                yield reply
        last = self._last_word_on(at)
        if last is not None:
            yield last

    def _call_of(self, turn: int) -> Sequence[int]:
        """Return the first line of the tool call whose output a message is."""
        called = next((other for other in range(turn, -1, -1) if self.messages[other].role != "tool"), turn)
        return [at for at in self.by_turn.get(called, ()) if self.passages[at].shape == "call"][:1]

    def _list_of(self, at: int) -> Sequence[int]:
        """Return the items of the list that a passage belongs to: a short list that lacks some would mislead."""
        items = self._lists.get(at, ())
        return items if len({self.passages[one].row for one in items}) <= LONGEST_LIST else ()

    def _above(self, at: int) -> int | None:
        """Return the sentence that this one refers back to, or the one that it answers in few words."""
        one = self.passages[at]
        mine = self.prose_of(one.turn)
        few = self.many[at]
        if at in self._quotes and _REFERS_BACK.match(one.text):
            return self._quotes[at]
        if at != mine[0]:
            fragment = (
                one.role == "assistant" and one.text[0].islower() and self.passages[at - 1].row < one.row
            )
            back = _REFERS_BACK.match(one.text) is not None or few < LEAST_WORDS or fragment
            return mine[bisect_left(mine, at) - 1] if back and not self.is_item(at) else None
        before = self.prose_of(one.turn - 1) if one.turn else []
        if not before or (one.role == "assistant" and not self.talk) or self.is_chatter(before[-1]):
            return None
        whole = sum(self.many[other] for other in mine)
        asked = self.asks[before[-1]] and few < CLEAR
        back = self.talk and (_REFERS_BACK.match(one.text) is not None or few < LEAST_WORDS)
        return before[-1] if asked or back or whole < LEAST_WORDS else None

    def _reply(self, turn: int) -> int | None:
        """Return the first sentence of the next message of another speaker."""
        after = range(turn + 1, min(turn + 4, len(self.messages)))
        following = next((other for other in after if self.messages[other].role != "tool"), None)
        if (
            following is None
            or self.speakers[self.messages[following].id] == self.speakers[self.messages[turn].id]
        ):
            return None
        return next((at for at in self.prose_of(following) if not self.is_chatter(at)), None)

    def _last_word_on(self, at: int) -> int | None:
        """Return the last sentence of a later message about the same subject: if the two differ, it holds."""
        one = self.passages[at]
        shared: Counter[int] = Counter()
        for word in self.words[at]:
            for other in self._later.get(word, ()):
                if self.passages[other].turn > one.turn:
                    shared[other] += 2 if word.startswith("=") else 1
        return max((other for other, many in shared.items() if many >= SAME), default=None)

    def without_hanging(self, chosen: Collection[int]) -> set[int]:
        """Return the chosen passages without headings and lead-ins below which nothing of theirs is chosen."""
        kept = set(chosen)
        for _turn, mine in groupby(sorted(chosen), key=lambda at: self.passages[at].turn):
            below = -1
            for at in sorted(mine, reverse=True):
                if self.passages[at].shape == "heading" or (self.leads_in(at) and not self.is_item(at)):
                    led = (other for other in kept if self._lead_ins.get(other) == at)
                    if below < 0 or self.passages[below].shape == "heading" or not any(led):
                        kept.discard(at)
                        continue
                below = at
        return kept


def leads_in(one: NotePassage) -> bool:
    """Whether a line only introduces what follows it."""
    return one.text.rstrip("*_ ").endswith((":", "："))


def _distinct(
    found: Sequence[NotePassage],
    known: Collection[str],
    repeats: Collection[MessageId],
    sources: Collection[int],
) -> list[NotePassage]:
    """Return the passages without those that the reader has and what programs print, each once, in its last place.

    A task of a list is known by its words, so that it stands there as it stood last. Messages in `repeats` may repeat
    what the reader has, and each other; every message names its `sources`.
    """
    last: dict[str, NotePassage] = {}
    plans = [one for one in found if one.shape == "call" and _TASKS.search(one.text.split(maxsplit=1)[0])]
    old = {one.turn for one in plans} - {one.turn for one in plans[-1:]}
    keys = [plain(_BOX.sub("", one.text)) for one in found]
    for one, key in zip(found, keys, strict=True):
        if _PROGRAM.search(one.text) or (one.turn in old and one.shape == "call"):
            continue
        if key and (key not in known or one.message in repeats):
            alone = one.message in repeats or one.place in sources
            once = f"{key} {one.message}" if alone else key
            last.pop(once, None)
            last[once] = one
    return sorted(last.values(), key=lambda one: one.place)


def _answered(
    found: Sequence[NotePassage], every: Sequence[NotePassage], repeated: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the passages below a quotation, each with the passage that is quoted, where both may be told."""
    at_place = {one.place: at for at, one in enumerate(found)}
    for quotation, original in repeated.items():
        below = quotation + 1
        while below in repeated:
            below += 1
        if original == ELSEWHERE or below >= len(every) or every[below].turn != every[quotation].turn:
            continue
        answer, quoted = at_place.get(every[below].place), at_place.get(every[original].place)
        if answer is not None and quoted is not None:
            yield answer, quoted


def _calls(near: Sequence[Message]) -> bool:
    """Whether a message calls a tool, or the one after it does or is a tool's: then a short text only says what the
    model is about to do.
    """
    called = any(isinstance(part, ToolCallPart) for message in near for part in message.parts)
    return called or near[-1].role == "tool"


def _lists(mine: Sequence[int], found: Sequence[NotePassage]) -> Iterator[list[int]]:
    """Yield the lists of a message: the passages of rows that begin an item and follow each other."""
    items: list[int] = []
    for at in mine:
        one = found[at]
        if _ITEM.match(one.whole_row) is not None and (not items or one.row - found[items[-1]].row <= 1):
            items.append(at)
        else:
            if len(items) > 1:
                yield items
            items = [at] if _ITEM.match(one.whole_row) is not None else []
    if len(items) > 1:
        yield items


def _lead_ins(mine: Sequence[int], found: Sequence[NotePassage]) -> Iterator[tuple[int, int]]:
    """Yield the passages of a message, each with the line above it that introduces it: the heading or lead-in of a list
    or of code, the head of a table.
    """
    row, lead, here, header = -1, -1, -1, -1
    for at in mine:
        one = found[at]
        if one.row != row:
            if here >= 0 and row == found[here].row and one.row > row + 1:
                here = -1  # What it led in may not be quoted.
            row, lead = one.row, here
        if not one.text.startswith("|"):
            header = -1
        elif header < 0:
            header = at
        if header >= 0 and header != at:
            yield at, header
        elif lead >= 0:
            yield at, lead
        if one.shape == "heading" or leads_in(one):
            here = at
        elif one.shape == "prose" and _ITEM.match(one.whole_row) is None:
            here = -1


def with_code_blocks(found: Sequence[NotePassage]) -> list[NotePassage]:
    """Return passages with one for each block of code in place of its lines, indented as little as can be.

    A block that is too long is left out, and so is what an edit takes out.
    """
    joined: list[NotePassage] = []
    for (_, shape), run in groupby(found, key=lambda one: (one.turn, one.shape)):
        mine = list(run)
        if shape == "code" and len(mine) <= MOST_LINES:
            text = textwrap.dedent("\n".join(one.whole_row.rstrip() for one in mine)).strip("\n")
            joined.append(replace(mine[0], text=text, whole_row=text))
        elif shape not in ("code", "removed"):
            joined += mine
    return joined
