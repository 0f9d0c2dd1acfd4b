"""Files that a message names without their bytes: an address, a path, an id at a provider.

They are stored in an `OpaquePart` as the block of OpenAI's chat API, as imports store them. The file at such an address
may change: the same address makes the same message, whatever is there by then.
"""

from __future__ import annotations

import json

from forky_core.model.parts import Json, OpaquePart, canonical_json

BLOCKS = ("image_url", "file")


def link(url: str, *, detail: str = "") -> OpaquePart:
    """Return the part for a picture by its address or path."""
    named: dict[str, Json] = {"url": url, "detail": detail} if detail else {"url": url}
    return OpaquePart(canonical_json({"type": "image_url", "image_url": named}))


def provider_file(id: str) -> OpaquePart:
    """Return the part for a file that was uploaded to a provider, by its id there."""
    return OpaquePart(canonical_json({"type": "file", "file": {"file_id": id}}))


def link_of(part: OpaquePart) -> str | None:
    """Return `url:…`, `path:…` or `id:…`; for any other block its canonical JSON, so that different blocks differ."""
    block = json.loads(part.json)
    match block:
        case {"type": "image_url", "image_url": {"url": str(url)}} | {
            "type": "image_url",
            "image_url": str(url),
        }:
            if url.startswith("file://"):
                return f"path:{url.removeprefix('file://')}"
            return f"url:{url}" if "://" in url else f"path:{url}"
        case {"type": "file", "file": {"file_id": str(id)}}:
            return f"id:{id}"
        case _:
            return part.json
