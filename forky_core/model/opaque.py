"""What an opaque part is to people: a file that is only named, or something that Forky did not understand.

An import keeps what it does not understand as it came (law 12): as an `OpaquePart` of the type NOT_UNDERSTOOD, which
says what program it came from and in which field it stood. It enters a message's id as it stands, as a part of any
unknown type does. No model is sent anything of it: nobody said it, as far as Forky can tell.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from forky_core.model.parts import Json, OpaquePart, Part, canonical_json

NOT_UNDERSTOOD: Final = "not_understood"
MOST_KEPT: Final = 1_000_000
"""Characters of JSON that one such part keeps; of more it keeps the beginning, the size and the sha256."""
_MOST_BINARY: Final = 10_000
"""Characters of a text without any white space, beyond which it is taken for the bytes of a file and cut."""
_BEGINNING: Final = 200
_NAMED_FILES: Final = frozenset(
    (
        *("image_url", "image", "input_image", "file", "input_file", "document", "attachment", "image_ref"),
        *("image_asset_pointer", "audio_asset_pointer", "video_container_asset_pointer", "youtubeVideo"),
        "real_time_user_audio_video_asset_pointer",
    )
)


@dataclass(frozen=True, slots=True)
class Opaque:
    """An opaque part, as people are told of it."""

    title: str
    """What it is, without a full stop."""
    is_understood: bool
    """It names a file, of which nothing more is there."""
    value: Json
    """What is kept."""


def not_understood(program: str, field: str, value: Json) -> OpaquePart:
    """The part that keeps a field of a program's message; of what is very large, the beginning.

    `value` must not be nested deeper than `canonical_json` can go.
    """
    kept: dict[str, Json] = {"type": NOT_UNDERSTOOD, "program": program, "field": field}
    kept["value"] = _without_binaries(value)
    text = canonical_json(kept["value"])
    if len(text) > MOST_KEPT:
        whole = text.encode("utf-8", "replace")
        kept["value"] = text[:MOST_KEPT]
        kept["cut"] = {"size": len(whole), "sha256": sha256(whole).hexdigest()}
    return OpaquePart(canonical_json(kept))


def opaque(part: OpaquePart) -> Opaque:
    entry = json.loads(part.json)
    kind = str(entry.get("type"))
    if kind == NOT_UNDERSTOOD:
        where = f"field “{entry.get('field')}” of a message from {entry.get('program')}"
        return Opaque(f"Not understood by Forky: {where}", False, entry.get("value"))
    if kind in _NAMED_FILES or kind.startswith("drive") or "asset_pointer" in entry:
        return Opaque("A file that is only named", True, entry)
    return Opaque(f"Not understood by Forky: a part of the kind “{kind}”", False, entry)


def is_left_unsaid(part: Part) -> bool:
    """Whether an import kept this because it did not understand it: no program ever sends it."""
    return isinstance(part, OpaquePart) and json.loads(part.json).get("type") == NOT_UNDERSTOOD


def _without_binaries(value: Json) -> Json:
    """`value` with the bytes of files, which are texts without white space, cut to their beginning."""
    if isinstance(value, str):
        return _cut(value) if len(value) > _MOST_BINARY and len(value.split(None, 1)) == 1 else value
    if isinstance(value, list):
        return [_without_binaries(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_binaries(item) for key, item in value.items()}
    return value


def _cut(text: str) -> Json:
    content = text.encode("utf-8", "replace")
    return {"begins": text[:_BEGINNING], "size": len(content), "sha256": sha256(content).hexdigest()}
