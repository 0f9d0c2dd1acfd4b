"""An answer that arrives in pieces: thoughts apart from its text, and tool calls as servers really number them.

OpenAI numbers the calls of an answer. Some servers number none, and some number all 0: there another call begins with
another id, or with a name after the arguments of a call are complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from forky_core.llm.contract import ReasoningDelta, TextDelta, ToolCallDone
from forky_core.model.thoughts import Said, ThoughtSplitter
from forky_core.model.wires import without_signature


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


THEIRS = "srvtoolu_"
"""How the ids of calls begin that Anthropic makes and answers itself."""


@dataclass(slots=True)
class ToolCallPieces:
    """The tool calls of one answer, as far as they have arrived."""

    _calls: list[_Call] = field(default_factory=list)
    """In the order in which they began."""
    _latest: dict[int, int] = field(default_factory=dict)
    """The place of the newest call with each number."""

    def __bool__(self) -> bool:
        return any(self._own())

    def _own(self) -> Iterator[_Call]:
        """Yield the calls without those that Anthropic makes and answers itself, such as a search of the web."""
        return (call for call in self._calls if not call.id.startswith((THEIRS, "mcptoolu_")))

    def add(self, number: int | None, id: str, name: str, arguments: str) -> None:
        """Add a piece; what it does not say is None or ""."""
        at = self._latest.get(number) if number is not None else len(self._calls) - 1
        call = self._calls[at] if at is not None and at >= 0 else None
        if call is None or _begins_another(call, id, name, arguments, numbered=number is not None):
            call = _Call()
            self._calls.append(call)
            if number is not None:
                self._latest[number] = len(self._calls) - 1
        call.id = call.id or id
        call.name = call.name or name
        call.arguments.append(arguments)

    def done(self) -> Iterator[ToolCallDone]:
        """Yield the calls, in the order in which they began; a signature behind an id is taken from it."""
        for number, call in enumerate(self._own()):
            id, kept = without_signature(call.id)
            yield ToolCallDone(id or f"call_{number}", call.name, "".join(call.arguments) or "{}", kept)


def _begins_another(call: _Call, id: str, name: str, arguments: str, *, numbered: bool) -> bool:
    # Some servers make another id for each piece of one call, but name the call only once.
    if not name or not call.name:
        return False
    if id and call.id and id != call.id:
        return True
    # Others repeat the name and the id with each piece, or give all calls one id.
    return (not numbered and not id) or (bool(arguments) and _is_json("".join(call.arguments)))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(slots=True)
class AnswerPieces:
    """One answer, as far as it has arrived."""

    calls: ToolCallPieces = field(default_factory=ToolCallPieces)
    _splitter: ThoughtSplitter = field(default_factory=ThoughtSplitter)

    def text(self, piece: str) -> Iterator[TextDelta | ReasoningDelta]:
        """Yield what is known with a further piece of the text, in which a server may send thoughts between tags."""
        yield from map(_event, self._splitter.feed(piece))

    def end_of_text(self) -> Iterator[TextDelta | ReasoningDelta]:
        yield from map(_event, self._splitter.close())


def _event(said: Said) -> TextDelta | ReasoningDelta:
    return ReasoningDelta(said.text) if said.kind == "thought" else TextDelta(said.text)
