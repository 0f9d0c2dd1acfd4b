"""A note of a branch without a model: what people and models said, word for word, in the order in which it was said.

The passages that are worth most to somebody who goes on (traits.py) are chosen until the room is full, each with what
it would be misread without: the line that leads it in, the sentence it refers back to, the question it answers, the
reply that turns it down, the last sentence about the same subject. So of two statements that differ the later one is
never missing. What the note has already makes a passage worth less.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.headings import FILES, SAID
from forky_core.merge.note.branch import NoteBranch
from forky_core.merge.note.passages import NotePassage, call_text
from forky_core.merge.note.traits import worths
from forky_core.merge.wording import ShortIds, one_line
from forky_core.model import Message, MessageId
from forky_core.model.parts import AttachmentPart, ToolCallPart
from forky_core.text.passages import atoms, is_code
from forky_core.text.words import terms

SMALLEST_BUDGET = 200
DEFAULT_SHARE = 0.2
LARGEST_BUDGET = 1_500
LONGEST_NAME = 120
"""The longest name of a file, in characters."""
FILES_SHARE = 0.08
"""The largest share of the room for the paths of changed files."""
LEAST = 0.12
"""The worth below which a passage is not told: a gap reads better than a line without content."""
AGAIN = 0.25
"""The share of a passage's worth that is left if the note has all its words already."""
LENGTH = 0.25
"""How much the length of a passage counts against its worth, from 0, not at all, to 1, token by token."""
BESIDE = 1.5
"""The factor for a passage beside a chosen one of its message: neighbours read better together."""
CITATION = len(" [3f2a91]\n") / 4
"""The tokens of a citation."""
IN_FOCUS = 4.0
"""The factor for a passage about what the person asked for."""
FAILURE = 0.5
OUTPUT = 0.25
"""The worth of a tool's output after the last words of the branch, with and without a failure."""
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
    """Return the default tokens of a payload: a fifth of the branch, within bounds."""
    return min(LARGEST_BUDGET, max(SMALLEST_BUDGET, math.ceil(branch_tokens * DEFAULT_SHARE)))


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
    return note_of(NoteBranch.of(messages, target_texts), budget, focus=focus, count_tokens=count_tokens)


