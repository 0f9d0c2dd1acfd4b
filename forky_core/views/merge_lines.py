"""The view model of a block beside its source: why each line is there, and what is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from forky_core.merge.editing import BlockLine, BranchLines, Editing
from forky_core.merge.headings import (
    ASKED,
    CORRECTS,
    FILES,
    OF_FORMER_CLAIMS,
    OPEN,
    RESULT,
    SETTLED,
    TRIED,
    UNRESOLVED,
)
from forky_core.merge.note.passages import atoms, is_named
from forky_core.model import Message, MessageId
from forky_core.retrieval.words import terms

DRAWN = 60_000
"""The most characters of a branch that are drawn before a person asks for more."""
OPENED = 30
"""The number of messages that are drawn when somebody opens a gap."""
_RARE = 3
"""The most words that are named as rare."""
_RARE_TIMES = 2
_SHORTEST_WORD = 4


@dataclass(frozen=True, slots=True)
class SourceStretch:
    """Neighbouring messages of a branch that are drawn, or left out of the drawing."""

    messages: tuple[Message, ...]
    drawn: bool


def reasons(editing: Editing, proposed: Editing) -> dict[str, str]:
    """Return why each line of the block is there, by its key; `proposed` is the block before a person changed it."""
    times = Counter(atom.casefold() for line in editing.source.lines for atom in atoms(line.text))
    known = {line.key for line in proposed.block.lines}
    told = proposed.quotes.keys()

    def by_hand(line: BlockLine) -> bool:
        origins = editing.drawn_from[line.key]
        return line.key not in known and not (origins and all(one.key in told for one in origins))

    return {
        line.key: _by_hand(line, editing) if by_hand(line) else _reason(line, editing, times)
        for line in editing.block.lines
    }


def _by_hand(line: BlockLine, editing: Editing) -> str:
    return "You brought it in." if line.key in editing.quotes.values() else "You wrote it."


def _reason(line: BlockLine, editing: Editing, times: Mapping[str, int]) -> str:
    plan, section = editing.plan, line.section
    block = plan.block
    if section == SETTLED:
        return "It settles what the two sides said differently."
    if section == CORRECTS:
        return "It corrects a line that an earlier merge brought."
    if section == UNRESOLVED:
        return "Both were said, and neither has been decided."
    if block is not None and block.made_by:
        return f"Written by {block.made_by}, from the {'message' if len(line.cites) == 1 else 'messages'} it names."
    said = [message for message in editing.source.messages if message.id in line.cites]
    if not said:
        return "It was told by an earlier merge." if line.cites else "It stands for the whole branch."
    if section in OF_FORMER_CLAIMS and line.key not in editing.quotes.values():
        return "It was told by an earlier merge."
    why = _by_section(line, said, editing, times)
    focus = _shared(plan.options.focus if plan.options is not None else "", line.text)
    return f"{why} It is about what matters to you: {focus}." if focus else why


def _by_section(line: BlockLine, said: list[Message], editing: Editing, times: Mapping[str, int]) -> str:
    first, last, section = said[0], said[-1], line.section
    shapes = {one.shape for one in editing.drawn_from[line.key]}
    if section == ASKED and first.id == _first_of("user", editing.source):
        return "What the branch set out to do: " + (
            "its first question." if "?" in line.text else "its first message."
        )
    if section == RESULT:
        return _of_result(first, last, editing.source)
    if section == TRIED:
        return "It was said, and a later message took it back or replaced it."
    if section == OPEN:
        return "Nobody answered it."
    if "file" in shapes:
        return "A file that is attached."
    if "call" in shapes and section == FILES:
        return (
            "A file that a tool changed."
            if line.key not in editing.quotes.values()
            else "What a tool was asked to do."
        )
    if "output" in shapes:
        return "What a tool returned, and an answer leans on."
    if first.role == "user":
        return f"{_whose(first)[0].upper()}{_whose(first)[1:]}."
    rare = _rare(line.text, times)
    told = f"Rare words: {', '.join(rare)}." if rare else "It tells much for its length."
    return f"{told} From {_whose(first)}."


def _whose(message: Message) -> str:
    if message.role == "user":
        return f"a message by {message.name}" if message.name else "your own message"
    if message.role == "tool":
        return "what a tool returned"
    return f"an answer by {message.name}" if message.name else "an answer"


def _first_of(role: str, source: BranchLines) -> MessageId | None:
    return next((message.id for message in source.messages if message.role == role), None)


def _last_of(role: str, source: BranchLines) -> MessageId | None:
    return next((message.id for message in reversed(source.messages) if message.role == role), None)


def _of_result(first: Message, last: Message, source: BranchLines) -> str:
    order = {message.id: at for at, message in enumerate(source.messages)}
    closing = _last_of("assistant", source)
    whose = f"{_whose(first)[0].upper()}{_whose(first)[1:]}"
    if first.role == "user":
        between = source.messages[order[first.id] + 1 :]
        answer = next((message.id for message in between if message.role == "assistant"), None)
        return (
            f"{whose}, which the result answers."
            if answer == closing
            else f"{whose}, on the way to the result."
        )
    if first.role == "tool":
        return "What a tool returned after the result."
    return (
        "The closing passage of the last answer."
        if last.id == closing
        else "From an answer that led to the result."
    )


def _rare(text: str, times: Mapping[str, int]) -> tuple[str, ...]:
    """Return rare words of a text: names first, then the longest of the words that the branch hardly repeats."""
    found = [atom for atom in atoms(text) if times.get(atom.casefold(), 0) <= _RARE_TIMES]
    named = [atom for atom in found if is_named(atom)]
    words = [atom for atom in found if atom not in named and len(atom) >= _SHORTEST_WORD and terms(atom)]
    words.sort(key=lambda word: (times.get(word.casefold(), 0), -len(word)))
    return tuple((*named, *words)[:_RARE])


def _shared(focus: str, text: str) -> str:
    """Return the words of the focus that a line has."""
    asked = frozenset(terms(focus))
    return ", ".join(atom for atom in atoms(text) if asked.intersection(terms(atom))) if asked else ""


def stretches(
    source: BranchLines, wanted: Collection[MessageId], opened: Collection[MessageId]
) -> list[SourceStretch]:
    """Split the branch for drawing: all of a short one; of a long one its end, `wanted` messages, and opened gaps.

    `wanted` are messages that the block cites; from each of `opened` on, some more are drawn.
    """
    shown: set[MessageId] = set(wanted)
    room = DRAWN
    for message in reversed(source.messages):
        shown.add(message.id)
        room -= len(source.words[message.id])
        if room < 0:
            break
    order = [message.id for message in source.messages]
    place = {id: at for at, id in enumerate(order)}
    for id in opened:
        if (at := place.get(id)) is not None:
            shown.update(order[at : at + OPENED])
    runs: list[tuple[bool, list[Message]]] = []
    for message in source.messages:
        drawn = message.id in shown
        if runs and runs[-1][0] == drawn:
            runs[-1][1].append(message)
        else:
            runs.append((drawn, [message]))
    return [SourceStretch(tuple(messages), drawn) for drawn, messages in runs]
