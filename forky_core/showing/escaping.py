"""Text of people and models as text of an HTML document."""

from __future__ import annotations

import json
import re
from html import escape

from forky_core.model.parts import Json

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """Escape text for HTML or for the value of a quoted attribute."""
    return escape(_UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")))


def data_block(id: str, value: Json) -> str:
    """JSON in a script element that no browser runs; no text in it can end the element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{id}">{text}</script>\n'
