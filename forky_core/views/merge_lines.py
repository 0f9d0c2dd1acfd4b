"""The view model of a block beside its source: why each line is there, and what is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from forky_core.merge.editing import BlockLine, BranchLines, Editing
from forky_core.merge.headings import CORRECTS, FILES, OF_FORMER_CLAIMS, SETTLED, UNRESOLVED
from forky_core.model import Message, MessageId
from forky_core.text.cues import acts_of
from forky_core.text.passages import atoms
from forky_core.text.words import terms

DRAWN = 60_000
"""The most characters of a branch that are drawn before a person asks for more."""
OPENED = 30
"""The number of messages that are drawn when somebody opens a gap."""
_DOES: Mapping[str, str] = MappingProxyType(
    {
        "corrects": "It corrects what was said.",
        "decides": "It decides something.",
        "fails": "It tells of a failure.",
        "reports": "It tells what came of something.",
        "warns": "It says what must or must not be done.",
        "promises": "It says what comes next.",
    }
)
"""What a line does (`acts_of`), in a sentence; the first that is true of it is shown."""


@dataclass(frozen=True, slots=True)
class SourceStretch:
    """Neighbouring messages of a branch that are drawn, or left out of the drawing."""

    messages: tuple[Message, ...]
    drawn: bool


def reasons(editing: Editing, proposed: Editing) -> dict[str, str]:
    """Return why each line of the block is there, by its key; `proposed` is the block before a person changed it."""
    known = {line.key for line in proposed.block.lines}
    told = proposed.quotes.keys()

    def by_hand(line: BlockLine) -> bool:
        origins = editing.drawn_from[line.key]
        return line.key not in known and not (origins and all(one.key in told for one in origins))

    return {
        line.key: _by_hand(line, editing) if by_hand(line) else _reason(line, editing)
        for line in editing.block.lines
    }


def _by_hand(line: BlockLine, editing: Editing) -> str:
    return "You brought it in." if line.key in editing.quotes.values() else "You wrote it."


def _reason(line: BlockLine, editing: Editing) -> str:
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
    why = _of_message(line, said, editing)
    focus = _shared(plan.options.focus if plan.options is not None else "", line.text)
    return f"{why} It is about what matters to you: {focus}." if focus else why


def _of_message(line: BlockLine, said: list[Message], editing: Editing) -> str:
    """Return why a quoted line is there: where its message stands in the branch, or what the line does."""
    first, source = said[0], editing.source.messages
    shapes = {one.shape for one in editing.drawn_from[line.key]}
    if "file" in shapes:
        return "A file that is attached."
    if "call" in shapes and line.section == FILES:
        by_hand = line.key in editing.quotes.values()
        return "What a tool was asked to do." if by_hand else "A file that a tool changed."
    if "output" in shapes:
        return "What a tool returned."
    whose = _whose(first)
    of_role = [message.id for message in source if message.role == first.role]
    if first.role == "user":
        place = {of_role[-1]: " The last one.", of_role[0]: " The first one."}.get(first.id, "")
        return f"{whose[0].upper()}{whose[1:]}.{place}"
    found = acts_of(line.text)
    what = next(
        (sentence for name, sentence in _DOES.items() if name in found), "It tells much for its length."
    )
    return f"{what} From {'the last answer' if of_role[-1:] == [first.id] else whose}."


def _whose(message: Message) -> str:
    if message.role == "user":
        return f"a message by {message.name}" if message.name else "your own message"
    if message.role == "tool":
        return "what a tool returned"
    return f"an answer by {message.name}" if message.name else "an answer"


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
