"""A squash without a model: the lines of a branch most worth keeping, quoted word for word.

Greedy coverage: a line is worth its chance of being needed again, and the chances of the names in it that are not
covered yet (merge/worth.py), per token it costs with its share of the citation: a further line of a message that is
quoted already costs less than the first. Lines the target has count for nothing. What a reader cannot do without is
taken first: decisions, corrections, errors, and where the branch ended. Then names that found no place are listed in a
ledger of at most a tenth of the budget. Nothing is rephrased, so nothing can be invented.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.indispensable import indispensable
from forky_core.merge.units import Unit, atoms, is_name, is_named, plain, plain_lines, units
from forky_core.merge.worth import (
    IN_FOCUS,
    LINE_WORTH,
    NAME_WORTH,
    OLD_NEWS,
    Sayings,
    Uses,
    chance,
    kind,
    line_features,
    name_features,
    uses,
)
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart

LEDGER_SHARE = 0.1
KEPT_SHARE = 0.1
"""Of the budget, the most that decisions, corrections, errors and the conclusion take before the rest competes."""
SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2
_BYTES_PER_TOKEN = 4
_FURTHER = "\n "
"""Before a further line of an entry."""
_COMMA = ", "
_SHORTEST = 8
"""Characters below which a line without a name is not worth its citation: `try:`, “Sure!”."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a payload."""

    text: str
    cites: tuple[MessageId, ...]
    section: str
    quoted: bool = False
    """Stands word for word in its one message; such neighbours in a section share their citation."""


SECTIONS = (
    "Decided",
    "Asked",
    "Errors",
    "Excerpts",
    "From tools",
    "Attached",
    "Also named",
    "End",
)
"""In the order they are shown."""


@dataclass(slots=True)
class Candidate:
    """A line that may be quoted."""

    unit: Unit
    atoms: tuple[str, ...]
    features: tuple[float, ...]
    section: str
    chance: float = 0.0


def default_budget(branch_tokens: int) -> int:
    """Tokens of a payload where the person named none."""
    return max(SMALLEST_BUDGET, math.ceil(branch_tokens * DEFAULT_SHARE))


