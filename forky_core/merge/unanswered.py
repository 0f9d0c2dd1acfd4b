"""A source whose only news waits for an answer: it is quoted, with what a person can do about it.

A merge brings complete turns (incoming_changes.py), so it brings nothing of such a source. That differs from a source
that is merged already, and the plan says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.merge.incoming_changes import UNFINISHED, IncomingChanges
from forky_core.merge.inputs import MergeInputs
from forky_core.model import MessageId

_QUOTED = 100
"""The most characters of the question, or of the reply, that are quoted."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What is new on a source and not answered to its end."""

    messages: tuple[MessageId, ...]
    """The messages with text, oldest first."""
    sentence: str
    ways: str
    """A sentence on what can be done."""


def unanswered(inputs: MergeInputs, found: IncomingChanges) -> Unanswered | None:
    """Return what waits for an answer on a source that brings no turn; None if nothing does."""
    cut = (inputs.lookup(one.message) for one in found.omitted if one.why == UNFINISHED)
    told = [m for m in cut if not m.hidden and m.role in ("user", "assistant") and m.text.strip()]
    if not told:
        return None
    asked = [message for message in told if message.role == "user"]
    if not asked:
        what = "a reply that did not come to its end"
    elif len(asked) > 1:
        what = f"{len(asked)} questions without an answer, the last of them"
    elif len(told) > 1:
        what = "a question whose answer did not come to its end"
    else:
        what = "a question without an answer"
    sentence = f"The only news of “{inputs.source_name}” is {what}: “{_beginning((asked or told)[-1].text)}”"
    return Unanswered(tuple(message.id for message in told), sentence, _ways(inputs, len(told)))


def _ways(inputs: MergeInputs, number: int) -> str:
    ways = [
        f"Have it answered on “{inputs.source_name}” and merge then",
        f"cherry-pick {'it' if number == 1 else 'them'} as a quotation",
    ]
    if inputs.continues_target:
        ways.append(f"merge in full, which moves “{inputs.target_name}” on to it as it is")
    return f"{', or '.join(ways)}."


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"
