"""A note of a branch without a model: what was asked, how it ended, and the facts between, in the order they were said.

Everything in it is quoted whole. The closing passage of the last answer that says something comes first, then each of
the person's messages has a sentence, then the passages that tell most for their length. None is told without the one
that was said last of the same, so that of two statements that differ the one that holds is never missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.headings import ASKED, FACTS, FILES, NOTE, OPEN, RESULT, TRIED
from forky_core.merge.note.branch import Branch, leads_in
from forky_core.merge.note.counts import counts, differs
from forky_core.merge.note.coverage import BYTES_PER_TOKEN, CITATION, Picker, size
from forky_core.merge.note.passages import Passage, atoms, call_text, is_named
from forky_core.merge.superseded import Superseded
from forky_core.merge.wording import ShortIds
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart, ToolCallPart
from forky_core.retrieval.cues import is_question

SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2
RESULT_SHARE = 0.6
"""Of the room, the most that the closing passage takes."""
REPORT_SHARE = 0.75
"""The same where it closes the use of tools: then it reports what was done, and not the last of several subjects."""
ASKED_SHARE = 0.3
"""Of the room, the most that the first thing the person asked for takes."""
PERSON_SHARE = 0.25
"""Of the room, the most that the person's other messages take, a sentence of each."""
TRIED_SHARE = 0.15
"""Of the room, the most that pairs of what was undone and what took its place take."""
FILES_SHARE = 0.08
"""Of the room, the most that the paths of changed files take."""
EVIDENCE = 0.1
"""Of the room, the most that lines of tools take, the calls and the output that an answer leans on."""
SUBSTANTIAL = 0.03
"""Of the worth of the branch's richest answer, what an answer has to have to conclude anything."""
CONCLUSIVE = 0.2
"""The same for an answer that is enough of a conclusion; below it, the one before is told, too."""
_CHANGES = re.compile(
    r"write|edit|create|patch|replace|apply|insert|delete|move|rename|update", re.IGNORECASE
)
"""In the name of a tool: it changes files."""
_PATH = re.compile(r"\w/\w|\w\.[A-Za-z]\w{0,4}$")
_LISTED_OUTPUT = 200
"""Characters of a line of output above which it is no line to quote."""


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
    superseded: Sequence[Superseded] = (),
) -> list[PayloadLine]:
    """The lines of a note of `messages` for a reader who knows `target_texts`, within `budget` tokens.

    What `superseded` names as earlier is told only together with what took its place.
    """
    branch = Branch.of(messages, target_texts, focus)
    picker = Picker(branch.relevance, budget, _ratio(branch, count_tokens), branch.speakers)
    writer = _Writer(branch, picker, budget)
    writer.write(superseded)
    return writer.within(budget, count_tokens)


