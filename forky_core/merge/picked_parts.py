"""Parts of several answers that a person picked, made into one text in which each part names its answer.

Nothing is rewritten, and nothing is told that no answer says (law 9): every word of a part has to stand in its answer,
in that order. Rows of one table stand together below one head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from forky_core.context.convert import message_as_text
from forky_core.merge.wording import ShortIds
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent

MOST_PARTS = 500
_WORD = re.compile(r"\w+")
_RULE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+$")


@dataclass(frozen=True, slots=True)
class PickedPart:
    """A paragraph, a block of code or a row of a table of an answer."""

    message: MessageId
    text: str
    """Its Markdown."""
    head: str = ""
    """Of a row of a table: the Markdown of the table's head."""


def composed(parts: Sequence[PickedPart], answers: Iterable[Message], short: ShortIds) -> str:
    """Return the parts as one text, in their order, each with the short id of its answer.

    Raises:
        BadContent: there are too many parts, or one that its answer does not say.
    """
    if len(parts) > MOST_PARTS:
        raise BadContent(
            f"At most {MOST_PARTS} parts can be put together.", "Pick fewer, or fuse the answers whole."
        )
    said = {answer.id: f" {' '.join(_words(message_as_text(answer)))} " for answer in answers}
    for part in parts:
        words = [word for line in (part.head, part.text) for word in [" ".join(_words(line))] if word]
        if any(f" {word} " not in said.get(part.message, "") for word in words):
            opening = " ".join(part.text.split())[:60]
            raise BadContent(f"“{opening}” is not in the answer it was picked from.", "Pick it again.")
    pieces: list[str] = []
    for (message, head), group in groupby(parts, key=lambda part: (part.message, part.head)):
        mark = f"[{short(message)}]"
        if head:
            rows = [part.text for part in group if part.text != head]
            pieces += ["\n".join((head, *rows)), f"From {mark}."]
        else:
            for part in group:
                fenced = part.text.lstrip().startswith(("```", "~~~"))
                pieces += [part.text, f"From {mark}."] if fenced else [f"{part.text} {mark}"]
    return "\n\n".join(pieces)


def _words(text: str) -> list[str]:
    lines = (line for line in text.split("\n") if not _RULE.match(line.strip()))
    return [word.casefold() for line in lines for word in _WORD.findall(line)]
