"""Text without the characters that cannot or must not be drawn, whoever wrote it."""

from __future__ import annotations

import re

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
"""Control characters, overrides of the writing direction, halves of characters."""


def showable(text: str) -> str:
    """Return the text with “�” for what cannot or must not be drawn, and with plain line ends."""
    return _UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
