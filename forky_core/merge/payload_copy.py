"""The text of a payload in a copy of its conversation, where messages have other ids and some are left out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from forky_core.merge.wording import PROMPT_NOTE, ShortIds
from forky_core.model import MessageId
from forky_core.model.hashing import HASH_PREFIX

RULE_LEFT_OUT = "(It is not shared.)"
"""What a header quotes in place of a system prompt that is not given along."""
_MARK = re.compile(r"(?P<space> ?)\[(?P<id>[0-9a-f]{6,32})\]")
_IN_HEADER = re.compile(
    r"(?P<words>forked at|continues merge) (?P<id>[0-9a-f]{6,32})(?![0-9a-f])(?P<quote> \"[^\"]*\")?"
)
_WITHOUT_ID = {"forked at": "forked earlier", "continues merge": "continues an earlier merge"}
"""What a header says in place of these words, an id and a quotation."""
_PROMPT = re.compile(rf"^{re.escape(PROMPT_NOTE)}(?:\n> .*)+", re.MULTILINE)

NewId = Callable[[str], MessageId | None]
"""Maps the id of an original to that of its copy; None if it has none."""


def with_new_ids(text: str, cited: Iterable[str], originals: Sequence[str], new_id: NewId) -> str:
    """A payload's text with the short ids of the copies. `cited` are the messages that it stands for, of which a short
    id names one first; `originals` are the ids of all messages, sorted.

    The id of a message that is left out is dropped: it would lead nowhere, and even a short id is enough to check
    whether one has guessed what the message says.
    """
    own = tuple(cited)
    copies = (new_id(id) for id in own)
    short = ShortIds.among(id for id in copies if id is not None)

    def mark(found: re.Match[str]) -> str:
        old = _named(found["id"], own, originals)
        if old is None:
            return found[0]
        new = new_id(old)
        return f"{found['space']}[{_digits(new, found['id'], short)}]" if new is not None else ""

    def origin(found: re.Match[str]) -> str:
        old = _named(found["id"], (), originals)
        new = new_id(old) if old is not None else None
        if new is None:
            return _WITHOUT_ID[found["words"]]
        return f"{found['words']} {_digits(new, found['id'], short)}{found['quote'] or ''}"

    header, newline, rows = text.partition("\n")
    if header.startswith("[Merged "):
        header = _IN_HEADER.sub(origin, header)
        return header + newline + _MARK.sub(mark, rows)
    return _MARK.sub(mark, text)


def _named(digits: str, cited: Sequence[str], originals: Sequence[str]) -> str | None:
    """The message that a short id names; None if there is none."""
    start = f"{HASH_PREFIX}{digits}"
    for id in cited:
        if id.startswith(start):
            return id
    at = bisect_left(originals, start)
    return originals[at] if at < len(originals) and originals[at].startswith(start) else None


def _digits(new: MessageId, old: str, short: ShortIds) -> str:
    """A short id with as many digits as the one that it replaces, or more if it needs them."""
    return new.removeprefix(HASH_PREFIX)[: max(len(old), len(short(new)))]


def without_ids(text: str) -> str:
    """A payload's text without ids and quoted system prompts: that of a copy is the same as that of its original."""
    header, newline, rows = without_prompts(text).partition("\n")
    return _IN_HEADER.sub("", header) + newline + _MARK.sub("", rows)


def without_prompts(text: str) -> str:
    """A payload's text without the system prompts that its header quotes; it keeps its number of lines."""
    return _PROMPT.sub(lambda found: re.sub("\n> .*", f"\n> {RULE_LEFT_OUT}", found[0]), text)
