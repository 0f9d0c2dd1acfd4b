"""Fields of a message that an importer does not know: they are kept unchanged instead of being dropped (law 12).

An importer names the fields that it reads, and those without content of the conversation (ids, times, counts, the
program's own state). Any other field that is not empty becomes a part marked as not understood (model/opaque.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from forky_core.formats.fields import shallow, words
from forky_core.formats.roles import is_role
from forky_core.model.opaque import not_understood
from forky_core.model.parts import Json, Part


def names(text: str) -> tuple[str, ...]:
    """The names in a text that separates them by spaces."""
    return tuple(text.split())


BOOKKEEPING = frozenset(
    names(
        "id _id uuid type object role index status state version locale name created created_at createdAt"
        " create_time timestamp time date updated updated_at updatedAt update_time model finish_reason"
        " finishReason stop_reason stopReason stop_sequence usage cache_control logprobs"
        " system_fingerprint"
    )
)
"""Fields that mean the same in nearly every program."""
_NAMES_SOMETHING = re.compile(
    r"(?:^|_)(?:ids?|uuid|guid|hash|key|slug|at|time|timestamp)$|(?:Id|Ids|ID|Uuid|UUID|Hash|Key|At|Time|Timestamp)$"
)
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Program:
    """A source program, and which fields of its messages have no content."""

    name: str
    """Its name for people: "ChatGPT"."""
    bookkeeping: frozenset[str] = frozenset()
    """Fields of its messages, and of the objects in them, that need not be kept."""


def says_something(value: Json) -> bool:
    """Whether a text, a list or an object contains anything at all. A number or a flag by itself does not count."""
    if not isinstance(value, str | list | dict):
        return False
    waiting: list[Json] = [value]
    while waiting:  # A file may nest thousands of levels.
        held = waiting.pop()
        if isinstance(held, str):
            if held.strip():
                return True
        elif isinstance(held, list | dict):
            waiting.extend(held.values() if isinstance(held, dict) else held)
        elif held is not None and held is not False:
            return True
    return False


def leftovers(
    entry: Mapping[str, Any], known: Collection[str], program: Program, *, within: str = ""
) -> list[Part]:
    """A part for each field of `entry` that is not empty and not `known`, in the file's order.

    `within` is the path to `entry` in the message.
    """
    has_role = "role" not in entry or is_role(entry["role"])
    if has_role and entry.keys() <= BOOKKEEPING:
        return []
    return [
        not_understood(program.name, f"{within}{name}", shallow(value))
        for name, value in entry.items()
        if name not in known
        and (name not in BOOKKEEPING or (name == "role" and not has_role))
        and name not in program.bookkeeping
        and says_something(value)
        and not _is_name(name, value)
    ]


def unknown_role(said: Json, program: Program, field: str) -> list[Part]:
    """The part that keeps a word for who speaks, where it is in a field other than `role` and nobody knows it."""
    return [] if is_role(said) or said in (None, "") else [not_understood(program.name, field, shallow(said))]


def repeated_fields(entry: Mapping[str, Any], names: Collection[str], *texts: str) -> list[str]:
    """The names of the fields that only repeat `texts`, which were read already."""
    read = {text.strip() for text in texts}
    return [
        name
        for name in names
        if not says_something(entry.get(name)) or (words(entry.get(name)).strip() or None) in read
    ]


def repeats(text: str, said: str, *, but: str = "") -> bool:
    """Whether every line of a text is contained in `said`; lines with the words `but` are ignored."""
    if not text.strip() or text.strip() == said.strip():
        return True
    lines = {line.strip() for line in said.splitlines()} | {"", "```"}
    return all(line.strip() in lines or (but and but in line) for line in text.splitlines())


def _is_name(field: str, value: Json) -> bool:
    """Whether a field's name marks it as an id, a key or a time, and its value is one short word."""
    return (
        isinstance(value, str)
        and len(value) <= _LONGEST_NAME
        and len(value.split(None, 1)) == 1
        and _NAMES_SOMETHING.search(field) is not None
    )
