"""What is remembered of one path serves others: whatever was asked for before, the answer is as if nothing had been."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from forky_core.context.conversion_cache import Converter, PlainMessages
from forky_core.context.convert import FileAccess
from forky_core.model import Message
from forky_core.model.parts import Draft, ToolResultPart
from forky_core.model.room import Voices
from tests.context.test_build import chain

TRUNK = chain(*((("user", "assistant")[at % 2], f"said {at}") for at in range(600)))
TOOL = chain(Draft("tool", (ToolResultPart("look", "found"),)), ("user", "And?"), below=TRUNK[299])
FORKS = [
    TRUNK,
    TRUNK[:301],
    (*TRUNK[:100], *chain(("user", "Another way"), ("assistant", "Which?"), below=TRUNK[99])),
    (*TRUNK[:300], *TOOL),
    (*TRUNK[:40], replace(TRUNK[40], hidden=True), *TRUNK[41:]),
    (*TRUNK[:20], *chain(("user", "  "), ("assistant", "You said nothing."), below=TRUNK[19])),
]


def said_anew(path: tuple[Message, ...]) -> PlainMessages:
    """Message by message."""
    told, converter = PlainMessages([], [], []), Converter(len)
    for at, message in enumerate(path):
        one = converter.said((message,))
        told.drafts.extend(one.drafts)
        told.costs.extend(one.costs)
        told.others.extend([at] * len(one.others))
    return told


ANEW = [said_anew(path) for path in FORKS]


@given(st.lists(st.tuples(st.integers(0, len(FORKS) - 1), st.integers(0, 602)), min_size=1, max_size=6))
def test_whatever_was_read_before_a_path_reads_the_same(asked: list[tuple[int, int]]) -> None:
    converter = Converter(len)
    for fork, end in asked:
        assert converter.said(FORKS[fork][:end]) == ANEW[fork].until(end)


def test_a_path_that_grows_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    converter = Converter(count)
    for end in range(0, 601, 50):
        converter.said(TRUNK[:end])
    assert counted == [message.text for message in TRUNK]


def test_what_was_forgotten_is_read_again() -> None:
    converter = Converter(len)
    converter.CAPACITY = 512
    for path, told in zip(FORKS * 3, ANEW * 3, strict=True):
        assert converter.said(path) == told


def test_hidden_messages_are_not_taken_from_a_conversation_that_shows_them() -> None:
    hides = FORKS[4]
    converter = Converter(len)
    assert converter.said(TRUNK).others == []
    assert converter.said(hides).others == [40]
    assert converter(hides[40], FileAccess()).ordinary is False
    assert converter.said(TRUNK).others == []


def test_named_messages_are_left_to_the_voices_of_a_room() -> None:
    named = tuple(replace(message, name="Ana") for message in TRUNK[:4])
    assert Converter(len).said(named).others == []
    room = Voices(("Ana", "Ben"))
    assert Converter(len, room).said(named).others == [0, 1, 2, 3]
