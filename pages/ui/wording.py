"""Lines of messages as people read them: Markdown drawn instead of shown, and names for what only models read.

A line stands by itself here, out of its message: only what is plain within one line is drawn. editor.js draws the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from forky_core.merge.headings import UNRESOLVED
from forky_core.model import Message, MessageId
from forky_core.text.words import WIDE
from pages.ui.components.markdown import showable

_INLINE = re.compile(
    r"`([^`\n]+)`"
    r"|(?<![\w*])\*\*(?=[^\s*])([^\n]{0,400}?[^\s*])\*\*(?![\w*])"
    r"|(?<![\w*])\*(?=[^\s*])([^*\n]{0,400}?[^\s*])\*(?![\w*])"
    r"|~~(?=\S)([^~\n]{0,400}?\S)~~"
    r"|!?\[([^\[\]\n]{1,400})\]\([^()\s]{1,2000}\)".replace(r"[\w*]", rf"(?:\*|[^\W{WIDE}])")
)
"""Within bounds, so that a line of many signs is read in no time."""
_TAGS = ("code", "b", "i", "s", "")
_ITEM = re.compile(r"\s*[-*+•]\s+(?=\S)")
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_HEADING = re.compile(r"\s*#{1,6}\s+(?=\S)")
_TABLE = re.compile(r"\s*\|(.+)\|\s*")
_SPEAKERS = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_TITLES = {UNRESOLVED: "Unresolved: nobody has decided yet"}


def inline(text: str) -> str:
    """HTML of words with code, bold and italics drawn; a link is its words."""
    pieces: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        pieces.append(escape(showable(text[at : found.start()])))
        tag, words = _TAGS[(found.lastindex or 1) - 1], found[found.lastindex or 1]
        drawn = escape(showable(words)) if tag == "code" else inline(words)
        pieces.append(f"<{tag}>{drawn}</{tag}>" if tag else drawn)
        at = found.end()
    return "".join((*pieces, escape(showable(text[at:]))))


def bare(text: str) -> str:
    """Words without the signs of Markdown, for a label that draws none."""
    return _INLINE.sub(lambda found: next(filter(None, found.groups())), text)


def unlisted(text: str) -> tuple[str, bool]:
    """A line without the sign before an item or a heading, and whether it is an item."""
    if found := _ITEM.match(text):
        words = text[found.end() :]
        return _BOXES.get(words[:4], words[:4]) + words[4:], True
    found = _HEADING.match(text)
    return (text[found.end() :] if found else text), False


def cells_of(text: str) -> tuple[str, ...]:
    """The cells of a row of a table; () of any other line."""
    found = _TABLE.fullmatch(text)
    return tuple(cell.strip() for cell in found[1].split("|")) if found and "|" in found[1] else ()


def titled(section: str) -> str:
    """The title of a section of a merge, for people."""
    return _TITLES.get(section, section)


def who_said(message: Message, author: Callable[[MessageId], str]) -> str:
    """Who a message is by; `author` returns what stands in place of “You”, "" for nothing."""
    named = author(message.id) if message.role == "user" and not message.name else message.name
    return named or speaker_named(message.role)


def speaker_named(speaker: str) -> str:
    """Who speaks, as the notebook calls them."""
    return _SPEAKERS.get(speaker, speaker)
