"""Prints what looks private in a file that is about to be written."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from forky_core.cli.plain import one_line, plain
from forky_core.formats.exporting.redaction import PrivateValue
from forky_core.views.shelf import count


def print_private_values(values: Sequence[PrivateValue]) -> None:
    """List each value with its placeholder and the first place where it occurs."""
    for one in values:
        print(plain(f"{one.placeholder}: {one_line(one.value)[:60]}, {one.places[0].where}"), file=sys.stderr)


def report_private_values(values: Sequence[PrivateValue], *, redact: bool) -> None:
    """List the values that are replaced; without `redact`, say only how many there are and how to replace them."""
    if redact:
        print_private_values(values)
    elif values:
        print(
            f"{count(len(values), 'thing')} in it may be private (keys, accounts, addresses, numbers); --redact lists "
            "and replaces them.",
            file=sys.stderr,
        )
