"""Lines of a table as CSV (RFC 4180), of which no spreadsheet takes a text for a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_NUMBER = re.compile(r"[+-]?\d[\d.]*(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def csv_line(values: Sequence[object]) -> bytes:
    """A line of a table; a text that a spreadsheet would run as a formula begins with an apostrophe."""
    written = StringIO()
    csv.writer(written).writerow([_harmless(value) for value in values])
    return written.getvalue().encode("utf-8", "replace")


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
