"""A note of a branch without a model: what was asked, what was said and done, and how it ended, in that order.

Everything in it is quoted whole and in order, so that a later statement about the same subject stands below. The
closing passage of the last answer with content has the most room, with what that answer warns against; then the
person's own messages, other warnings, and the passages with the most relevance for their length. No passage is quoted
without the last one about the same subject, so that of two differing statements the one that holds is never missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.cues import forbids
from forky_core.merge.headings import ASKED, FACTS, FILES, NOTE, OPEN, RESULT
from forky_core.merge.note.branch import BranchDigest, leads_in
from forky_core.merge.note.coverage import BYTES_PER_TOKEN, CITATION, Picker, size
from forky_core.merge.note.passages import NotePassage, atoms, call_text, is_code
from forky_core.merge.wording import ShortIds, one_line
from forky_core.model import Message, MessageId
from forky_core.model.parts import AttachmentPart, ToolCallPart
from forky_core.retrieval.cues import is_question

SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2
LONGEST_NAME = 120
"""The longest name of a file, in characters."""
RESULT_SHARE = 0.5
"""The largest share of the room for the closing passage, with the beginning of its answer."""
REPORT_SHARE = 0.75
"""The same if it ends the use of tools: then it reports what was done, and not the last of several subjects."""
RECAP_SHARE = 0.5
"""The largest share of the room for a sentence that summarises the branch before its last answer."""
DONE_SHARE = 0.25
"""The largest share of the room for what came of tools' work that is not the last thing in the branch."""
FORBIDS_SHARE = 0.25
"""The largest share of the room for what an answer warns against."""
BEGINNING_SHARE = 0.3
"""The largest share of that for the beginning of the answer."""
ASKED_SHARE = 0.3
"""The largest share of the room for the person's first request."""
PERSON_SHARE = 0.25
"""The largest share of the room for the person's other messages."""
WHOLE = 40
"""The tokens up to which a person's message is quoted whole; from a longer one, its most relevant sentence is."""
AFTERWARDS_SHARE = 0.25
"""The largest share of the room for tools that ran after the result."""
LAST_LINES = 3
"""The most lines that are quoted from each such tool."""
FILES_SHARE = 0.08
"""The largest share of the room for the paths of changed files."""
SUBSTANTIAL = 0.03
"""The share of the longest answer's length that an answer must have to be a conclusion."""
CONCLUSIVE = 0.2
"""The same for an answer that suffices as conclusion; if it is shorter, the one before is quoted, too."""
_CHANGES = re.compile(
    r"write|edit|create|patch|replace|apply|insert|delete|move|rename|update", re.IGNORECASE
)
"""Names of tools that change files."""
_FAILED = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ures?)?|den(?:ied|ies)|reject(?:s|ed)|refused|exceptions?|aborted|cancell?ed|undone|reverted|removed)\b"
    r"|\bnot found\b|\bno such\b",
    re.IGNORECASE,
)
"""Words in a line of a tool's output, whatever language people speak, about a failure or a reversal."""
_LISTED = re.compile(r"\d+\s*[│|→⋮\t]")
"""The beginning of a line of a file that a tool prints with its number."""
_PATH = re.compile(r"\w/\w|\w\.[A-Za-z]\w{0,4}$")


def default_budget(branch_tokens: int) -> int:
    """Return the default tokens of a payload."""
    return max(SMALLEST_BUDGET, math.ceil(branch_tokens * DEFAULT_SHARE))


def file_line(part: AttachmentPart) -> str:
    """Return the line of a payload that stands for a file."""
    return f"{one_line(part.name, LONGEST_NAME) or part.sha256[:8]} ({part.media_type})"


