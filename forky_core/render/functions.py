"""The filters and functions for templates of conversations. Only page.py imports this module, and only to draw one."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from forky_core.model import Blob
from forky_core.model.opaque import opaque
from forky_core.model.parts import AttachmentPart
from forky_core.render.markdown import as_written, inline_markdown, markdown, needs_its_lines
from forky_core.views.captions import dollars, payload_brought_back, seconds, tokens
from forky_core.views.graph import line_of_text
from forky_core.views.payload import payload_rows
from forky_core.views.shelf import count, title_or_placeholder

LONG = 12_000
"""How many characters of a text are shown at first; a press shows the rest."""
_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""The types of pictures that are shown; none of them can run a script."""


def _digits(id: str) -> str:
    return id.removeprefix("b2:")


def _halves(text: str, *, at_line: bool = True) -> tuple[str, str]:
    """Split a text into what is shown at first and the rest; `at_line` splits at the end of a line, if one is near."""
    if len(text) <= LONG:
        return text, ""
    cut = text.rfind("\n", LONG // 2, LONG) if at_line else -1
    cut = cut if cut > 0 else LONG
    return text[:cut], text[cut:]


def _is_picture(part: AttachmentPart, blob: Blob | None) -> bool:
    return blob is not None and part.media_type in _PICTURES


def _data_uri(content: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "as_written": as_written,
    "data_uri": _data_uri,
    "digits": _digits,
    "dollars": dollars,
    "halves": _halves,
    "inline_markdown": inline_markdown,
    "line": line_of_text,
    "markdown": markdown,
    "seconds": seconds,
    "summary": payload_brought_back,
    "titled": title_or_placeholder,
    "tokens": tokens,
}
FUNCTIONS: Mapping[str, Any] = {
    "count": count,
    "is_picture": _is_picture,
    "long": LONG,
    "needs_its_lines": needs_its_lines,
    "opaque": opaque,
    "payload_rows": payload_rows,
}
