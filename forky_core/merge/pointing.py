"""References in picked messages to something left behind: "as above", "siehe oben", the result of a tool.

They are shown to the person before a merge lands, not refused: whoever picks may know what is meant. A message has such
a reference only if the one it followed is neither picked nor in the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import Message, MessageId
from forky_core.model.parts import ToolCallPart, ToolResultPart

_WORDS = (
    r"\b(?:as|like|see|mentioned|noted|discussed|described|shown|listed|stated|said)\s+(?:\w+\s+){0,2}?(?:above|earlier|previously)\b",
    r"\bthe\s+above\b",
    r"\babove-?mentioned\b",
    r"\b(?:the|your|my|that)\s+(?:previous|preceding|earlier|last|former|latter)\b(?!\s+(?:year|month|week|day|night|time)\b)",
    r"\bas\s+(?:I|you|we)\s+(?:already\s+)?(?:said|mentioned|discussed|noted|saw)\b",
    r"\b(?:siehe|wie|s\.)\s+oben\b",
    r"\boben\s+(?:genannt|erwähnt|beschrieben|gezeigt)\w*",
    r"\bobig\w+\b",
    r"\bwie\s+(?:bereits\s+|schon\s+|vorhin\s+)?(?:gesagt|erwähnt|besprochen|beschrieben)\b",
    r"\b(?:vorherig|vorig|letztgenannt)\w+\b",
    r"\bci-dessus\b",
    r"\bcomme\s+(?:dit|mentionné|indiqué|vu)\b",
    r"\b(?:le|la|les|votre|ma|mon)\s+(?:\w+\s+)?précédente?s?\b",
    r"\bcomo\s+(?:se\s+)?(?:dijo|mencionó|indicó)\b",
    r"\b(?:más|mas)\s+arriba\b",
    r"上述|上面|如上|前述|前面提到|上記|先ほど|先程|위의|앞서",
)
_Half = tuple[str | None, str]
"""The id and name of a tool call."""
_POINTING = re.compile("|".join(_WORDS), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dangling:
    """A reference to something that is left behind."""

    message: MessageId
    kind: Literal["reference", "tool"]
    words: str
    """The referring words, or the name of the tool."""


def dangling_in(taken: Sequence[Message], known: Collection[MessageId]) -> tuple[Dangling, ...]:
    """Find references in these messages to what is left behind; `known` are the target's messages."""
    here = {message.id for message in taken}
    found: list[Dangling] = []
    calls, results = _halves(taken)
    for message in taken:
        above = message.parent
        if above is not None and above not in here and above not in known:
            pointer = _POINTING.search(message.text)
            if pointer is not None:
                found.append(Dangling(message.id, "reference", " ".join(pointer[0].split())))
        found += (Dangling(message.id, "tool", name) for name in _halves_alone(message, calls, results))
    return tuple(found)


def _halves_alone(message: Message, calls: Collection[_Half], results: Collection[_Half]) -> Iterator[str]:
    """Yield the names of tools that the message calls without a result, or whose result it has without a call."""
    for part in message.parts:
        called = isinstance(part, ToolCallPart) and (part.tool_call_id, part.name) not in results
        answered = isinstance(part, ToolResultPart) and (part.tool_call_id, part.name) not in calls
        if called or answered:
            assert isinstance(part, ToolCallPart | ToolResultPart)
            yield part.name


def _halves(messages: Sequence[Message]) -> tuple[set[_Half], set[_Half]]:
    parts = [part for message in messages for part in message.parts]
    calls = {(part.tool_call_id, part.name) for part in parts if isinstance(part, ToolCallPart)}
    results = {(part.tool_call_id, part.name) for part in parts if isinstance(part, ToolResultPart)}
    return calls, results


def dangling_warnings(found: Sequence[Dangling], short: Callable[[MessageId], str]) -> list[str]:
    """Return a warning for each reference; tools have a warning of their own in the plan."""
    return [
        f"“{one.words}” in {short(one.message)} points at a message that does not come along."
        for one in found
        if one.kind == "reference"
    ]
