"""A squash without a model: the lines of a branch most worth keeping, quoted word for word.

Greedy coverage: the worth of a line is the atoms it adds that are not covered yet – new to the target, used in several
messages, said by the person rather than a tool, late rather than early – per token it costs with its citation. Lines
the target has already count for nothing. What a reader cannot do without is taken first: decisions, corrections,
errors, and where the branch ended. Then atoms that found no place are named in a ledger of at most a tenth of the
budget. Nothing is rephrased, so nothing can be invented.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.units import Unit, atoms, is_name, plain, plain_lines, units
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart

ROLE_WORTH: Mapping[str, float] = {"user": 1.2, "assistant": 1.6, "tool": 0.1, "system": 0.1}
LEDGER_SHARE = 0.1
KEPT_SHARE = 0.2
"""Of the budget, the most that decisions, corrections, errors and the conclusion take before the rest competes."""
SMALLEST_BUDGET = 120
DEFAULT_SHARE = 0.2

_CORRECTION = re.compile(
    r"""^(?:\W*)(?:no\b|nope|not\s|wrong|actually|instead|rather|don['’]?t|do\s+not|stop\b|never|please\s+don|
        that['’]?s\s+(?:not|wrong)|i\s+(?:meant|said|asked)|sorry|wait|but\s|undo|revert|nein|falsch|stattdessen|non\b|
        pas\s|plutôt|en\s+realidad)|\b(?:should\s+(?:not|be)|must(?:\s+not|n['’]t)?|instead\s+of|isn['’]t\s+right|
        doesn['’]t\s+work|still\s+(?:fails|broken|not))\b|不对|不是|不要|错了|应该|違う|ではなく|아니""",
    re.VERBOSE | re.IGNORECASE,
)
_DECISION = re.compile(
    r"""^\W*(?:decisions?|decided|conclusion|settled|agreed|resolved|in\s+short|entscheidung|beschlossen|fazit|décision|
        conclusion|decisión|decidido)\b|\b(?:we(?:['’]ve|\s+have)?\s+(?:decided|agreed|settled)|let['’]?s\s+(?:use|go\s+with)|
        we(?:['’]ll|\s+will)\s+(?:use|go\s+with|keep)|the\s+decision\s+is)\b|决定|決定|结论|結論|결정""",
    re.VERBOSE | re.IGNORECASE,
)
_ERROR = re.compile(
    r"""\b(?:[A-Z]\w*(?:Error|Exception|Warning)\b|error\s*[:\[]|fatal:|panic:|failed\s*:|FAILED\b|E\d{3,}\b|exit\s+code\s+[1-9]
        |segmentation\s+fault|undefined\s+reference)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a payload."""

    text: str
    cites: tuple[MessageId, ...]
    section: str


SECTIONS = (
    "Decided",
    "Asked and corrected",
    "Errors",
    "Points",
    "Code and commands",
    "From tools",
    "Attached",
    "Also named",
    "End",
)
"""In the order they are shown."""


@dataclass(slots=True)
class _Candidate:
    unit: Unit
    atoms: tuple[str, ...]
    cost: float
    bonus: float
    role: float


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
    picker = _Picker(
        messages, list(target_texts), budget, frozenset(a.casefold() for a in atoms(focus)), count_tokens
    )
    picker.keep_indispensable()
    picker.cover()
    picker.attach(messages)
    picker.ledger()
    return picker.lines()


@dataclass(slots=True)
class _Picker:
    """The state of one extraction."""

    messages: Sequence[Message]
    target_texts: list[str]
    budget: int
    focus: frozenset[str]
    count_tokens: Callable[[str], int]
    candidates: list[_Candidate] = field(default_factory=list)
    weight: dict[str, float] = field(default_factory=dict)
    chosen: dict[int, str] = field(default_factory=dict)
    """Section by place of the unit."""
    extra: list[Line] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    spent: float = 0.0
    ratio: float = 1.0
    """Tokens as the model counts them per token of the estimate."""

    def __post_init__(self) -> None:
        found = units(self.messages)
        said_in = [atoms(unit.text) for unit in found]
        self._weigh(found, said_in)
        known = plain_lines(self.target_texts)
        said = Counter(plain(unit.text) for unit in found)
        sample = "\n".join(unit.text for unit in found[:: max(1, len(found) // 50)])
        if sample:
            self.ratio = max(0.2, self.count_tokens(sample) / max(1, estimate_tokens(sample)))
        seen: set[str] = set()
        for unit in found:
            key = plain(unit.text)
            if key in known or key in seen or not key:
                continue
            seen.add(key)
            self.candidates.append(self._candidate(unit, said_in[unit.place], said[key]))

    def _weigh(self, found: Sequence[Unit], said_in: Sequence[tuple[str, ...]]) -> None:
        """Novelty × (1 + ln messages), by how much of a name an atom is; recency comes with its last message."""
        spread: Counter[str] = Counter()
        last: dict[str, int] = {}
        for unit, named in zip(found, said_in, strict=True):
            for atom in named:
                if last.get(atom) != unit.turn:
                    spread[atom] += 1
                    last[atom] = unit.turn
        old = {atom for text in self.target_texts for atom in atoms(text)}
        turns = max(1, len(self.messages) - 1)
        for atom, count in spread.items():
            kind = (
                1.0
                if is_name(atom)
                else 0.35
                if atom[0].isupper() or not atom.isascii()
                else _word_worth(atom)
            )
            novelty = 0.15 if atom in old else 1.0
            recency = 0.6 + 0.4 * last[atom] / turns
            focus = 3.0 if atom.casefold() in self.focus else 1.0
            self.weight[atom] = kind * novelty * (1 + math.log(count)) * recency * focus

    def _candidate(self, unit: Unit, mine: tuple[str, ...], times: int) -> _Candidate:
        cost = self._cost(unit.text)
        bonus = 0.4 * math.log(times) + (0.5 if unit.shape == "code" else 0.0)
        bonus += 2.0 * len(self.focus.intersection(atom.casefold() for atom in mine))
        return _Candidate(unit, mine, cost, bonus, ROLE_WORTH.get(unit.role, 1.0))

    def _cost(self, text: str) -> float:
        """Tokens of a line with its citation."""
        return estimate_tokens(f"- {text} [3f2a91]\n") * self.ratio

    def _gain(self, candidate: _Candidate) -> float:
        fresh = sum(self.weight[atom] for atom in candidate.atoms if atom not in self.covered)
        return (fresh + candidate.bonus) * candidate.role / candidate.cost

    def _take(self, candidate: _Candidate, section: str) -> None:
        self.chosen[candidate.unit.place] = section
        self.covered.update(candidate.atoms)
        self.spent += candidate.cost

    def keep_indispensable(self) -> None:
        """The conclusion, then decisions, corrections and errors, the latest first, within their share."""
        limit = self.budget * KEPT_SHARE
        for candidate in self._conclusion():
            if not self.chosen or self.spent + candidate.cost <= limit:
                self._take(candidate, "End")
        found = [(_indispensable(c.unit), c) for c in reversed(self.candidates)]
        for section, candidate in sorted(found, key=lambda one: one[0] != "Decided"):
            # The last decision may take more: a merge without what was decided is worth little.
            first = section == "Decided" and section not in self.chosen.values()
            room = self.budget * (1 - LEDGER_SHARE) if first else limit
            if section and candidate.unit.place not in self.chosen and self.spent + candidate.cost <= room:
                self._take(candidate, section)

    def _conclusion(self) -> list[_Candidate]:
        """The first and the best line of prose of the last answer."""
        last = next((m.id for m in reversed(self.messages) if m.role == "assistant"), None)
        own = [c for c in self.candidates if c.unit.message == last and c.unit.shape == "prose"]
        if not own:
            return [c for c in self.candidates if c.unit.message == last][-1:]
        best = max(own, key=self._gain)
        return [own[0]] if best is own[0] else [own[0], best]

    def cover(self) -> None:
        """Most worth per token first; a line's worth is looked up again when its turn comes, since it only falls."""
        limit = self.budget * (1 - LEDGER_SHARE)
        heap = [(-self._gain(c), c.unit.place, c) for c in self.candidates if c.unit.place not in self.chosen]
        heapq.heapify(heap)
        while heap:
            _, place, candidate = heapq.heappop(heap)
            if self.spent + candidate.cost > limit:
                continue
            gain = self._gain(candidate)
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, place, candidate))
            elif gain > 0:
                self._take(candidate, _section(candidate.unit))

    def attach(self, messages: Sequence[Message]) -> None:
        """One line for each file, since the squash does not carry it."""
        for message in messages:
            for part in message.parts:
                if isinstance(part, AttachmentPart):
                    line = f"{part.name or part.sha256[:8]} ({part.media_type})"
                    self.spent += self._cost(line)
                    self.extra.append(Line(line, (message.id,), "Attached"))

    def ledger(self) -> None:
        """Names that found no place, with the message that said them last."""
        limit = min(self.budget, self.spent + self.budget * LEDGER_SHARE)
        names: dict[MessageId, list[str]] = {}
        where = {atom: c for c in self.candidates if c.unit.role != "tool" for atom in c.atoms}
        missing = [atom for atom in where if atom not in self.covered and is_name(atom)]
        for atom in sorted(missing, key=lambda atom: (-self.weight[atom], atom)):
            message = where[atom].unit.message
            cost = estimate_tokens(f" · {atom}") * self.ratio if message in names else self._cost(atom)
            if self.spent + cost <= limit:
                self.spent += cost
                names.setdefault(message, []).append(atom)
        order = {message.id: at for at, message in enumerate(self.messages)}
        for message in sorted(names, key=order.__getitem__):
            self.extra.append(Line(" · ".join(names[message]), (message,), "Also named"))

    def lines(self) -> list[Line]:
        by_place = {c.unit.place: c.unit for c in self.candidates}
        quoted = [
            Line(by_place[place].text, (by_place[place].message,), section)
            for place, section in sorted(self.chosen.items())
        ]
        return sorted((*quoted, *self.extra), key=lambda line: SECTIONS.index(line.section))


@lru_cache(maxsize=65_536)
def _word_worth(word: str) -> float:
    """Long words tell more than short ones; those of up to three letters nothing."""
    return 0.0 if len(word) < 4 else min(0.25, 0.03 * (len(word) - 3))


def _indispensable(unit: Unit) -> str:
    if unit.role != "tool" and unit.shape == "prose" and _DECISION.search(unit.text):
        return "Decided"
    if unit.role == "user" and unit.shape == "prose" and _CORRECTION.search(unit.text):
        return "Asked and corrected"
    if unit.shape != "code" and len(unit.text) < 300 and _ERROR.search(unit.text):
        return "Errors"
    return ""


def _section(unit: Unit) -> str:
    if unit.shape == "code":
        return "Code and commands"
    if unit.shape == "tool" or unit.role == "tool":
        return "From tools"
    return "Asked and corrected" if unit.role == "user" else "Points"
