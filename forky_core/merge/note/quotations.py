"""Finds what a message only quotes: those words belong to the message that is quoted, and to no other.

A model may set the question above its answer, and an offline model answers by quoting. As a line of the answer, a note
would tell that the assistant had asked the question.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from forky_core.documents.retrieval.passages import QUOTES
from forky_core.merge.note.passages import NotePassage
from forky_core.model import Message, MessageId
from forky_core.text.cues import is_question
from forky_core.text.passages import plain
from forky_core.text.words import terms

LEAST_SIGNS = 12
"""The fewest characters of a quotation that is looked for: shorter words stand in many messages."""
BESIDE = 2
"""The most content words beside a quoted question, such as “You asked:”, of a sentence that only quotes."""
ELSEWHERE = -1
"""In place of a passage of the branch: what is quoted was said before it."""
_IN_QUOTES = re.compile(r"[“”„«»]([^“”„«»]+)[“”«»]|\"([^\"]+)\"")


def offline_answers(messages: Sequence[Message]) -> frozenset[MessageId]:
    """Return the answers that consist of quotations."""
    return frozenset(one.id for one in messages if one.text.startswith(QUOTES))


def quoted_of(every: Sequence[NotePassage], messages: Sequence[Message]) -> Mapping[int, int]:
    """Return the passages that only quote an earlier message, by their index, each with the passage that is quoted.

    A passage quotes if it is marked as a quotation, if it stands in an answer that an offline model gave, or if it asks
    what somebody else has asked. What an offline answer quotes of before the branch stays, because it is the answer,
    unless it is a question.
    """
    lines = [plain(one.text) for one in every]
    whole = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    begins = {one.turn: starts[at] for at, one in reversed(list(enumerate(every)))}
    offline = offline_answers(messages)
    found: dict[int, int] = {}
    for at, one in enumerate(every):
        block = one.text.startswith(">")
        marked = block or one.message in offline
        if one.shape not in ("prose", "heading") and not (block and one.shape == "code"):
            continue
        words = _quoted(one.text, marked=marked)
        if sum(map(len, words)) < LEAST_SIGNS:
            continue
        places = [whole.find(row, 0, begins[one.turn]) for row in words]
        if min(places) >= 0:
            original = bisect_right(starts, places[0]) - 1
            if marked or words != [lines[at]] or every[original].role != one.role:
                found[at] = original
        elif one.message in offline and is_question(words[-1]):
            found[at] = ELSEWHERE
    return found


def _quoted(text: str, *, marked: bool) -> list[str]:
    """Return the lines of a passage that may be somebody else's words, as `plain` has them; [] if there are none."""
    if marked:
        return [words for row in text.split("\n") if (words := plain(row).strip(" .…"))]
    inner = _IN_QUOTES.search(text)
    if inner is not None:
        words, beside = inner[1] or inner[2], text.replace(inner[0], " ")
        if len(terms(beside)) <= BESIDE * is_question(words):
            return [plain(words)]
    return [plain(text)] if is_question(text) else []