def _ratio(branch: Branch, count_tokens: Callable[[str], int]) -> float:
    """Tokens as the model counts them per token of the estimate, by a sample of the branch."""
    sample = "\n".join(one.text for one in branch.passages[:: max(1, len(branch.passages) // 50)])
    return max(0.2, count_tokens(sample) / max(1, estimate_tokens(sample))) if sample else 1.0


@dataclass(slots=True)
class _Writer:
    branch: Branch
    picker: Picker
    room: float
    """Tokens of the whole note."""
    section: dict[int, str] = field(default_factory=dict)
    """By passage, the section that it stands in; not of those under `Facts`."""
    files: list[PayloadLine] = field(default_factory=list)
    outdated: set[int] = field(default_factory=set)
    """Passages that something later took back or replaced."""
    order: list[tuple[int, ...]] = field(default_factory=list)
    """What was chosen together, the most important first."""

    def write(self, superseded: Sequence[Superseded]) -> None:
        """Choose the lines of every section."""
        for one in superseded:
            self.outdated.update(self.branch.holding(one.earlier_message, one.earlier))
        self.attach()
        if self.branch.talk:
            self.cover()
            return
        self.ask()
        self.conclude()
        self.outdate()
        self.undo(superseded)
        self.change()
        self.hear_the_person()
        self.cover()
        self.show_evidence()

    def attach(self) -> None:
        """One line for each file, since the note does not carry it."""
        for message in self.branch.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    self._list_file(file_line(part), message.id, quoted=False)

    def ask(self) -> None:
        """What the branch set out to do: the most telling sentence of the person's first message that has any."""
        for turn, message in enumerate(self.branch.messages):
            if message.role == "user" and message.text.strip():
                self._tell_one(self.branch.own_words(turn), ASKED, self.room * ASKED_SHARE)
                return

    def conclude(self) -> None:
        """The closing passage of the last answer that says something, whole, below the question that it answers."""
        said = [turn for turn, message in enumerate(self.branch.messages) if message.role == "assistant"]
        answers = [turn for turn in said if turn not in self.branch.narrating] or said
        worth = {turn: self.branch.worth(turn) for turn in answers}
        most = max(worth.values(), default=0.0)
        used_tools = bool(self.branch.narrating)
        room = self.room * (REPORT_SHARE if used_tools else RESULT_SHARE)
        for turn in reversed(answers):
            if not worth[turn] or worth[turn] < SUBSTANTIAL * most:
                continue
            room -= self._close(turn, room)
            if worth[turn] >= CONCLUSIVE * most or room <= 0:
                return

    def _close(self, turn: int, room: float) -> float:
        """Take the end of an answer in whole sentences; a question or an offer at its very end stays open."""
        passages = self.branch.passages
        mine = self.branch.closing(turn)
        if turn != len(self.branch.messages) - 1:
            mine = [at for at in mine if self.branch.last_word_on(at) is None]
        asked: list[int] = []
        while mine and (is_question(passages[mine[-1]].text) or passages[mine[-1]].shape == "heading"):
            asked.append(mine.pop())
        if asked and turn == len(self.branch.messages) - 1 and self.picker.fits(asked[0], room / 2):
            self._take([asked[0]], OPEN)
        taken: list[int] = []
        spent = 0.0
        for at in reversed(mine):
            cost = self.picker.cost(at)
            if spent + cost > room:
                break
            spent += cost
            taken.append(at)
        whole = [at for at in taken if not self._leads_nowhere(at, taken)]
        self._take(sorted(whole), RESULT)
        if whole:
            spent += self._tell_what_it_answers(turn, room - spent)
        return spent

    def _leads_nowhere(self, at: int, taken: Collection[int]) -> bool:
        one = self.branch.passages[at]
        return (one.shape == "heading" or leads_in(one)) and at + 1 not in taken

    def _tell_what_it_answers(self, turn: int, room: float) -> float:
        before = (at for at in range(turn - 1, -1, -1) if self.branch.messages[at].role == "user")
        asked = next(before, None)
        if asked is None or any(at in self.picker.chosen for at in self.branch.of_turn(asked)):
            return 0
        return self._tell_one(self.branch.own_words(asked), RESULT, room, alone=True)

    def outdate(self) -> None:
        """Leave out what the result measures otherwise, and what the person's message above the result answers."""
        result = [at for at in self.picker.chosen if self.section.get(at) == RESULT]
        if not result:
            return
        first = min(self.branch.passages[at].turn for at in result)
        answered = {at for at in result if self.branch.passages[at].role == "user"}
        measured = [one for at in result for one in counts(self.branch.passages[at].text)]
        for at, one in enumerate(self.branch.passages):
            if one.turn >= first:
                continue
            taken_back = bool(answered) and one.role != "user" and self.branch.last_word_on(at) in answered
            if taken_back or differs(counts(one.text), measured):
                self.outdated.add(at)

    def undo(self, superseded: Sequence[Superseded]) -> None:
        """What was tried or planned and then undone, each with what took its place; neither where there is no room."""
        room = self.room * TRIED_SHARE
        for one in reversed(superseded):
            earlier = self.branch.holding(one.earlier_message, one.earlier)
            later = self.branch.holding(one.later_message, one.later)
            pair = (*earlier[:1], *later[:1])
            cost = sum(map(self.picker.cost, pair))
            free = not any(at in self.picker.chosen for at in pair)
            if len(pair) == 2 and free and cost <= min(room, self.picker.budget):
                room -= cost
                self._take(pair, TRIED)

    def change(self) -> None:
        """The files that tools changed, one line each with its last change."""
        room = self.room * FILES_SHARE
        named: set[str] = set()
        for message in reversed(self.branch.messages):
            for part in message.parts:
                if not isinstance(part, ToolCallPart) or not _CHANGES.search(part.name):
                    continue
                first = call_text(part).split("\n", 1)[0]
                path = next((atom for atom in atoms(first) if _PATH.search(atom)), "")
                if path and path not in named and size(path) + CITATION / BYTES_PER_TOKEN <= room:
                    named.add(path)
                    room -= self._list_file(path, message.id, quoted=True)

    def _list_file(self, line: str, id: MessageId, *, quoted: bool) -> float:
        cost = size(line) + (CITATION + 1) / BYTES_PER_TOKEN
        self.picker.budget -= cost
        self.files.append(PayloadLine(line, (id,), FILES, quoted=quoted))
        return cost

    def hear_the_person(self) -> None:
        """A sentence of each of the person's messages, the latest first, within their share.

        What the result has the last word on stands above it, with what was asked.
        """
        room = self.room * PERSON_SHARE
        for turn in range(len(self.branch.messages) - 1, -1, -1):
            if self.branch.messages[turn].role != "user":
                continue
            mine = self.branch.own_words(turn)
            if not any(at in self.picker.chosen for at in self.branch.prose_of(turn)):
                room -= self._tell_one(mine, ASKED, room)

    def _tell_one(self, among: Collection[int], section: str, room: float, *, alone: bool = False) -> float:
        """Tell the most telling of these passages that fits, with what it may not be told without; what that costs."""
        free = [at for at in among if at not in self.outdated]
        for at in sorted(free, key=self.picker.gain, reverse=True):
            beside = [] if alone else self._beside(at)
            if sum(map(self.picker.cost, (at, *beside))) <= min(room, self.picker.budget):
                before = self.picker.budget
                self._take((at, *beside), section, first_only=True)
                return before - self.picker.budget
        return 0

    def _beside(self, at: int) -> list[int]:
        return [
            one
            for one in self.branch.not_alone(at)
            if one not in self.picker.chosen and one not in self.outdated
        ]

    def cover(self) -> None:
        """What tells most for its length, with what it may not be told without."""
        pasted = {at for turn in range(len(self.branch.messages)) for at in self.branch.pasted(turn)}
        among = [
            at
            for at, one in enumerate(self.branch.passages)
            if one.shape in ("prose", "code")
            and at not in self.outdated
            and not leads_in(one)
            and at not in self.branch.announced
            and not self.branch.is_chatter(at)
            and at not in pasted
        ]
        self._cover(among, self.picker.budget)

    def show_evidence(self) -> None:
        """Lines of tools that name what somebody speaks of: an answer leans on them."""
        passages = self.branch.passages
        spoken = {
            atom for one in passages if one.shape == "prose" for atom in atoms(one.text) if is_named(atom)
        }
        among = [
            at
            for at, one in enumerate(passages)
            if one.shape in ("call", "output")
            and len(one.text) < _LISTED_OUTPUT
            and any(is_named(atom) and atom in spoken for atom in atoms(one.text))
        ]
        before = set(self.picker.chosen)
        self._cover(among, min(self.picker.budget, self.room * EVIDENCE))
        self.section.update(dict.fromkeys(self.picker.chosen - before, FILES))

    def _cover(self, among: Iterable[int], room: float) -> None:
        beside = self.branch.with_sources if self.branch.talk else self._beside
        for chosen in self.picker.cover(among, room, beside):
            self.order.append(chosen)

    def _take(self, passages: Sequence[int], section: str, *, first_only: bool = False) -> None:
        for number, at in enumerate(passages):
            self.picker.take(at)
            if not (number and first_only):
                self.section.setdefault(at, section)
        if passages:
            self.order.append(tuple(passages))

    def within(self, budget: float, count_tokens: Callable[[str], int]) -> list[PayloadLine]:
        """The note in the order of its sections; what was chosen last is given up until it fits into its budget."""
        while True:
            lines = self._lines()
            if not self.order or count_tokens(render("", lines, ShortIds())) <= budget:
                return lines
            self.picker.chosen.difference_update(self.order.pop())

    def _sections(self) -> dict[int, str]:
        """The section of each chosen passage.

        What the person said is what was asked, and the result stands below it; but what they said to a fact, or last of
        it, stands below that.
        """
        facts = [
            at
            for at in self.picker.chosen
            if at not in self.section and self.branch.passages[at].role != "user"
        ]
        below = {one for at in facts for one in self.branch.not_alone(at)}
        concluding = {self.branch.passages[at].turn for at, title in self.section.items() if title == RESULT}
        found: dict[int, str] = {}
        for at in self.picker.chosen:
            one, own = self.branch.passages[at], self.section.get(at, FACTS)
            if one.role == "user" and own in (FACTS, ASKED) and not self.branch.talk:
                own = RESULT if one.turn in concluding else FACTS if at in below else ASKED
            found[at] = own
        return found

    def _lines(self) -> list[PayloadLine]:
        order = {title: at for at, title in enumerate(NOTE)}
        passages, sections = self.branch.passages, self._sections()
        rows = sorted(self.picker.chosen, key=lambda at: (order[sections[at]], passages[at].place))
        lines: list[PayloadLine] = []
        last: int | None = None
        for at in rows:
            one, section = passages[at], sections[at]
            follows = last is not None and lines[-1].section == section
            joined = _joined(passages[last], one, lines[-1].text) if follows and last is not None else ""
            if joined:
                lines.pop()
            speaker = self.branch.speakers[one.message]
            lines.append(
                PayloadLine(joined or one.text, (one.message,), section, quoted=True, speaker=speaker)
            )
            last = at
        return [*lines, *self.files]


def _joined(before: Passage, after: Passage, text: str) -> str:
    """Two sentences that follow each other in one paragraph as one piece of it; "" where they don't."""
    if (before.turn, before.row) != (after.turn, after.row) or after.place != before.place + 1:
        return ""
    row = after.whole_row
    start = row.find(text)
    end = row.find(after.text, start + len(text)) if start >= 0 else -1
    return row[start : end + len(after.text)] if end >= 0 else ""
