"""New ids, and names and titles normalised so that they can be stored."""

from __future__ import annotations

import json
import os
import re
import time
import unicodedata
from collections.abc import Container, Sequence
from hashlib import sha256
from threading import Lock

from forky_core.model.errors import BadName
from forky_core.model.hashing import mend_text
from forky_core.model.parts import AttachmentPart, Part, TextPart
from forky_core.text.subjects import past_courtesy, subject

LONGEST_NAME = 100
"""The most characters of a branch or tag name."""
LONGEST_TITLE = 200
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def now() -> int:
    """Microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000


class _Noise:
    """A buffer of the system's random bytes; a request to the system for each of an import's ids would take seconds."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held = bytearray()
        self._process = 0

    def take(self, count: int) -> bytes:
        with self._lock:
            if (
                self._process != os.getpid() or len(self._held) < count
            ):  # A forked process gets random bytes of its own.
                self._process = os.getpid()
                self._held = bytearray(os.urandom(4096))
            taken = bytes(self._held[-count:])
            del self._held[-count:]
            return taken


_noise = _Noise()


def new_id() -> str:
    """A version-7 UUID (RFC 9562 §5.7), which sorts by the millisecond it was made in."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(_noise.take(10))
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 2 << 62
    return _uuid(value)


def named_id(*names: str) -> str:
    """A version-8 UUID (RFC 9562 §5.8) that is the same wherever it is made of the same names."""
    value = int(sha256(json.dumps(names).encode("utf-8", "replace")).hexdigest()[:32], 16)
    value = value & ~(0xF << 76) | 8 << 76
    return _uuid(value & ~(0x3 << 62) | 2 << 62)


def _uuid(value: int) -> str:
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def branch_name(text: str) -> str:
    """`text` as the name of a branch or tag: trimmed and in Unicode's composed form.

    Raises:
        BadName: it is empty, too long, or holds control characters or marks that reorder text.
    """
    name = unicodedata.normalize("NFC", mend_text(text)).strip()
    if not name:
        raise BadName("A branch or a tag needs a name.", "Type a word or two.")
    if len(name) > LONGEST_NAME:
        raise BadName(f"A name may have at most {LONGEST_NAME} characters; this one has {len(name)}.")
    if disturbs(name):
        raise BadName("A name cannot hold line breaks, control characters or marks that reorder text.")
    return name


def disturbs(name: str) -> bool:
    """Whether a name contains characters that break, move or reorder the line it is shown in."""
    return any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in _BIDI_CONTROLS for c in name)


def title_line(text: str) -> str:
    """`text` as a title: one line, without control characters, at most LONGEST_TITLE characters."""
    line = " ".join(mend_text(text).split())
    if not line.isprintable():
        line = "".join(c for c in line if unicodedata.category(c) != "Cc" and c not in _BIDI_CONTROLS)
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


_MARKUP = re.compile(r"^\s*(?:(?:#{1,6}|[>*-])\s+)*|\*\*")
"""Marks that begin a heading, quote or list item, and marks of bold type."""


def title_from(text: str) -> str:
    """A title for a conversation that begins with `text`: its first line, cut at about 60 characters."""
    first = next((line for line in text.splitlines() if line.strip(" #>*-`\t")), "")
    line = title_line(_MARKUP.sub("", first[:400]))
    if len(line) <= 60:
        return line
    return (line[:60].rsplit(" ", 1)[0] or line[:60]).rstrip(" ,.;:") + "…"


def title_of_question(text: str) -> str:
    """A title for a conversation whose first question this is; a greeting before it is left out."""
    return title_from(past_courtesy(text))


def log_text(parts: Sequence[Part]) -> str:
    """One line for the log: the text of a message, or the names of its files if it has no text."""
    words = title_from("\n\n".join(part.text for part in parts if isinstance(part, TextPart)))
    files = [part.name or part.media_type for part in parts if isinstance(part, AttachmentPart)]
    return words or title_from(", ".join(files))


def suggested_name(text: str, taken: Container[str]) -> str:
    """An unused branch name: what `text` is about, in two to four words; "aside" if it holds no word."""
    return free_name(subject(mend_text(text)) or "aside", taken)


def slug(text: str) -> str:
    """The first words of a name in the form of a branch's name; the same for ever, unlike what a subject may be."""
    return "-".join(re.findall(r"[^\W_]+", title_line(text).lower())[:4])[:30].strip("-") or "branch"


def free_name(stem: str, taken: Container[str]) -> str:
    """`stem`, or `stem-2`, `stem-3` … if it is taken."""
    if stem not in taken:
        return stem
    number = 2
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"
