"""Writes JSON incrementally: arrays with one item a line, so that a long conversation is never one value in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from forky_core.model.parts import Json


def one(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def array(items: Iterable[Json]) -> Iterator[bytes]:
    return array_of((one(item),) for item in items)


def array_of(items: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """The JSON of an array whose items come in pieces."""
    before = b"[\n"
    for item in items:
        yield before
        yield from item
        before = b",\n"
    yield b"\n]" if before == b",\n" else b"[]"


def object_with(fields: Mapping[str, Json], name: str, value: Iterable[bytes]) -> Iterator[bytes]:
    """The JSON of an object with these fields, followed by one whose value comes in pieces."""
    yield one(dict(fields))[:-1] + (b", " if fields else b"") + one(name) + b": "
    yield from value
    yield b"}"


def members(items: Iterable[tuple[str, Json]]) -> Iterator[bytes]:
    """The JSON of an object with many fields."""
    before = b"{\n"
    for name, value in items:
        yield before + one(name) + b": " + one(value)
        before = b",\n"
    yield b"\n}" if before == b",\n" else b"{}"