def note_of(
    branch: NoteBranch,
    budget: float,
    *,
    focus: str = "",
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> list[PayloadLine]:
    """Write a note about a branch that has been read, within `budget` tokens."""
    outcomes = _outcomes(branch)
    worth = _wanted(branch, focus)
    for at, value in outcomes.items():
        worth[at] = value
    writer = _NoteWriter(branch, worth, budget, _ratio(branch, count_tokens))
    writer.list_files()
    writer.choose(at for at in range(len(branch.passages)) if branch.told[at] or at in outcomes)
    if all(branch.passages[at].shape == "output" for at in writer.chosen):
        # Nobody wrote anything in words of their own: tool calls and thanks are better than nothing.
        writer.least = 0.0
        writer.choose(range(len(branch.passages)))
    return writer.within(budget, count_tokens)


def only_courtesies(messages: Sequence[Message]) -> bool:
    """Whether messages say nothing but greetings and thanks."""
    branch = NoteBranch.of(messages, ())
    spoken = all(one.shape == "prose" for one in branch.passages)
    return bool(branch.passages) and spoken and not any(branch.told)


def _wanted(branch: NoteBranch, focus: str) -> list[float]:
    """Return the worth of every passage for a reader who asks for `focus`."""
    asked = frozenset(terms(focus))
    return [
        worth * (IN_FOCUS if asked & words else 1.0)
        for worth, words in zip(worths(branch), branch.words, strict=True)
    ]


def _outcomes(branch: NoteBranch) -> dict[int, float]:
    """Return the output of tools after which nobody said anything, with its worth."""
    told = zip(branch.messages, branch.texts, strict=True)
    spoken = (turn for turn, (one, text) in enumerate(told) if one.role != "tool" and text.strip())
    last_said = max(spoken, default=-1)
    return {
        at: FAILURE if _FAILED.search(one.text) else OUTPUT
        for at, one in enumerate(branch.passages)
        if one.shape == "output" and one.turn >= last_said
        if not (_LISTED.match(one.text) or is_code(one.text))
    }


def _ratio(branch: NoteBranch, count_tokens: Callable[[str], int]) -> float:
    """Return the model's tokens per estimated token, measured on a sample of the branch."""
    sample = "\n".join(one.text for one in branch.passages[:: max(1, len(branch.passages) // 50)])
    return max(0.2, count_tokens(sample) / max(1, estimate_tokens(sample))) if sample else 1.0


@dataclass(slots=True)
class _NoteWriter:
    branch: NoteBranch
    worth: Sequence[float]
    room: float
    """The tokens that are left."""
    ratio: float
    """The model's tokens per estimated token."""
    least: float = LEAST
    """The worth below which a passage is not told, although there is room."""
    chosen: set[int] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    """The words of the chosen passages."""
    opened: set[MessageId] = field(default_factory=set)
    """The messages from which something is chosen."""
    files: list[PayloadLine] = field(default_factory=list)
    order: list[tuple[int, ...]] = field(default_factory=list)
    """Passages that were chosen together, in the order in which they were."""

    def list_files(self) -> None:
        """Add a line for each attached file, and for each file that a tool changed with its last change."""
        for message in self.branch.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    self._list(file_line(part), message.id, quoted=False)
        left = self.room * FILES_SHARE
        named: set[str] = set()
        for message in reversed(self.branch.messages):
            for path in _changed(message):
                if path not in named and estimate_tokens(path) + CITATION <= left:
                    named.add(path)
                    left -= self._list(path, message.id, quoted=True)

    def _list(self, line: str, id: MessageId, *, quoted: bool) -> float:
        cost = estimate_tokens(line) + CITATION
        self.room -= cost
        self.files.append(PayloadLine(line, (id,), FILES, quoted=quoted))
        return cost

    def choose(self, among: Iterable[int]) -> None:
        """Choose the passages that are worth most for their length, with what they need, while there is room."""
        wanted = frozenset(at for at in among if at not in self.chosen)
        heap = [(-self._gain((at,)), at) for at in wanted]
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            if at in self.chosen:
                continue
            group = (at, *(one for one in self.branch.needs(at) if one not in self.chosen))
            gain = self._gain(group)
            if heap and gain < -heap[0][0]:
                heapq.heappush(heap, (-gain, at))
                continue
            if self.worth[at] < self.least or self._cost(group) > self.room:
                continue
            self.room -= self._cost(group)
            self.order.append(group)
            self.chosen.update(group)
            mine = [
                one
                for chosen in group
                for one in (chosen - 1, chosen + 1)
                if one in wanted and one not in self.chosen
            ]
            for one in mine:
                heapq.heappush(heap, (-self._gain((one,)), one))
            for one in group:
                self.covered |= self.branch.words[one]
                self.opened.add(self.branch.passages[one].message)

    def _gain(self, group: Sequence[int]) -> float:
        """Return what passages that belong together add to the note for their length."""
        whole: float = sum(self._added(at) * self._size(at) ** (1 - LENGTH) for at in group)
        return whole / self._cost(group)

    def _added(self, at: int) -> float:
        """Return what a passage adds to the chosen ones."""
        words = self.branch.words[at]
        fresh = len(words - self.covered) / len(words) if words else 1.0
        turn = self.branch.passages[at].turn
        beside = any(
            one in self.chosen and self.branch.passages[one].turn == turn for one in (at - 1, at + 1)
        )
        return self.worth[at] * (BESIDE if beside else 1.0) * (AGAIN + (1 - AGAIN) * fresh)

    def _size(self, at: int) -> float:
        text = self.branch.passages[at].text
        return len(text) / 4 if text.isascii() else estimate_tokens(text)

    def _cost(self, group: Iterable[int]) -> float:
        """Return the tokens that quoting passages adds."""
        tokens, opened = 0.0, set(self.opened)
        for at in group:
            id = self.branch.passages[at].message
            tokens += self._size(at)
            if id not in opened:
                opened.add(id)
                tokens += CITATION + len(self.branch.speakers[id]) / 4
        return tokens * self.ratio

    def within(self, budget: float, count_tokens: Callable[[str], int]) -> list[PayloadLine]:
        """Return the lines, without those that were chosen last until they fit into the budget."""
        while True:
            lines = [*self._lines(), *self.files]
            if not lines or count_tokens(render("", lines, ShortIds())) <= budget:
                return lines
            if self.order:
                self.chosen.difference_update(self.order.pop())
            else:
                self.files.pop()

    def _lines(self) -> Iterator[PayloadLine]:
        passages = self.branch.passages
        said: list[tuple[NotePassage, str]] = []
        for at in sorted(self.branch.without_hanging(self.chosen)):
            one = passages[at]
            joined = _joined(said[-1][0], one, said[-1][1]) if said else ""
            if joined:
                said.pop()
            said.append((one, joined or one.text))
        for one, text in said:
            speaker = self.branch.speakers[one.message]
            for row in text.split("\n"):
                yield PayloadLine(row, (one.message,), SAID, quoted=True, speaker=speaker)


def _changed(message: Message) -> Iterator[str]:
    """Yield the paths of the files that a message's tool calls change."""
    for part in message.parts:
        if isinstance(part, ToolCallPart) and _CHANGES.search(part.name):
            first = call_text(part).split("\n", 1)[0]
            yield from [atom for atom in atoms(first) if _PATH.search(atom)][:1]


def _joined(before: NotePassage, after: NotePassage, text: str) -> str:
    """Return two sentences that follow each other in one paragraph as one piece of it; "" if they don't."""
    if (before.turn, before.row) != (after.turn, after.row) or after.place != before.place + 1:
        return ""
    row = after.whole_row
    start = row.find(text)
    end = row.find(after.text, start + len(text)) if start >= 0 else -1
    return row[start : end + len(after.text)] if end >= 0 else ""
