"""Messages as HTML in which only our own elements are markup.

Every text goes through `html.escape`. In a file Markdown is not rendered, except that blocks and spans of code are
marked up; a page that is served draws what people and models wrote as every other published page does.
Pictures are shown if they have a type that runs nothing (no SVG).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from forky_core.context.citations import NOTHING, Opens, linked, opened_by_line, opened_in, opens_of
from forky_core.context.citing import SOURCES
from forky_core.fences import CodeBlocks
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import MessageId
from forky_core.model.document import ADDRESS, CitedPassage
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    Part,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.opaque import opaque
from forky_core.showing.escaping import safe
from forky_core.showing.prose import prose

_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`\n]{1,500})(?<!`)\1(?!`)")
_TAG = re.compile(r"(<[^<>]*>)")
_UNLINKED = frozenset(("a", "code", "math", "pre"))
"""Elements in which a number in brackets cites nothing."""
_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links for the numbers of passages: to the passage at the end of the page, or to the cited message."""

    chat: Chat
    anchor: Callable[[MessageId], str]
    shown: frozenset[MessageId]
    """The messages on the page."""
    _passages: dict[str, CitedPassage | None] = field(default_factory=dict)

    def __call__(self, number: str, address: str) -> str:
        place = self._place(address)
        return f'<a href="#{place}">{safe(number)}</a>' if place else safe(number)

    def _place(self, address: str) -> str:
        if not address.startswith(ADDRESS):
            return self.anchor(MessageId(address)) if address in self.shown else ""
        if address not in self._passages:
            self._passages[address] = self.chat.passage_of(address)
        return _passage_anchor(address) if self._passages[address] is not None else ""

    def passages(self) -> Iterable[str]:
        """The HTML of all linked passages."""
        for address, one in self._passages.items():
            if one is not None:
                yield (
                    f'<div class="passage" id="{_passage_anchor(address)}"><h3>{safe(one.source)}</h3>'
                    f"{text_html(one.text)}</div>\n"
                )


def _passage_anchor(address: str) -> str:
    return "p-" + "".join(c if c.isalnum() else "-" for c in address.removeprefix(ADDRESS))


def text_html(text: str, link: Callable[[str, str], str] | None = None) -> str:
    """The HTML of a text: line breaks kept, code marked up, all else escaped; `link` renders numbers of passages."""
    lines = text.split("\n")
    opened = opened_by_line(lines) if link is not None else [NOTHING] * len(lines)
    pieces: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    blocks = CodeBlocks()

    def close() -> None:
        said = "\n".join(prose).strip("\n")
        if said:
            pieces.append(f'<div class="said" dir="auto">{said}</div>')
        prose.clear()

    for line, opens in zip(lines, opened, strict=True):
        part = blocks.take(line)
        if part != "code" and code:
            pieces.append(f"<pre>{safe(chr(10).join(code))}</pre>")
            code.clear()
        if part == "opens":
            close()
        elif part == "code":
            code.append(line)
        elif part == "prose":
            prose.append(_spans(line, opens, link))
    close()
    if code:
        pieces.append(f"<pre>{safe(chr(10).join(code))}</pre>")
    return "".join(pieces)


def _spans(text: str, opens: Opens, link: Callable[[str, str], str] | None) -> str:
    """An escaped line with spans of code marked up."""

    def words(prose: str) -> str:
        return linked(prose, opens, safe, link) if link is not None else safe(prose)

    html: list[str] = []
    last = 0
    for match in _SPAN.finditer(text):
        html += (words(text[last : match.start()]), f"<code>{safe(match[2])}</code>")
        last = match.end()
    return "".join((*html, words(text[last:])))


def prose_html(text: str, link: Callable[[str, str], str] | None = None) -> str:
    """The HTML of a text with its Markdown drawn; `link` renders numbers of passages.

    A text in which the same number opens different things is not drawn: only its lines tell them apart.
    """
    if link is None:
        return f'<div class="prose">{prose(text)}</div>'
    lines, opens = text.split("\n"), opened_in(text)
    if any(opens_of(line, opens) != here for line, here in zip(lines, opened_by_line(lines), strict=True)):
        return text_html(text, link)
    pieces: list[str] = []
    inside = 0
    for piece in _TAG.split(prose(text)):
        is_tag = piece.startswith("<")  # In words it is escaped.
        if is_tag and piece.strip("</>").partition(" ")[0] in _UNLINKED:
            inside += -1 if piece.startswith("</") else 1
        pieces.append(piece if is_tag or inside else linked(piece, opens, str, link))
    return f'<div class="prose">{"".join(pieces)}</div>'


def part_html(
    part: Part, chat: Chat, link: Callable[[str, str], str] | None = None, *, drawn: bool = False
) -> str:
    """The HTML of a part; `drawn` draws the Markdown of a text. What a merge brought stays as models read it."""
    match part:
        case TextPart() if drawn:
            return prose_html(part.text, link if SOURCES in part.text else None)
        case TextPart() | MergePart():
            return text_html(part.text, link if SOURCES in part.text else None)
        case ReasoningPart():
            return f"<details><summary>Thoughts</summary>{text_html(part.text)}</details>"
        case ToolCallPart():
            arguments = json.loads(part.arguments)
            text = (
                arguments
                if isinstance(arguments, str)
                else json.dumps(arguments, ensure_ascii=False, indent=2)
            )
            return f"<details><summary>Calls {safe(part.name)}</summary><pre>{safe(text)}</pre></details>"
        case ToolResultPart():
            output = part.output or part.exception or ""
            return f"<details><summary>{safe(part.name or 'A tool')} answers</summary><pre>{safe(output)}</pre></details>"
        case AttachmentPart():
            return _attachment(part, chat)
        case RevertPart():
            number = len(part.targets)
            return f'<div class="said">Takes back {number} message{"s" if number != 1 else ""} from here on.</div>'
        case OpaquePart():
            told = opaque(part)
            value = json.dumps(told.value, ensure_ascii=False, indent=2)
            return f"<details><summary>{safe(told.title)}</summary><pre>{safe(value)}</pre></details>"


def _attachment(part: AttachmentPart, chat: Chat) -> str:
    name = safe(part.name or part.media_type)
    blob = chat.blobs.get(part.sha256)
    if blob is None or part.media_type not in _PICTURES:
        return f'<div class="said">📎 {name}</div>'
    data = base64.b64encode(blob.content).decode()
    return f'<img alt="{name}" src="data:{part.media_type};base64,{data}">'
