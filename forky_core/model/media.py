"""Files in messages: bytes from data URLs or base64, media types, and the files of one request."""

from __future__ import annotations

import base64
import binascii
import hashlib
import mimetypes
import re
from typing import Literal

from forky_core.model import Blob
from forky_core.model.errors import BadCall
from forky_core.model.hashing import mend_text
from forky_core.model.parts import AttachmentPart, Json, OpaquePart, canonical_json

LARGEST_FILE = 50_000_000
"""The most bytes of one file."""

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,", re.ASCII)
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_ANY = "application/octet-stream"


def data_url(url: str) -> tuple[bytes, str] | None:
    """Return the bytes and media type of a data URL; None for any other text."""
    match = _DATA_URL.match(url)
    if match is None:
        return None
    content = decoded(url[match.end() :])
    return (content, match.group(1) or "") if content is not None else None


def as_data_url(content: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def decoded(text: str) -> bytes | None:
    """Return the bytes of a base64 text; None for any other text."""
    try:
        return base64.b64decode(text, validate=False)
    except (ValueError, binascii.Error):
        return None


def media_type_of(content: bytes, name: str, claimed: str = "") -> str:
    """Return a file's media type: for a picture by its first bytes, for anything else as claimed or by its name.

    Every provider would refuse a file that only claims to be a picture, and with it the whole question.
    """
    shown = next((kind for start, kind in _PICTURES if content.startswith(start)), "")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        shown = "image/webp"
    if shown:
        return shown
    kind = claimed.strip().lower() or mimetypes.guess_type(mend_text(name[-200:]))[0] or _ANY
    pretends = kind in {"image/webp", *(kind for _, kind in _PICTURES)}
    return kind if _MEDIA_TYPE.fullmatch(kind.partition(";")[0].strip()) and not pretends else _ANY


class RequestFiles:
    """The files of one request by sha256, collected while it is parsed."""

    def __init__(self) -> None:
        self.found: dict[str, Blob] = {}
        self.linked = 0

    def attach(self, content: bytes, where: str, claimed: str = "", name: str = "") -> AttachmentPart:
        if not content:
            raise BadCall("This file is empty.", where)
        if len(content) > LARGEST_FILE:
            raise BadCall(
                f"A file may have {LARGEST_FILE // 1_000_000} MB; this one has {len(content) / 1e6:.0f}.",
                where,
            )
        shown = " ".join(mend_text(name).split())[:200]
        kind = media_type_of(content, shown, claimed)
        sha256 = hashlib.sha256(content).hexdigest()
        self.found.setdefault(sha256, Blob(sha256, kind, shown, content))
        return AttachmentPart(sha256, kind, shown)

    def link(self, kind: Literal["image_url", "file"], named: dict[str, Json]) -> OpaquePart:
        """Return the part for a file without its bytes: the block of OpenAI's chat API, as imports store it.

        The file at an address may change: the same address makes the same message, whatever is there by then.
        """
        self.linked += 1
        return OpaquePart(canonical_json({"type": kind, kind: named}))

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.linked:
            return ()
        what = "1 file is" if self.linked == 1 else f"{self.linked} files are"
        return (f"{what} named by address only; what stands there may change.",)
