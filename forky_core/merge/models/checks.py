"""What code can check in what a model wrote, before anything of it is accepted.

Each failure is a value with a sentence for the person, so that a page can show what failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.note.passages import atoms, is_name
from forky_core.model import MessageId
from forky_core.model.parts import Json

_PROSE = re.compile(r"[A-Za-z][a-z]*(?:[-'’][A-Za-z]?[a-z]*)*|[A-Z]{2,5}s?")
"""Words that only look like names: "re-run", "Side-effect", "JSON"."""

CheckName = Literal[
    "reply",
    "refusal",
    "json",
    "schema",
    "empty",
    "citation",
    "quote",
    "invented",
    "negation",
    "length",
    "size",
    "unsupported",
    "number",
    "subject",
    "speaker",
    "certain",
    "modality",
    "superseded",
    "instruction",
    "repeat",
]


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """One failed check of a model's answer."""

    check: CheckName
    sentence: str
    """What is wrong, for people and for the model that is asked to repair it."""
    entry: int | None = None
    """The number of the line, from 1; None for the answer as a whole."""
    shown: str = ""
    """The text that failed, if there is one."""


def sentences(failed: Iterable[FailedCheck]) -> tuple[str, ...]:
    """Return the failures for a person, each with the number of its line."""
    return tuple(f"Line {one.entry}: {one.sentence}" if one.entry else one.sentence for one in failed)


def resolved(cite: Json, among: Iterable[MessageId]) -> MessageId | None:
    """Return the one message that a citation names by its first digits; None if none or several match."""
    digits = cite.strip("[] ").removeprefix("b2:") if isinstance(cite, str) else ""
    fitting = [id for id in among if len(digits) >= 6 and id.removeprefix("b2:").startswith(digits)]
    return fitting[0] if len(fitting) == 1 else None


def invented(text: str, source: str) -> tuple[str, ...]:
    """Return the numbers and identifiers of `text` that `source` does not have."""
    known = source.casefold()
    return tuple(name for name in atoms(text) if _must_be_known(name) and not _holds(known, name.casefold()))


def _must_be_known(name: str) -> bool:
    core = name.strip("/.:-()")
    return is_name(name) and bool(core) and not _PROSE.fullmatch(core)


def _holds(source: str, name: str) -> bool:
    core = re.escape(name.strip("/.:-()"))
    return re.search(rf"(?<![\w]){core}(?![\w])", source) is not None
