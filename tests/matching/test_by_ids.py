"""Where ids settle where an array belongs, they settle it as reading the whole conversation does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.matching.by_ids import FEW, match_by_ids
from forky_core.matching.finding import PlaceMatch, match
from forky_core.matching.walking import Tree
from forky_core.model import Message, MessageId, seal
from forky_core.model.parts import Draft, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from forky_core.store.path_matching import path_overlap
from tests.examples import examples
from tests.matching.test_walking import as_sent, drafts, stored, tree_of


def by_reading(turns: Sequence[Draft], messages: Mapping[MessageId, Message]) -> PlaceMatch:
    tree = Tree()
    tree.take(messages)
    return match(turns, tree, messages, messages.keys)


def by_ids(turns: Sequence[Draft], messages: Mapping[MessageId, Message]) -> PlaceMatch | None:
    return match_by_ids(turns, lambda path: path_overlap(messages, path, FEW))


@given(stored, st.none() | st.integers(0, 30), st.lists(drafts, max_size=3), st.integers(0, 3))
@settings(max_examples=examples(400), deadline=None)
def test_ids_settle_it_as_reading_does_or_not_at_all(
    rows: list[tuple[int, Draft, bool]], known: int | None, news: list[Draft], cut: int
) -> None:
    messages = tree_of(rows)
    sent = as_sent(messages, known) if known is not None else []
    turns = [*sent[: len(sent) - cut], *news]
    found = by_ids(turns, messages)
    assert found is None or found == by_reading(turns, messages)


plain = st.builds(
    lambda role, text: Draft(role, (TextPart(text),)),
    st.sampled_from(("user", "assistant")),
    st.sampled_from(("a", "b", "c", "d", "d ")),
)
grown = st.lists(st.tuples(st.integers(0, 12), plain, st.just(False)), min_size=1, max_size=FEW)


@given(grown, st.integers(0, 12), st.lists(plain, max_size=2))
@settings(max_examples=examples(200), deadline=None)
def test_plain_trees_are_mostly_settled_by_ids_and_as_reading_settles_them(
    rows: list[tuple[int, Draft, bool]], known: int, news: list[Draft]
) -> None:
    """Not where the array goes on as something beside it that spells it otherwise."""
    messages = tree_of(rows)
    turns = [*as_sent(messages, known), *news]
    found = by_ids(turns, messages)
    if found is None:
        assert any(one.text == "d " for one in messages.values()) or any(
            one.parts[0] == TextPart("d ") for one in news
        )
    else:
        assert found == by_reading(turns, messages)


def user(text: str) -> Draft:
    return Draft("user", (TextPart(text),))


def assistant(text: str) -> Draft:
    return Draft("assistant", (TextPart(text),))


def talk(*runs: Sequence[Draft]) -> dict[MessageId, Message]:
    """Runs from a root each; what they have in common is there once."""
    messages: dict[MessageId, Message] = {}
    for run in runs:
        above = None
        for draft in run:
            message = seal(draft, [above])
            messages.setdefault(message.id, message)
            above = message.id
    return messages


TALK = [user("a"), assistant("b"), user("c"), assistant("d")]
TOOLS = [
    user("Look."),
    Draft("assistant", (ToolCallPart("look", "{}", tool_call_id="x"),)),
    Draft("tool", (ToolResultPart("look", "seen", tool_call_id="x"),)),
    assistant("I see."),
]


@pytest.mark.parametrize(
    ("turns", "known"),
    [
        (TALK, 4),
        (TALK[:2], 2),
        ([*TALK, user("e")], 4),
        ([*TALK[:3], assistant("another")], 3),
        ([TALK[0], assistant("another"), user("c")], 1),
        (TOOLS, 4),
        ([*TOOLS[:3], assistant("Nothing.")], 3),
    ],
    ids=[
        "all of it",
        "its beginning",
        "one more",
        "another answer",
        "edited above",
        "a tool",
        "after a tool",
    ],
)
def test_a_known_path_is_settled_by_ids(turns: list[Draft], known: int) -> None:
    messages = talk(TALK, TOOLS, [*TALK[:2], user("an edited question")])
    found = by_ids(turns, messages)
    assert found is not None
    assert found == by_reading(turns, messages)
    assert found.known == known


@pytest.mark.parametrize(
    ("beside", "turns"),
    [
        ([user(" a "), assistant("b")], TALK),
        ([*TALK[:3], Draft("assistant", (ReasoningPart("Hm."), TextPart("d")))], TALK),
        ([*TALK, Draft("system", (TextPart("Be brief."),))], TALK),
        (TALK, [user("a"), assistant("b "), user("c")]),
        (TALK, [Draft("system", (TextPart("Be brief."),)), *TALK]),
        (TALK, TALK[2:]),
        (TALK, [user("unknown")]),
    ],
    ids=["white space", "thoughts", "a system message below", "sent otherwise", "one sent", "trimmed", "new"],
)
def test_what_ids_do_not_tell_is_left_to_reading(beside: list[Draft], turns: list[Draft]) -> None:
    assert by_ids(turns, talk(TALK, beside)) is None


def test_what_was_hidden_is_left_to_reading() -> None:
    root = seal(TALK[0], [None])
    hidden = seal(TALK[1], [root.id], hidden=True)
    assert by_ids(TALK[:2], {root.id: root, hidden.id: hidden}) is None


def test_where_many_messages_leave_a_path_all_is_read() -> None:
    messages = talk(TALK, *([*TALK[:1], assistant(f"answer {number}")] for number in range(FEW)))
    assert by_ids(TALK, messages) is not None
    more = talk(TALK, *([*TALK[:1], assistant(f"answer {number}")] for number in range(FEW + 1)))
    assert by_ids(TALK, more) is None
