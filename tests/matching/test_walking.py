"""Walking down beside an array finds what comparing the keys of both would find (docs/matching.md)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.matching.keys import ROOT, Key, path_keys
from forky_core.matching.walking import Tree
from forky_core.model import Message, MessageId, seal
from forky_core.model.parts import Draft, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.examples import examples

TEXTS = st.sampled_from(("a", " a", "b", "", "é", "e\u0301"))
CALLS = st.sampled_from(("x", "y"))
spoken = st.builds(TextPart, TEXTS)
parts: st.SearchStrategy[tuple[str, tuple[Part, ...]]] = st.one_of(
    st.tuples(st.sampled_from(("user", "assistant", "system")), st.tuples(spoken)),
    st.tuples(st.just("assistant"), st.tuples(st.builds(ReasoningPart, TEXTS), spoken)),
    st.tuples(
        st.just("assistant"),
        st.lists(CALLS, min_size=1, max_size=2).map(
            lambda ids: tuple(ToolCallPart("look", "{}", tool_call_id=id) for id in ids)
        ),
    ),
    st.tuples(
        st.just("tool"),
        st.lists(st.tuples(CALLS, TEXTS), min_size=1, max_size=2).map(
            lambda found: tuple(ToolResultPart("look", text, tool_call_id=id) for id, text in found)
        ),
    ),
)
drafts = st.builds(
    lambda one, name: Draft(one[0], one[1], name),
    parts,
    st.sampled_from((None, None, None, "Ada")),
)
stored = st.lists(st.tuples(st.integers(0, 30), drafts, st.integers(0, 5).map(lambda n: n == 0)), max_size=25)


def tree_of(rows: Sequence[tuple[int, Draft, bool]]) -> dict[MessageId, Message]:
    """Each row hangs below an earlier one, or is a root; some are hidden."""
    messages: list[Message] = []
    for below, draft, hidden in rows:
        parent = messages[below].id if below < len(messages) else None
        messages.append(seal(draft, [parent], hidden=hidden))
    return {message.id: message for message in messages}


def keys_of(messages: dict[MessageId, Message]) -> dict[MessageId, Key]:
    """Of each message, from its whole path: a hidden message was never sent."""
    keys = {}
    for id, message in messages.items():
        path = [message]
        while path[0].parent is not None:
            path.insert(0, messages[path[0].parent])
        keys[id] = [ROOT, *path_keys(one for one in path if not one.hidden)][-1]
    return keys


def by_keys(turns: Sequence[Draft], messages: dict[MessageId, Message]) -> tuple[int, list[MessageId]]:
    keys = keys_of(messages)
    for at, key in reversed(list(enumerate(path_keys(turns)))):
        found = [id for id in messages if keys[id] == key]
        if key != ROOT and found:
            return at, found
    return -1, []


def as_sent(messages: dict[MessageId, Message], at: int) -> list[Draft]:
    """The path to one of the messages as a client would send it; nothing of no messages."""
    path: list[Message] = []
    above = list(messages)[at % len(messages)] if messages else None
    while above is not None:
        path.append(messages[above])
        above = messages[above].parent
    return [Draft(one.role, one.parts, one.name) for one in reversed(path) if not one.hidden]


@given(stored, st.none() | st.integers(0, 30), st.lists(drafts, max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_walking_finds_what_keys_find(
    rows: list[tuple[int, Draft, bool]], known: int | None, news: list[Draft]
) -> None:
    messages = tree_of(rows)
    turns = [*(as_sent(messages, known) if known is not None else ()), *news]
    tree, half = Tree(), dict(list(messages.items())[: len(messages) // 2])
    tree.take(half)
    tree.take(messages)
    assert tree.deepest(turns, messages) == by_keys(turns, messages)


def test_a_call_that_no_program_has_seen_gives_no_result_its_place() -> None:
    result = Draft("tool", (ToolResultPart("look", "a", tool_call_id="x"),))
    call = Draft("assistant", (ToolCallPart("look", "{}", tool_call_id="x"),))
    messages = tree_of([(0, result, False), (30, call, True), (1, result, False)])
    tree = Tree()
    tree.take(messages)
    assert tree.deepest([result], messages) == by_keys([result], messages)
    assert len(tree.deepest([result], messages)[1]) == 2
