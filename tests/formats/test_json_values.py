from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.formats.contract import Unreadable
from forky_core.formats.files import json_nested, json_values
from forky_core.formats.files.json_values import elements, lines
from forky_core.formats.files.json_window import Extent, JsonInput
from forky_core.formats.files.source import document

Reader = Callable[[JsonInput], Iterator[Any]]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def traced(read: Reader, source: bytes) -> tuple[list[Any], int]:
    """What is read of it, and the most memory taken meanwhile, in bytes."""
    stream = io.BytesIO(source)
    tracemalloc.start()
    try:
        return list(read(stream)), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Dripping:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._stream, self._step = io.BytesIO(data), step

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(min(size, self._step) if size > 0 else self._step)


@given(st.lists(JSON, max_size=5), st.integers(1, 40), st.booleans())
@settings(deadline=None)
def test_an_array_gives_its_elements_however_it_arrives(
    values: list[object], step: int, spaced: bool
) -> None:
    text = json.dumps(values, indent=2 if spaced else None, ensure_ascii=spaced)
    assert list(elements(Dripping(text.encode("utf-8", "surrogatepass"), step))) == values


@given(
    st.lists(JSON.filter(lambda value: not isinstance(value, int | float)), max_size=5), st.integers(1, 40)
)
@settings(deadline=None)
def test_lines_give_their_values_however_they_arrive(values: list[object], step: int) -> None:
    text = "\n".join(json.dumps(value) for value in values)
    assert list(lines(Dripping(text.encode(), step))) == values


@given(JSON, st.integers(1, 40), st.booleans())
@settings(deadline=None)
def test_whatever_a_broken_element_holds_the_next_one_is_read(value: object, step: int, ascii: bool) -> None:
    text = f'[{{"x":[{json.dumps(value, ensure_ascii=ascii)}],}},"next",7]'
    broken, *rest = elements(Dripping(text.encode("utf-8", "surrogatepass"), step))
    assert isinstance(broken, Unreadable)
    assert rest == ["next", 7]


def test_an_object_is_one_value() -> None:
    assert list(elements(io.BytesIO(b' \xef\xbb\xbf{"a": [1]}'.replace(b" ", b"")))) == [{"a": [1]}]


def test_a_broken_element_is_told_and_the_next_one_is_read() -> None:
    found = list(elements(io.BytesIO(b'[{"a": 1}, {"b": [tru, "]}"], "c": 2}, {"d": 3}]')))
    assert found[0] == {"a": 1}
    assert isinstance(found[1], Unreadable)
    assert found[2:] == [{"d": 3}]


@pytest.mark.parametrize("raw", [b"[}]", b"[1,}", b'[{"a": 1}}]', b"[1,2}}", b"{]", b"}"])
def test_a_stray_bracket_is_told_and_reading_comes_to_an_end(raw: bytes) -> None:
    found = list(islice(elements(io.BytesIO(raw)), 20))
    assert 1 <= sum(isinstance(one, Unreadable) for one in found) <= 3
    assert len(found) <= 5


def test_what_closes_nothing_is_passed_over_and_garbage_without_end_is_left() -> None:
    found = list(elements(io.BytesIO(b'[}, {"a": 1}]')))
    assert [type(value) for value in found] == [Unreadable, dict]
    for read in (elements, lines):
        left = list(read(io.BytesIO(b"[" + b"}\n" * 100_000)))
        assert len(left) <= json_values.MOST_BROKEN + 2
        assert left[-1].why in (json_values.HOPELESS, json_values.CUT)


def test_a_broken_line_ends_at_its_line_break() -> None:
    found = list(lines(io.BytesIO(b'{"a": 1}\n{"b": [\n{"c": 3}\n')))
    assert [found[0], found[2]] == [{"a": 1}, {"c": 3}]
    assert isinstance(found[1], Unreadable)
    assert found[1].label == "line 2"


def test_nesting_without_end_is_told_and_passed_over() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    found = list(elements(io.BytesIO(f'[{deep}, {{"a": 1}}]'.encode())))
    assert found == [Unreadable("number 1", json_nested.DEEP), {"a": 1}]


def test_a_cut_file_gives_what_was_whole_and_says_so() -> None:
    found = list(elements(io.BytesIO(b'[{"a": 1}, {"b": "half a te')))
    assert found == [{"a": 1}, Unreadable("number 2", json_values.CUT)]
    assert list(elements(io.BytesIO(b'[{"a": 1},'))) == [
        {"a": 1},
        Unreadable("after number 1", json_values.CUT),
    ]


def test_bytes_that_are_no_text_and_numbers_that_are_none_lose_nothing_else() -> None:
    assert list(elements(io.BytesIO(b'[{"a": "\xff\xfe", "n": NaN, "raw": "x\ny"}]'))) == [
        {"a": "\ufffd\ufffd", "n": None, "raw": "x\ny"}
    ]
    absurd = list(elements(io.BytesIO(b'[{"n": ' + b"9" * 10_000 + b'}, {"a": 1}]')))
    assert isinstance(absurd[0], Unreadable)
    assert absurd[1] == {"a": 1}


def test_a_value_that_is_too_long_is_passed_over_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "LONGEST", 2_000_000)
    long = b'{"t": "' + b'x[\\"' * 8_000_000 + b'"}'
    for read, source in ((lines, long + b'\n{"a": 1}\n'), (elements, b"[" + long + b',{"a": 1}]')):
        found, peak = traced(read, source)
        assert found == [Unreadable(found[0].label, json_values.LONG), {"a": 1}]
        assert peak < 20_000_000


def test_a_value_that_holds_too_much_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "FULLEST", 100_000)
    full = b'{"a":[' + b",".join([b'{"id":"[","b":{}}'] * 600_000) + b"]}"
    found, peak = traced(elements, b"[" + full + b',{"a": 1}]')
    assert found == [Unreadable("number 1", json_values.FULL), {"a": 1}]
    assert peak < 80_000_000


@given(JSON, st.integers(1, 40))
@settings(deadline=None)
def test_where_a_value_ends_is_known_however_it_arrives(value: object, step: int) -> None:
    text = json.dumps([value])
    extent, after = Extent(), '  ,"\\'
    whole, ends = text + after, None
    for at in range(0, len(whole), step):
        inside = extent.feed(whole[at : at + step])
        if inside is not None and ends is None:
            ends = at + inside
    assert ends == len(text)


def test_what_lines_follow_a_long_first_one_are_read() -> None:
    first = '{"t": "' + "x" * 70_000 + '"}'
    rows = f'{first}\n{{"a": 1}}\n{{"b"\n{{"c": 2}}\n'
    opened = document("log.jsonl", lambda: io.BytesIO(rows.encode()))
    assert [type(value) for value in opened.values()] == [dict, dict, Unreadable, dict]
