"""The words that stand in a shared or redacted copy for what was left out of it."""

from __future__ import annotations

import re

FILE_LEFT_OUT = "(A file, which is not shared.)"
"""The text of a message that was nothing but files, where files are left out."""
PLACEHOLDER = re.compile(r"\[[A-Za-z][A-Za-z-]{0,11} [1-9][0-9]{0,5}\]")
"""Any text that `placeholder` returns."""


def placeholder(kind: str, number: int) -> str:
    """What stands for a private value, e.g. "[e-mail 1]"."""
    return f"[{kind} {number}]"
