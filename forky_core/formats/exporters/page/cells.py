"""Messages as HTML in which nothing but our own elements is markup.

Every text goes through `html.escape`; Markdown is not rendered, only blocks and spans of code are set apart. Pictures
are shown where they are bytes of a kind that runs nothing (no SVG).
"""

from __future__ import annotations

import base64
import json
import re
from html import escape

from forky_core.formats.forky_file.chat import Chat
from forky_core.parts import (
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

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*$")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`\n]{1,500})(?<!`)\1(?!`)")
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


def safe(text: str) -> str:
    """Text as HTML text or the value of a quoted attribute."""
    return escape(_UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")))


def text_html(text: str) -> str:
    """What somebody wrote: line breaks kept, code set apart, nothing obeyed."""
    pieces: list[str] = []
    prose: list[str] = []
    code: list[str] = []
    fence = ""

    def close() -> None:
        said = "\n".join(prose).strip("\n")
        if said:
            pieces.append(f'<div class="said" dir="auto">{_spans(said)}</div>')
        prose.clear()

    for line in text.split("\n"):
        match = _FENCE.match(line)
        if not fence and match is not None:
            close()
            fence = match[1]
        elif fence and match is not None and match[1].startswith(fence):
            pieces.append(f"<pre>{safe(chr(10).join(code))}</pre>")
            code.clear()
            fence = ""
        else:
            (code if fence else prose).append(line)
    close()
    if fence:
        pieces.append(f"<pre>{safe(chr(10).join(code))}</pre>")
    return "".join(pieces)


def _spans(text: str) -> str:
    """Escaped text with spans of code."""
    html: list[str] = []
    last = 0
    for match in _SPAN.finditer(text):
        html += (safe(text[last : match.start()]), f"<code>{safe(match[2])}</code>")
        last = match.end()
    return "".join((*html, safe(text[last:])))


def part_html(part: Part, chat: Chat) -> str:
    match part:
        case TextPart() | MergePart():
            return text_html(part.text)
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
            return "<details><summary>A part that Forky does not know</summary></details>"


def _attachment(part: AttachmentPart, chat: Chat) -> str:
    name = safe(part.name or part.media_type)
    blob = chat.blobs.get(part.sha256)
    if blob is None or part.media_type not in _PICTURES:
        return f'<div class="said">📎 {name}</div>'
    data = base64.b64encode(blob.content).decode()
    return f'<img alt="{name}" src="data:{part.media_type};base64,{data}">'