def note(
    messages: Sequence[Message],
    target_texts: Sequence[str],
    budget: float,
    *,
    focus: str = "",
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> list[PayloadLine]:
    """Write a note about `messages` for a reader who knows `target_texts`, within `budget` tokens."""
    branch = BranchDigest.of(messages, target_texts, focus)
    picker = Picker(branch.relevance, budget, _ratio(branch, count_tokens), branch.speakers)
    writer = _NoteWriter(branch, picker, budget)
    writer.write()
    return writer.within(budget, count_tokens)


def _ratio(branch: BranchDigest, count_tokens: Callable[[str], int]) -> float:
    """Return the model's tokens per estimated token, measured on a sample of the branch."""
    sample = "\n".join(one.text for one in branch.passages[:: max(1, len(branch.passages) // 50)])
    return max(0.2, count_tokens(sample) / max(1, estimate_tokens(sample))) if sample else 1.0


@dataclass(slots=True)
class _NoteWriter:
    branch: BranchDigest
    picker: Picker
    room: float
    """The tokens of the whole note."""
    section: dict[int, str] = field(default_factory=dict)
    """The section of a passage, wherever it stands in the branch."""
    asked_in: int = -1
    """The message with the branch's first request."""
    closed_in: int | None = None
    """The answer whose end closes the branch."""
    result_from: int | None = None
    """The message at which the result begins: the question of that answer, or an earlier summary."""
    files: list[PayloadLine] = field(default_factory=list)
    order: list[tuple[int, ...]] = field(default_factory=list)
    """Passages that were chosen together, the most important first."""

    def write(self) -> None:
        """Choose the lines of every section."""
        self.attach()
        if not self.branch.talk:
            self.ask()
            self.report()
            self.conclude()
            self.follow_up()
            self.change()
            self.quote_the_person()
            self.warn(self.branch.said_by("assistant"))
        self.cover()
        if not self.picker.chosen:
            # Nobody wrote anything in words of their own: tool calls and thanks are better than nothing.
            self._cover(range(len(self.branch.passages)), self.picker.budget)

    def attach(self) -> None:
        """Add one line for each file, since the note does not include files."""
        for message in self.branch.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    self._list_file(file_line(part), message.id, quoted=False)

    def ask(self) -> None:
        """Quote the branch's first request: the person's first message with content."""
        said = [turn for turn in self.branch.said_by("user") if self._telling(turn)]
        asked = next((turn for turn in said if not self.branch.is_command(turn)), said[0] if said else None)
        if asked is not None:
            self.asked_in = asked
            self._quote(
                self._telling(asked), self.room * ASKED_SHARE, whole=self.room, most=len(self.branch.passages)
            )

    def report(self) -> None:
        """Quote how the work with tools ended, where the branch then went on to something else."""
        said = self.branch.said_by("assistant")
        ended = [turn for turn in said if self.branch.reports(turn)]
        if not ended or ended[-1] == said[-1]:
            return
        taken: list[int] = []
        for at in self.branch.prose_of(ended[-1]):
            fits = self._cost([*taken, at]) <= min(self.room * DONE_SHARE, self.picker.budget)
            if not fits or leads_in(self.branch.passages[at]) or self.branch.is_item(at):
                break
            taken.append(at)
        self._take(taken)

    def warn(self, turns: Iterable[int]) -> None:
        """Quote what answers tell the reader not to do, the most relevant first."""
        said = (at for turn in turns for at in self.branch.prose_of(turn))
        warnings = [
            at for at in said if forbids(self.branch.passages[at].text) and not self.branch.is_chatter(at)
        ]
        for chosen in self.picker.cover(warnings, self.room * FORBIDS_SHARE, self._beside_warning):
            self.order.append(chosen)

    def _beside_warning(self, at: int) -> list[int]:
        """Return what a warning may not stand without; below a list it needs no line that led the list in."""
        alone = not self.branch.is_item(at)
        return [one for one in self._beside(at) if not (alone and leads_in(self.branch.passages[one]))]

    def conclude(self) -> None:
        """Quote the closing passage of the last answer with content, whole, below its question."""
        said = self.branch.said_by("assistant")
        answers = [turn for turn in said if turn not in self.branch.narrating] or said
        length = {turn: self.branch.length(turn) for turn in answers}
        longest = max(length.values(), default=0)
        used_tools = bool(self.branch.narrating)
        room = self.room * (REPORT_SHARE if used_tools else RESULT_SHARE)
        room -= self._recap(answers[-1] if answers else 0)
        for turn in reversed(answers):
            if not length[turn] or length[turn] < SUBSTANTIAL * longest:
                continue
            self.warn([turn])
            room -= self._close(turn, min(room, self.picker.budget))
            if length[turn] >= CONCLUSIVE * longest or room <= 0:
                return

    def _recap(self, last_answer: int) -> float:
        """Quote the sentence that summarises the branch if it is not in the last answer; return its cost."""
        recap = self.branch.recap()
        if recap is None or self.branch.passages[recap].turn >= last_answer:
            return 0
        cost = self.picker.cost(recap)
        if cost > self.room * RECAP_SHARE:
            return 0
        self._take([recap])
        self._begin_result(self.branch.passages[recap].turn)
        return cost

    def _close(self, turn: int, room: float) -> float:
        """Quote the beginning and the end of an answer, in whole blocks; an offer at its very end goes under Open."""
        before = self.picker.budget
        blocks = self.branch.blocks(turn, apart=self.closed_in is None)
        if turn == len(self.branch.messages) - 1 and blocks and self._asks(blocks[-1]):
            offer = blocks.pop()
            if self.picker.fits(offer[-1], room / 2):
                self._take([offer[-1]])
                self.section[offer[-1]] = OPEN
        if not blocks:
            return 0
        taken: list[int] = []
        if len(blocks) > 1:
            taken += self._beginning(blocks, room)
        for block in reversed(blocks):
            left = room - self._cost(taken)
            mine = block if self._cost(block) <= left else self._front(block, left)
            taken += mine
            if len(mine) < len(block):
                break
        if not taken:
            return 0
        self._take(sorted(taken))
        self.closed_in = turn if self.closed_in is None else self.closed_in
        begins = turn
        question = self.branch.question_before(turn)
        if question is not None and question != self.asked_in:
            begins = question
            self._quote(self._telling(question), room)
        self._begin_result(begins)
        return before - self.picker.budget

    def _beginning(self, blocks: list[list[int]], room: float) -> list[int]:
        """Return the beginning of an answer and take it from its blocks: the first one whole, else the sentences before
        what it leads in; () if there is no room.
        """
        first, passages = blocks[0], self.branch.passages
        told = [at for at in first if passages[at].row == passages[first[0]].row]
        if self._cost(first) <= room * BEGINNING_SHARE:
            blocks.pop(0)
            return first[: -1 if leads_in(passages[first[-1]]) else None]
        said = told[: -1 if leads_in(passages[told[-1]]) else None]
        if len(said) == len(told) or not said or self._cost(said) > self.room * BEGINNING_SHARE:
            return []
        blocks[0] = first[len(said) :]
        return said

    def _begin_result(self, turn: int) -> None:
        self.result_from = turn if self.result_from is None else min(turn, self.result_from)

    def _cost(self, passages: Iterable[int]) -> float:
        return sum(map(self.picker.cost, passages))

    def _asks(self, block: Sequence[int]) -> bool:
        return is_question(self.branch.passages[block[-1]].text)

    def _front(self, block: Sequence[int], room: float) -> Sequence[int]:
        """Return as much of a block's beginning as there is room for; () if that would only be a lead-in."""
        end = 0
        while end < len(block) and self._cost(block[: end + 1]) <= room:
            end += 1
        return () if end and leads_in(self.branch.passages[block[end - 1]]) else block[:end]

    def follow_up(self) -> None:
        """Quote what the person said after the result, and the last output of tools."""
        if self.closed_in is None:
            return
        last = max(self.branch.passages[at].turn for at in self.picker.chosen)
        after = range(len(self.branch.messages) - 1, last, -1)
        for turn in after:
            if self.branch.messages[turn].role == "user":
                self._quote(self._telling(turn), self.room)
        room = self.room * AFTERWARDS_SHARE
        for turn in after:
            for at in self._outcome(turn):
                if self.picker.fits(at, room):
                    room -= self.picker.cost(at)
                    self._take([at])

    def _outcome(self, turn: int) -> list[int]:
        """Return the lines of a tool's output about its outcome: failures, then the last ones with a name."""
        passages = self.branch.passages
        output = [at for at in self.branch.of_turn(turn) if passages[at].shape == "output"]
        told = [at for at in output if not (_LISTED.match(passages[at].text) or is_code(passages[at].text))]
        failed = [at for at in told if _FAILED.search(passages[at].text)][:LAST_LINES]
        named = [at for at in told if self.branch.names_in(at) and at not in failed]
        return (failed + named[::-1])[:LAST_LINES]

    def change(self) -> None:
        """Quote the files that tools changed, one line each with its last change."""
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

    def quote_the_person(self) -> None:
        """Quote the person's messages, the most relevant first and questions last, within their share."""
        room = self.room * PERSON_SHARE
        said = {turn: mine for turn in self.branch.said_by("user") if (mine := self._telling(turn))}
        gains = {turn: max(map(self.picker.gain, mine)) for turn, mine in said.items()}
        for turn in sorted(
            said, key=lambda turn: (not self._only_asks(turn), gains[turn], turn), reverse=True
        ):
            if not any(at in self.picker.chosen for at in self.branch.prose_of(turn)):
                room -= self._quote(said[turn], room)

    def _only_asks(self, turn: int) -> bool:
        return all(is_question(self.branch.passages[at].text) for at in self.branch.prose_of(turn))

    def _telling(self, turn: int) -> list[int]:
        """Return the sentences of a person's message that are their own and have content."""
        own = self.branch.own_words(turn)
        return [at for at in own if self.branch.says_something(at)]

    def _quote(self, own: Sequence[int], room: float, *, whole: float = WHOLE, most: int = 1) -> float:
        """Quote a person's message, whole if it is short; return its cost.

        From a longer one, quote as many of its most relevant sentences as fit, at most `most`.
        """
        before = self.picker.budget
        room = min(room, self.picker.budget)
        if self._cost(own) <= min(whole, room):
            self._take(own)
            return before - self.picker.budget
        for at in sorted(own, key=self.picker.gain, reverse=True):
            if most and self.picker.cost(at) <= room - (before - self.picker.budget):
                self._take([at])
                most -= 1
        return before - self.picker.budget

    def _beside(self, at: int) -> list[int]:
        return [one for one in self.branch.not_alone(at) if one not in self.picker.chosen]

    def _in_context(self, at: int) -> list[int]:
        return [one for one in self.branch.in_context(at) if one not in self.picker.chosen]

    def cover(self) -> None:
        """Quote the passages with the most relevance for their length, with those they may not be quoted without."""
        pasted = {at for turn in range(len(self.branch.messages)) for at in self.branch.pasted(turn)}
        among = [
            at
            for at, one in enumerate(self.branch.passages)
            if one.shape in ("prose", "code")
            and not leads_in(one)
            and at not in self.branch.announced
            and not self.branch.is_chatter(at)
            and at not in pasted
            and not (self.branch.talk and is_question(one.text))
        ]
        self._cover(among, self.picker.budget)
        self.complete()

    def complete(self) -> None:
        """Quote the rest of the closing answer, as far as there is room left: it reads best whole."""
        if self.closed_in is None:
            return
        for block in self.branch.blocks(self.closed_in):
            left = [at for at in block if at not in self.picker.chosen]
            if left and self._cost(left) <= self.picker.budget:
                self._take(left)

    def _cover(self, among: Iterable[int], room: float) -> None:
        beside = self._in_context if self.branch.talk else self._beside
        for chosen in self.picker.cover(among, room, beside):
            self.order.append(chosen)

    def _take(self, passages: Sequence[int]) -> None:
        for at in passages:
            self.picker.take(at)
        if passages:
            self.order.append(tuple(passages))

    def within(self, budget: float, count_tokens: Callable[[str], int]) -> list[PayloadLine]:
        """Return the lines in the order of their sections, dropping the last chosen ones until they fit into the
        budget.
        """
        while True:
            lines = self._lines()
            if not lines or count_tokens(render("", lines, ShortIds())) <= budget:
                return lines
            if self.order:
                self.picker.chosen.difference_update(self.order.pop())
            else:
                self.files.pop()

    def _section(self, at: int, first: int) -> str:
        """Return the section of a passage in a note that begins with message `first`."""
        turn = self.branch.passages[at].turn
        if at in self.section or self.branch.talk:
            return self.section.get(at, FACTS)
        if turn == self.asked_in == first:
            return ASKED
        return RESULT if self.result_from is not None and turn >= self.result_from else FACTS

    def _lines(self) -> list[PayloadLine]:
        order = {title: at for at, title in enumerate(NOTE)}
        passages = self.branch.passages
        told = self.picker.chosen - self.branch.dangling(self.picker.chosen)
        first = min((passages[at].turn for at in told - self.section.keys()), default=-1)
        sections = {at: self._section(at, first) for at in told}
        rows = sorted(sections, key=lambda at: (order[sections[at]], passages[at].place))
        lines: list[PayloadLine] = []
        last: int | None = None
        for at in rows:
            one, section = passages[at], sections[at]
            follows = last is not None and lines[-1].section == section
            joined = _joined(passages[last], one, lines[-1].text) if follows and last is not None else ""
            if joined:
                lines.pop()
            speaker = self.branch.speakers[one.message]
            lines += (
                PayloadLine(text, (one.message,), section, quoted=True, speaker=speaker)
                for text in (joined or one.text).split("\n")
            )
            last = at
        return [*lines, *self.files]


def _joined(before: NotePassage, after: NotePassage, text: str) -> str:
    """Return two sentences that follow each other in one paragraph as one piece of it; "" if they don't."""
    if (before.turn, before.row) != (after.turn, after.row) or after.place != before.place + 1:
        return ""
    row = after.whole_row
    start = row.find(text)
    end = row.find(after.text, start + len(text)) if start >= 0 else -1
    return row[start : end + len(after.text)] if end >= 0 else ""
