from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from forky_core.wire.streams import Lines, event


def parsed(*pieces: bytes) -> list[Any]:
    lines = Lines()
    return [value for piece in pieces for value in lines.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "values"),
    [
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', [{"a": 1}, None]),
        (b'event: x\r\nid: 7\r\nretry: 9\r\ndata: {"a":1}\r\n\r\n', [{"a": 1}]),
        (b'data:{"a":1}\n\n', [{"a": 1}]),
        (b': hello\n\ndata: {"a":1}\n\n', [{"a": 1}]),
        (b'data: {"a":\ndata: [1,\ndata: 2]}\n\ndata: {"b":2}\n\n', [{"a": [1, 2]}, {"b": 2}]),
        (b'data: {\ndata: "a": {"b": 1},\ndata: "c": 2}\n\n', [{"a": {"b": 1}, "c": 2}]),
        (b"data: 7\n\ndata: [1]\n\ndata: no JSON\n\ndata: no\ndata: JSON\n\n", []),
        (b'data: broken {\n\ndata: {"a":1}\n\n', [{"a": 1}]),
        ('data: {"a":"x\u2028y\u0085z"}\n\n'.encode(), [{"a": "x\u2028y\u0085z"}]),
        # A browser would wait for the blank line; servers forget it, and at the end of a stream nobody sends one.
        (b'data: {"a":1}\ndata: {"b":2}\n', [{"a": 1}, {"b": 2}]),
    ],
)
def test_the_objects_of_a_stream_are_the_same_however_it_is_cut(stream: bytes, values: Sequence[Any]) -> None:
    assert parsed(stream) == values
    assert parsed(*(bytes([byte]) for byte in stream)) == values


def test_what_is_written_is_read_back() -> None:
    value = {"text": "Grüße\n\r\u2028 data: [DONE]", "n": [1, None]}
    assert parsed(event(value, "delta")) == [value]
    assert event(value).count(b"\n") == 2


def test_half_a_character_does_not_stop_a_stream() -> None:
    assert parsed(event({"a": "\ud83d"})) == [{"a": "?"}]
