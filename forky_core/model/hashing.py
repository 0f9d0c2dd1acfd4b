"""Content ids: a message's id names its whole path (law 1), by the contract simonw/llm documents.

`b2:` + BLAKE2b-16 of the canonical JSON of `{"parent": id or null, "message": {"role", "parts"}}`; a message
with two or more parents says `"parents": [...]` in its place, and one with a named author adds `"name"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from json.encoder import encode_basestring

from forky_core.model.parts import (
    Draft,
    Json,
    Part,
    TextPart,
    canonical_json,
    part_from_stored,
    quoted,
)

HASH_PREFIX = "b2:"
_DIGEST_BYTES = 16


def content_hash(value: Json) -> str:
    """Return `b2:` and 32 hex digits: the hash of the value's canonical JSON."""
    digest = blake2b(canonical_json(value).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return HASH_PREFIX + digest


def message_id(parents: Sequence[str], role: str, parts: Sequence[Part], name: str | None = None) -> str:
    """Return the id of a message with this content below these parents.

    The texts must be encodable (see `mend_text`).

    Raises:
        UnicodeEncodeError: a text has a lone surrogate.
    """
    if len(parts) == 1 and len(parents) < 2 and name is None and type(parts[0]) is TextPart:
        return _id_of_text(parents[0] if parents else None, role, parts[0].text)
    message: dict[str, Json] = {"role": role, "parts": [part.hashed() for part in parts]}
    if name is not None:
        message["name"] = name
    if len(parents) >= 2:
        return content_hash({"parents": list(parents), "message": message})
    return content_hash({"parent": parents[0] if parents else None, "message": message})


def path_ids(turns: Iterable[Draft]) -> list[str]:
    """Return the ids of a chain of messages, each the parent of the next, the first of them a root."""
    found: list[str] = []
    above: tuple[str, ...] = ()
    for turn in turns:
        parts = turn.parts
        if len(parts) == 1 and turn.name is None and type(parts[0]) is TextPart:
            quotes = b'"' + above[0].encode() + b'"' if above else b"null"
            id = _text_hash(quotes, turn.role, parts[0].text)
        else:
            id = message_id(above, turn.role, parts, turn.name)
        found.append(id)
        above = (id,)
    return found


def _id_of_text(parent: str | None, role: str, text: str) -> str:
    """Return what `message_id` does for the commonest message, one text with at most one parent."""
    return _text_hash(encode_basestring(parent).encode() if parent is not None else b"null", role, text)


def _text_hash(parent: bytes, role: str, text: str) -> str:
    """Hash the canonical JSON of a text message, put together by hand for speed; `parent` is JSON already."""
    content = b'{"message":{"parts":[{"text":' + quoted(text) + _behind_the_text(role) + parent + b"}"
    return HASH_PREFIX + blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


@cache
def _behind_the_text(role: str) -> bytes:
    return b',"type":"text"}],"role":' + quoted(role) + b'},"parent":'


def mend_text(text: str) -> str:
    r"""`text` with each surrogate pair joined and each lone surrogate replaced by U+FFFD.

    JSON may spell a lone surrogate ("\ud83d"), which no UTF-8 can hold, so it could be neither hashed nor stored.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mend_json(value: Json) -> Json:
    """`value` with `mend_text` applied to every string in it, keys included."""
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, list):
        return [mend_json(item) for item in value]
    if isinstance(value, dict):
        return {mend_text(key): mend_json(item) for key, item in value.items()}
    return value


def mend_part(part: Part) -> Part:
    """Return the part with storable text: the same object if nothing needs mending."""
    if type(part) is TextPart:
        text = mend_text(part.text)
        return part if text is part.text else TextPart(text)
    stored = part.stored()
    try:
        canonical_json(stored).encode()
    except UnicodeEncodeError:
        return part_from_stored(mend_json(stored))
    return part
