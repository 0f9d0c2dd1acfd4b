"""What a program's compaction leaves out: decisions, paths, commands and amounts that are not in its summary.

A program goes on with its own summary in the place of what was said (conversation/recording/session_places.py). What
the summary does not have is lost to the model from there on, and is still here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart, ToolCallPart, json_object
from forky_core.model.payload_kinds import COMPACTION
from forky_core.text.cues import DECISION, is_question
from forky_core.text.passages import atoms, sentences_in
from forky_core.text.surroundings import spoken
from forky_core.text.values import Amount, amounts

FactKind = Literal["decision", "path", "command", "amount"]
KINDS: tuple[FactKind, ...] = ("decision", "path", "command", "amount")
_MOST_MESSAGES = 400
"""The most messages above a compaction that are read, the last ones."""
_MOST_CHARACTERS = 20_000
"""The most characters of one message that are read."""
_PATH = re.compile(
    r"(?<![\w:/.])(?:[\w.@-]*/)+[\w.@-]*\w\.[A-Za-z]\w{0,7}\b|(?<![\w/.@-])[\w-]+\.(?:py|ts|tsx|js|rs|go|md|toml|ya?ml|json|sql|sh|c|h|cpp|java|rb|css|html)\b"
)
_SHELL = ("command", "cmd", "script")
"""Arguments of tools that hold a command."""
_HALF = 0.5
"""The share of a decision's words that the summary must have."""


@dataclass(frozen=True, slots=True)
class LeftOutFact:
    """Something that was said above a compaction and that its summary does not have."""

    kind: FactKind
    text: str
    message: MessageId
    """Where it was said."""


def left_out_facts(path: Sequence[Message], at: int) -> tuple[LeftOutFact, ...]:
    """Return what the compaction at `path[at]` leaves out, in the order in which it was said; each thing once."""
    merge = next(part for part in path[at].merges if part.strategy == COMPACTION.name)
    before = max((n + 1 for n in range(at) if is_compaction(path[n])), default=0)
    kept = set(merge.messages)
    read = [one for one in path[max(before, at - _MOST_MESSAGES) : at] if one.id not in kept]
    summary = _Summary("\n".join((merge.text, *(one.text for one in path[:at] if one.id in kept))))
    found: dict[tuple[FactKind, str], LeftOutFact] = {}
    for message in read:
        for kind, text in _facts(message):
            if not summary.has(kind, text):
                found.setdefault((kind, text.casefold()), LeftOutFact(kind, text, message.id))
    return tuple(found.values())


def is_compaction(message: Message) -> bool:
    """Whether a program summed up with it what stands above."""
    return any(type(part) is MergePart and part.strategy == COMPACTION.name for part in message.parts)


class _Summary:
    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._atoms = {atom.casefold() for atom in atoms(self._text)}
        self._amounts = amounts(self._text)

    def has(self, kind: FactKind, text: str) -> bool:
        match kind:
            case "path":
                return text.rpartition("/")[2] in self._text
            case "command":
                return " ".join(text.split()) in self._text
            case "amount":
                return all(any(one.same(other) for other in self._amounts) for one in _measured(text))
        said = [atom.casefold() for atom in atoms(text) if len(atom) > 3]
        return sum(atom in self._atoms for atom in said) >= _HALF * len(said)


def _facts(message: Message) -> Iterator[tuple[FactKind, str]]:
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            for name, value in (json_object(part.arguments) or {}).items():
                if name in _SHELL and isinstance(value, str) and value.strip():
                    yield "command", value.strip()
                elif isinstance(value, str) and _PATH.fullmatch(value.strip()):
                    yield "path", value.strip()
    if message.role not in ("user", "assistant"):
        return
    text = (
        spoken(message.text[:_MOST_CHARACTERS]) if message.role == "user" else message.text[:_MOST_CHARACTERS]
    )
    for sentence in sentences_in(text):
        if DECISION.search(sentence) and not is_question(sentence):
            yield "decision", sentence
    for path in _PATH.findall(text):
        yield "path", path
    for amount in _measured(text):
        yield "amount", text[amount.start : amount.end].strip()


def _measured(text: str) -> list[Amount]:
    return [amount for amount in amounts(text) if amount.dimension != "number"]
