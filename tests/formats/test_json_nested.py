"""The decoder without recursion gives what the standard one gives, and goes on where that one stops."""

from __future__ import annotations

import io
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.formats.contract import Unreadable
from forky_core.formats.fields import shallow
from forky_core.formats.files.json_nested import DEEP, MOST_DEEP, MOST_LOOSE, TooDeep, decoder, read_nested
from forky_core.formats.files.json_values import elements, lines, parse
from forky_core.model.parts import Json
from tests.examples import examples
from tests.formats.test_json_values import JSON, Dripping

REPLY, END = '{"text":"a","children":[', "]}"


def replies(number: int) -> str:
    return REPLY * number + END * number


def depth(value: Json, key: str = "children") -> int:
    below = 0
    while value:
        value, below = value[key][0] if value[key] else None, below + 1
    return below


@given(JSON, st.booleans(), st.booleans())
@settings(deadline=None)
def test_a_value_is_the_same_by_either_decoder(value: Json, spaced: bool, ascii: bool) -> None:
    text = json.dumps(value, indent=1 if spaced else None, ensure_ascii=ascii)
    assert read_nested(text) == decoder.raw_decode(text)


@given(JSON, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=examples(300))
def test_a_broken_text_is_refused_by_both_at_the_same_place(value: Json, dice: random.Random) -> None:
    text = json.dumps({"a": [value, 1.5], "b": {}})
    at = dice.randrange(1, len(text))
    text = text[:at] + dice.choice(["", ",", "]", "}", '"', ":", "7", "tru", " "]) + text[at + 1 :]
    read: list[object] = []
    for decode in (decoder.raw_decode, read_nested):
        try:
            read.append(decode(text))
        except json.JSONDecodeError as error:
            read.append(error.pos)
    assert read[0] == read[1]


@pytest.mark.parametrize("number", [490, 5_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_replies_below_replies_are_read_however_deep(number: int) -> None:
    (value,) = elements(io.BytesIO(replies(number).encode()))
    assert not isinstance(value, Unreadable)
    assert depth(value) == number
    assert depth(parse(replies(number))) == number


def test_they_may_arrive_in_small_pieces_and_others_follow() -> None:
    rows = f'{{"messages":[{replies(3_000)}]}}\n{{"a":"\\\\"}}\n'
    for read in (elements, lines):
        first, second = read(Dripping(rows.encode(), 7_919))
        assert not isinstance(first, Unreadable)
        assert depth(first["messages"][0]) == 3_000
        assert second == {"a": "\\"}


def test_what_is_no_tree_of_messages_is_held_to_a_bound() -> None:
    far = 300_000  # Further than the standard decoder goes, whatever Python it is.
    odd = '{"children":[' * 2_000 + '{"other":' + "[" * far + "]" * far + "}" + "]}" * 2_000
    for deep in ("[" * far + "]" * far, '{"a":' * far + "1" + "}" * far, odd):
        with pytest.raises(TooDeep):
            read_nested(deep)
        assert list(elements(io.BytesIO(f"[{deep},7]".encode()))) == [Unreadable("number 1", DEEP), 7]
        with pytest.raises(TooDeep):
            parse(deep)


def test_a_tree_has_a_bound_too() -> None:
    more = MOST_DEEP // 2 + 10
    assert list(elements(io.BytesIO(f"[{replies(more)},7]".encode()))) == [Unreadable("number 1", DEEP), 7]


def test_what_is_kept_is_emptied_of_what_nobody_meant() -> None:
    assert shallow(["[]", {"a": [1]}]) == ["[]", {"a": [1]}]
    steep: Json = "x"
    for _ in range(3_000):
        steep = {"a": steep}
    kept = json.loads(json.dumps(shallow(steep)))
    levels = 0
    while kept:
        kept, levels = kept["a"], levels + 1
    assert levels == MOST_LOOSE