def extract(
    messages: Sequence[Message],
    target_texts: Iterable[str],
    budget: int,
    *,
    focus: str = "",
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> list[Line]:
    """The lines to quote of `messages` for a reader who knows `target_texts`, within `budget` tokens.

    In the order of SECTIONS, and inside each in the order they were said.
    """
    reading = Reading.of(messages, list(target_texts))
    picker = _Picker(reading, budget, frozenset(a.casefold() for a in atoms(focus)), count_tokens)
    picker.keep_indispensable()
    picker.cover(budget * (1 - LEDGER_SHARE))
    picker.attach()
    picker.ledger()
    picker.cover(budget)
    return picker.lines()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a branch says, as far as the target does not know it."""

    messages: Sequence[Message]
    candidates: tuple[Candidate, ...]
    """Distinct lines, each where it was said last, in that order."""
    uses: dict[str, Uses]
    known: frozenset[str]
    """Atoms of the target."""
    size: float
    """Tokens of all its lines, estimated."""

    @classmethod
    def of(cls, messages: Sequence[Message], target_texts: Sequence[str]) -> Reading:
        found = units(messages)
        said_in = [atoms(unit.text) for unit in found]
        by_atom = uses(found, said_in)
        known = plain_lines(target_texts)
        sayings: dict[str, Sayings] = {}
        for unit in found:
            key = plain(unit.text)
            if key and key not in known and _quotable(key, said_in[unit.place]):
                said = sayings.get(key)
                if said is None:
                    said = sayings[key] = Sayings(unit)
                said.add(unit)
        ordered = sorted(sayings.values(), key=lambda said: said.unit.place)
        return cls(
            messages,
            tuple(_candidate(said, said_in[said.unit.place], by_atom, len(messages)) for said in ordered),
            by_atom,
            frozenset(atom for text in target_texts for atom in atoms(text)),
            sum(_size(unit.text) for unit in found),
        )


def _candidate(said: Sayings, mine: tuple[str, ...], by_atom: dict[str, Uses], turns: int) -> Candidate:
    features = line_features(said, mine, by_atom, turns)
    return Candidate(said.unit, mine, features, _section(said.unit), chance(features, LINE_WORTH))


@dataclass(slots=True)
class _Picker:
    """The state of one extraction."""

    reading: Reading
    budget: int
    focus: frozenset[str]
    count_tokens: Callable[[str], int]
    weight: dict[str, float] = field(default_factory=dict)
    """Of an atom: its part of all that names are worth."""
    chosen: dict[int, Candidate] = field(default_factory=dict)
    """By place."""
    extra: list[Line] = field(default_factory=list)
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
        turns = len(reading.messages)
        for atom, use in reading.uses.items():
            worth = kind(atom, len(use.turns)) * chance(name_features(atom, use, turns), NAME_WORTH)
            worth *= OLD_NEWS if atom in reading.known else 1.0
            self.weight[atom] = worth * (IN_FOCUS if atom.casefold() in self.focus else 1.0)
        sample = "\n".join(c.unit.text for c in reading.candidates[:: max(1, len(reading.candidates) // 50)])
        if sample:
            self.ratio = max(0.2, self.count_tokens(sample) / max(1, estimate_tokens(sample)))
        for candidate in reading.candidates if self.focus else ():
            candidate.chance *= 1 + IN_FOCUS * len(
                self.focus.intersection(map(str.casefold, candidate.atoms))
            )
        share = self.budget / max(1.0, reading.size * self.ratio)
        whole = sum(self.weight.values())
        names = names_beside_lines(share) / whole if whole else 0.0
        self.weight = {atom: worth * names for atom, worth in self.weight.items()}
        self.line_share = 1 / max(1e-9, sum(c.chance for c in reading.candidates))

    def _cost(self, text: str, section: str, message: MessageId) -> float:
        """Tokens that quoting a line adds, with its part of the heading and the citation."""
        if (section, message) in self.opened:
            return (_size(text) + len(_FURTHER) / _BYTES_PER_TOKEN) * self.ratio
        title = 0 if section in self.titles else len(section) + 2
        return (_size(text) + (len("-  [3f2a91]\n") + title) / _BYTES_PER_TOKEN) * self.ratio

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

    def keep_indispensable(self) -> None:
        """The conclusion, then decisions, corrections and errors, the latest first, within their share."""
        limit = self.budget * KEPT_SHARE
        for candidate in self._conclusion():
            if not self.chosen or self.spent + self._price(candidate, "End") <= limit:
                candidate.section = "End"
                self._take(candidate)
        found = [(indispensable(c.unit), c) for c in reversed(self.reading.candidates)]
        decided = False
        for section, candidate in sorted(found, key=lambda one: one[0] != "Decided"):
            # The last decision may take more: a merge without what was decided is worth little.
            first = section == "Decided" and not decided
            room = self.budget * (1 - LEDGER_SHARE) if first else limit
            free = section and candidate.unit.place not in self.chosen
            if free and self.spent + self._price(candidate, section) <= room:
                candidate.section = section
                decided = decided or section == "Decided"
                self._take(candidate)

    def _price(self, candidate: Candidate, section: str) -> float:
        return self._cost(candidate.unit.text, section, candidate.unit.message)

    def _conclusion(self) -> list[Candidate]:
        """The best lines of prose of the last answer, the longer ones only where there is room."""
        last = next((m.id for m in reversed(self.reading.messages) if m.role == "assistant"), None)
        of_last = [c for c in self.reading.candidates if c.unit.message == last]
        own = [c for c in of_last if c.unit.shape == "prose"] or of_last[-1:]
        room = self.budget * KEPT_SHARE
        fitting = [c for c in own if self._price(c, "End") <= room]
        return (
            sorted(fitting, key=self._gain, reverse=True)[:2]
            or sorted(own, key=lambda c: len(c.unit.text))[:1]
        )

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
            if place in self.chosen or self.spent + self._price(candidate, candidate.section) > limit:
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
                    line = f"{part.name or part.sha256[:8]} ({part.media_type})"
                    self._open(line, "Attached", message.id)
                    self.extra.append(Line(line, (message.id,), "Attached"))

    def ledger(self) -> None:
        """Names that found no place, each with a message that said it: one that is cited for another, if there is."""
        limit = min(self.budget, self.spent + self.budget * LEDGER_SHARE)
        said = [message.role != "tool" for message in self.reading.messages]
        names: dict[int, list[str]] = {}
        missing = {
            atom: turns
            for atom, use in self.reading.uses.items()
            if is_named(atom)
            and atom not in self.covered
            and atom not in self.reading.known
            and (turns := [turn for turn in use.turns if said[turn]])
        }
        held = Counter(turn for turns in missing.values() for turn in turns)
        for atom in sorted(missing, key=lambda atom: (-self.weight[atom] / (_size(atom) + 1), atom)):
            turn = max(missing[atom], key=lambda turn: (turn in names, held[turn], turn))
            message = self.reading.messages[turn].id
            more = (_size(atom) + len(_COMMA) / _BYTES_PER_TOKEN) * self.ratio
            cost = more if turn in names else self._cost(atom, "Also named", message)
            if self.spent + cost <= limit:
                self.spent += cost
                self.titles.add("Also named")
                self.covered.add(atom)
                names.setdefault(turn, []).append(atom)
        for turn in sorted(names):
            self.extra.append(Line(_COMMA.join(names[turn]), (self.reading.messages[turn].id,), "Also named"))

    def lines(self) -> list[Line]:
        quoted = [
            Line(c.unit.text, (c.unit.message,), c.section, quoted=True)
            for _, c in sorted(self.chosen.items())
        ]
        return sorted((*quoted, *self.extra), key=lambda line: SECTIONS.index(line.section))


def names_beside_lines(share: float) -> float:
    """How much all names are worth beside all lines, where a payload is this share of its branch.

    The scarcer the room, the more: a name costs a fraction of the line it stands in. Tuned on the development split.
    """
    return min(8.0, max(0.3, 0.04 / max(share, 1e-6) ** 2))


def _size(text: str) -> float:
    """Tokens, estimated, without rounding up line by line."""
    return len(text) / _BYTES_PER_TOKEN if text.isascii() else estimate_tokens(text)


def _quotable(key: str, mine: Iterable[str]) -> bool:
    """Of short lines only those with a name, a number, a word in writing without spaces."""
    return len(key) >= _SHORTEST or any(is_name(atom) or not atom.isascii() for atom in mine)


def _section(unit: Unit) -> str:
    if unit.shape == "tool" or unit.role == "tool":
        return "From tools"
    return "Asked" if unit.role == "user" and unit.shape == "prose" else "Excerpts"
