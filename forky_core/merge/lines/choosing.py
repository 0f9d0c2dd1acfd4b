"""The lines of a branch most worth keeping within a budget: what a squash without a model quotes, word for word.

Greedy coverage: a line is worth its chance of being needed again, and the chances of the names in it that are not
covered yet (worth.py), per token it costs with its share of the citation: a further line of a message that is quoted
already costs less than the first. Lines the target has count for nothing. What a reader cannot do without is taken
first: where the branch ended, decisions, corrections, errors. Then names that found no place are listed, in a ledger of
at most a tenth of the budget; none of them is taken out of a sentence that denies it (polarity.py). Nothing is
rephrased, so nothing can be invented.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forky_core.context.citing import SOURCES, cites, own_sources
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import PayloadLine
from forky_core.merge.headings import ATTACHED, NAMES, SECTIONS
from forky_core.merge.lines.candidates import BYTES_PER_TOKEN, Candidate, Quotable, size
from forky_core.merge.lines.focus import spoken_of
from forky_core.merge.lines.indispensable import indispensable
from forky_core.merge.lines.units import NO_NAMES, Names, atoms, is_named
from forky_core.merge.lines.worth import IN_FOCUS, OLD_NEWS
from forky_core.merge.polarity import stated
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart

LEDGER_SHARE = 0.1
KEPT_SHARE = 0.07
"""Of the budget, the most that decisions, corrections and errors take before the rest competes."""
ASKED_SHARE = 0.5
"""Of the budget, the most that lines about the focus take before the rest competes."""
SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2
_CITATION = " [3f2a91]\n"
_COMMA = ", "
_PLUS = "\n+ "


def file_line(part: AttachmentPart) -> str:
    """What stands in a payload for a file."""
    return f"{part.name or part.sha256[:8]} ({part.media_type})"


def default_budget(branch_tokens: int) -> int:
    """Tokens of a payload where the person named none."""
    return max(SMALLEST_BUDGET, math.ceil(branch_tokens * DEFAULT_SHARE))


def extract(
    messages: Sequence[Message],
    target_texts: Iterable[str],
    budget: int,
    *,
    names: Names = NO_NAMES,
    focus: str = "",
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> list[PayloadLine]:
    """The lines to quote of `messages` for a reader who knows `target_texts`, within `budget` tokens.

    `names` can be named of them, and not quoted. In the order of SECTIONS, and inside each in the order they were said.
    """
    reading = Quotable.of(messages, list(target_texts), names)
    told = spoken_of(focus, [candidate.unit.text for candidate in reading.candidates])
    asked = {c.unit.place: share for c, share in zip(reading.candidates, told, strict=True) if share}
    picker = _Picker(reading, budget, asked, frozenset(a.casefold() for a in atoms(focus)), count_tokens)
    picker.keep_asked()
    picker.keep_indispensable()
    picker.cover(budget * (1 - LEDGER_SHARE))
    picker.attach()
    picker.source()
    picker.ledger()
    picker.cover(budget)
    return picker.lines()


@dataclass(slots=True)
class _Picker:
    """The state of one extraction."""

    reading: Quotable
    budget: int
    asked: Mapping[int, float]
    """Lines that speak of the focus, by place: how much of it."""
    focus: frozenset[str]
    """Its names."""
    count_tokens: Callable[[str], int]
    weight: dict[str, float] = field(default_factory=dict)
    """Of an atom: its part of all that names are worth."""
    chosen: dict[int, Candidate] = field(default_factory=dict)
    """By place."""
    files: list[PayloadLine] = field(default_factory=list)
    named: dict[int, list[str]] = field(default_factory=dict)
    """The ledger: names by the number of the message that says them."""
    sources: dict[int, str] = field(default_factory=dict)
    """SOURCES lines by the number of the message whose quoted lines cite them."""
    covered: set[str] = field(default_factory=set)
    opened: set[tuple[str, MessageId]] = field(default_factory=set)
    """Citations that stand already: a section and a message."""
    titles: set[str] = field(default_factory=set)
    spent: float = 0.0
    ratio: float = 1.0
    """Tokens as the model counts them per token of the estimate."""
    line_share: float = 1.0
    """One, over all that lines are worth."""

    def __post_init__(self) -> None:
        reading = self.reading
        for atom, worth in reading.worths.items():
            new = OLD_NEWS if atom in reading.known else 1.0
            self.weight[atom] = worth * new * (IN_FOCUS if atom.casefold() in self.focus else 1.0)
        sample = "\n".join(c.unit.text for c in reading.candidates[:: max(1, len(reading.candidates) // 50)])
        if sample:
            self.ratio = max(0.2, self.count_tokens(sample) / max(1, estimate_tokens(sample)))
        for candidate in reading.candidates if self.asked else ():
            candidate.chance *= 1 + IN_FOCUS * self.asked.get(candidate.unit.place, 0.0)
        share = self.budget / max(1.0, reading.size * self.ratio)
        whole = sum(self.weight.values())
        names = names_beside_lines(share, reading.prose) / whole if whole else 0.0
        self.weight = {atom: worth * names for atom, worth in self.weight.items()}
        self.line_share = 1 / max(1e-9, sum(c.chance for c in reading.candidates))

    def _cost(self, text: str, section: str, message: MessageId) -> float:
        """Tokens that quoting a line adds, with its part of the heading and the citation."""
        further = 1 if (section, message) in self.opened else len(_CITATION)
        title = 0 if section in self.titles else len(section) + 2
        return (size(text) + (further + title) / BYTES_PER_TOKEN) * self.ratio

    def _gain(self, candidate: Candidate) -> float:
        fresh = sum(self.weight[atom] for atom in candidate.atoms if atom not in self.covered)
        cost = self._cost(candidate.unit.text, candidate.section, candidate.unit.message)
        return (candidate.chance * self.line_share + fresh) / cost

    def _take(self, candidate: Candidate) -> bool:
        """Whether it opened a citation."""
        unit = candidate.unit
        self.chosen[unit.place] = candidate
        self.covered.update(candidate.atoms)
        return self._open(unit.text, candidate.section, unit.message)

    def _open(self, text: str, section: str, message: MessageId) -> bool:
        self.spent += self._cost(text, section, message)
        self.titles.add(section)
        new = (section, message) not in self.opened
        self.opened.add((section, message))
        return new

    def keep_asked(self) -> None:
        """Lines that speak of what matters to the person, most of it first, within their share; one may take more."""
        told = [c for c in self.reading.candidates if c.unit.place in self.asked]
        for candidate in sorted(told, key=lambda c: (-self.asked[c.unit.place], -self._gain(c))):
            room = ASKED_SHARE if self.chosen else 1 - LEDGER_SHARE
            if self.spent + self._price(candidate) <= self.budget * room:
                self._take(candidate)

    def keep_indispensable(self) -> None:
        """Decisions, corrections and errors, the latest first, within their share; then the conclusion."""
        asked = self.spent
        found = [(indispensable(c.unit), c) for c in reversed(self.reading.candidates)]
        decided = False
        for section, candidate in sorted(found, key=lambda one: one[0] != "Decided"):
            # The last decision may take more: a merge without what was decided is worth little.
            first = section == "Decided" and not decided
            room = self.budget * (1 - LEDGER_SHARE if first else KEPT_SHARE)
            if candidate.unit.place in self.chosen:
                continue
            if section and self.spent + self._price(candidate, section) <= min(self.budget, asked + room):
                candidate.section = section
                decided = decided or section == "Decided"
                self._take(candidate)
        conclusion = self._conclusion()
        if conclusion is not None and conclusion.unit.place not in self.chosen:
            self._take(conclusion)

    def _price(self, candidate: Candidate, section: str = "") -> float:
        return self._cost(candidate.unit.text, section or candidate.section, candidate.unit.message)

    def _conclusion(self) -> Candidate | None:
        """The best line of prose of the last answer; the shortest, where there is room for none."""
        last = next((m.id for m in reversed(self.reading.messages) if m.role == "assistant"), None)
        of_last = [c for c in self.reading.candidates if c.unit.message == last]
        own = [c for c in of_last if c.unit.shape == "prose"] or of_last[-1:]
        fitting = [c for c in own if self._price(c) <= self.budget * KEPT_SHARE]
        return max(fitting, key=self._gain) if fitting else min(own, key=_length, default=None)

    def cover(self, limit: float) -> None:
        """Most worth per token first.

        A line's worth is looked up again when its turn comes, since it falls as its names are covered; where a citation
        opens, which makes its other lines cheaper, they line up anew.
        """
        free = [c for c in self.reading.candidates if c.unit.place not in self.chosen]
        beside: dict[tuple[str, MessageId], list[Candidate]] = {}
        for candidate in free:
            beside.setdefault((candidate.section, candidate.unit.message), []).append(candidate)
        heap = [(-self._gain(c), c.unit.place, c) for c in free]
        heapq.heapify(heap)
        while heap:
            _, place, candidate = heapq.heappop(heap)
            if place in self.chosen or self.spent + self._price(candidate) > limit:
                continue
            gain = self._gain(candidate)
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, place, candidate))
            elif gain > 0 and self._take(candidate):
                for other in beside[candidate.section, candidate.unit.message]:
                    if other.unit.place not in self.chosen:
                        heapq.heappush(heap, (-self._gain(other), other.unit.place, other))

    def attach(self) -> None:
        """One line for each file, since the squash does not carry it."""
        for message in self.reading.messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    line = file_line(part)
                    self._open(line, ATTACHED, message.id)
                    self.files.append(PayloadLine(line, (message.id,), ATTACHED))

    def source(self) -> None:
        """Below quoted lines that cite passages, what their message says the numbers mean; the latest first."""
        told = {c.unit.turn for c in self.chosen.values() if c.unit.text.startswith(SOURCES)}
        for _, candidate in sorted(self.chosen.items(), reverse=True):
            unit = candidate.unit
            if unit.turn in told or not cites(unit.text):
                continue
            told.add(unit.turn)
            line = own_sources(self.reading.messages[unit.turn].text)
            if line and self.spent + self._cost(line, candidate.section, unit.message) <= self.budget:
                self._open(line, candidate.section, unit.message)
                self.sources[unit.turn] = line

    def ledger(self) -> None:
        """Names that found no place, each with a message that states it: one that is cited already, if there is."""
        limit = min(self.budget, self.spent + self.budget * LEDGER_SHARE)
        said = [message.role != "tool" for message in self.reading.messages]
        left = {
            atom
            for atom in self.reading.uses
            if is_named(atom) and atom not in self.covered and atom not in self.reading.known
        }
        missing = {
            atom: turns
            for atom, stating in stated(self.reading.messages, left).items()
            if (turns := [turn for turn in stating if said[turn]])
        }
        held = Counter(turn for turns in missing.values() for turn in turns)
        quoted = {candidate.unit.turn for candidate in self.chosen.values()}
        for atom in sorted(missing, key=lambda atom: (-self.weight[atom] / (size(atom) + 1), atom)):
            turn = max(missing[atom], key=lambda turn: (turn in self.named, turn in quoted, held[turn], turn))
            cost = self._cost_of_name(atom, turn, quoted)
            if self.spent + cost <= limit:
                self.spent += cost
                self.covered.add(atom)
                self.named.setdefault(turn, []).append(atom)
                if turn not in quoted:
                    self.titles.add(NAMES)

    def _cost_of_name(self, name: str, turn: int, quoted: Container[int]) -> float:
        if turn not in self.named and turn not in quoted:
            return self._cost(name, NAMES, self.reading.messages[turn].id)
        sign = _COMMA if turn in self.named else _PLUS
        return (size(name) + len(sign) / BYTES_PER_TOKEN) * self.ratio

    def lines(self) -> list[PayloadLine]:
        """What was chosen, each message's further names below its last line."""
        found: list[tuple[int, int, PayloadLine]] = []
        last: dict[int, Candidate] = {}
        for place, candidate in sorted(self.chosen.items()):
            unit = candidate.unit
            line = PayloadLine(unit.text, (unit.message,), candidate.section, quoted=True)
            found.append((SECTIONS.index(line.section), 2 * place, line))
            last[unit.turn] = candidate
        for turn, text in self.sources.items():
            # Before its further names, which sort alike.
            line = PayloadLine(text, (self.reading.messages[turn].id,), last[turn].section, quoted=True)
            found.append((SECTIONS.index(line.section), 2 * last[turn].unit.place + 1, line))
        for turn, names in sorted(self.named.items()):
            below = last.get(turn)
            section = below.section if below is not None else NAMES
            line = PayloadLine(_COMMA.join(names), (self.reading.messages[turn].id,), section, names=True)
            place = 2 * below.unit.place + 1 if below is not None else turn
            found.append((SECTIONS.index(section), place, line))
        found += [(SECTIONS.index(line.section), at, line) for at, line in enumerate(self.files)]
        return [line for _, _, line in sorted(found, key=lambda one: one[:2])]


def names_beside_lines(share: float, prose: float) -> float:
    """How much all names are worth beside all lines, where a payload is this share of its branch.

    The scarcer the room, the more: a name costs a fraction of the line it stands in. In pure prose more again, since
    hardly a sentence is needed for its wording. Tuned on the development split and on made-up dialogues.
    """
    return min(8.0, max(0.3, 0.04 / max(share, 1e-6) ** 2)) * (1 + 9 * prose)


def _length(candidate: Candidate) -> int:
    return len(candidate.unit.text)
