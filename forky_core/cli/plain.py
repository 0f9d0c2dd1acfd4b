"""Makes text safe for a terminal, so that it cannot move the cursor, change colours or reorder a line."""

from __future__ import annotations

import json
import unicodedata
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import TextIO

_UNCHANGED = frozenset("\n\t")
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    """Replace control characters by their visible pictures (U+2400…), except for line breaks and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """Make a text `plain`, and join it into one line."""
    return " ".join(plain(text).split())


def print_outcome(
    options: Namespace, entry: Mapping[str, object], sentence: str, out: TextIO | None = None
) -> int:
    """Print what a command did: an object with `--json`, else a sentence as one line. Returns the exit code 0."""
    print(json.dumps(entry) if options.json else one_line(sentence), file=out)
    return 0


def print_pieces(pieces: Iterable[bytes], out: TextIO) -> None:
    """Print the pieces of a file, as bytes if `out` has a buffer for bytes."""
    out.flush()
    for piece in pieces:
        if hasattr(out, "buffer"):
            out.buffer.write(piece)
        else:
            out.write(piece.decode("utf-8", "replace"))


def _shown(c: str) -> str:
    if c in _UNCHANGED:
        return c
    if c in _REORDERING or unicodedata.category(c) == "Cs":
        return "\ufffd"
    if unicodedata.category(c) != "Cc":
        return c
    code = ord(c)
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"
