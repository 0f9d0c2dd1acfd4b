"""How Forky words for a model what is no chat turn: files, unreadable content, the end of a merged branch.

These texts are part of what is sent (law 7) and of the provider's cached prefix: changing one here changes the bytes of
every context that has it.
"""

from __future__ import annotations

from forky_core.model import Blob
from forky_core.model.parts import AttachmentPart, MergePart

_TEXTS = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/x-httpd-php",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-python",
        "application/x-sh",
        "application/x-toml",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
_GUESSED = frozenset({"", "application/octet-stream"})


def file_text(blob: Blob) -> str | None:
    """Return the text of a text file; None for a binary one."""
    kind = blob.media_type.lower().partition(";")[0].strip()
    declared = kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))
    if not declared and kind not in _GUESSED:
        return None
    try:
        text = blob.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return blob.content.decode("utf-8", "replace") if declared else None
    return text if declared or "\0" not in text else None


def file_name(part: AttachmentPart) -> str:
    """Return the file's name on one line and without quotes, or a made-up one."""
    name = " ".join(part.name.split()).replace('"', "'").replace("<", "(").replace(">", ")")
    return name or f"attachment {part.sha256[:8]}"


def quoted_file(part: AttachmentPart, text: str) -> str:
    """Return a text file as part of a message; a closing mark inside it cannot end it early."""
    inside = text.replace("</file>", "<\\/file>")
    return f'<file name="{file_name(part)}">\n{inside}\n</file>'


def unread_file(part: AttachmentPart) -> str:
    """Return the line that stands for a file the model cannot be sent."""
    return f'[attached: "{file_name(part)}" ({part.media_type}), which you cannot read]'


def in_quotes(name: str) -> str:
    """Return a name in quotes for a bracketed line; it cannot end the quotation or the line."""
    return '"' + name.translate({ord('"'): "'", ord("["): "(", ord("]"): ")"}) + '"'


def merge_footer(part: MergePart) -> str:
    """Return the line that closes the turns of a full merge."""
    return f"[End of the merged branch {in_quotes(part.source)}. The conversation above it continues here.]"
