"""Replaying every root-to-leaf array of a tree, in any order and by two threads at once, rebuilds exactly the tree."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Reply
from forky_core.wire.chat import chat_call
from tests.builders import workspace
from tests.examples import examples

Array = tuple[tuple[str, str], ...]
"""Roles and texts."""
WORDS = st.sampled_from(("a", "b", "Grüße", "", "  a code\n    block", "c"))


@st.composite
def trees(draw: st.DrawFn, roots: int = 1, *, unique: bool = False) -> list[Array]:
    """The root-to-leaf arrays of a random tree below users' messages; texts repeat anywhere.

    `unique`: but for the assistant's, which never do.
    """
    nodes: list[Array] = [(("user", f"root {number}"),) for number in range(draw(st.integers(1, roots)))]
    for number in range(draw(st.integers(0, 25))):
        role = draw(st.sampled_from(("user", "assistant")))
        text = f"answer {number}" if unique and role == "assistant" else draw(WORDS)
        nodes.append((*draw(st.sampled_from(nodes)), (role, text)))
    leaves = {node for node in nodes if not any(other[:-1] == node for other in nodes)}
    return draw(st.permutations(sorted(leaves)))


def array(messages: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for role, text in messages]


def prefixes(arrays: Sequence[Array]) -> set[Array]:
    return {
        tuple((role, text.strip()) for role, text in one[:at])
        for one in arrays
        for at in range(1, len(one) + 1)
    }


def paths(chat: Conversation) -> list[Array]:
    """Of every message that is to be seen, the path to it."""
    return [
        tuple((message.role, message.text.strip()) for message in chat.path(id))
        for id in chat.visible.messages
    ]


def assert_is(chat: Conversation, arrays: Sequence[Array]) -> None:
    found = paths(chat)
    assert len(found) == len(set(found)), "a message is there twice"
    assert set(found) == prefixes(arrays)
    leaves = {tuple((role, text.strip()) for role, text in one) for one in arrays}
    heads = [tuple((m.role, m.text.strip()) for m in chat.checkout(name).path()) for name in chat.branches]
    assert leaves <= set(heads)
    assert len(heads) == len(set(heads)), "two branches end at one message"


@given(trees())
@settings(max_examples=examples(30), deadline=None)
def test_the_arrays_of_a_tree_in_any_order_rebuild_it(arrays: list[Array]) -> None:
    forky, _ = workspace()
    chat = forky.create()
    for one in arrays:
        assert chat.calls.find_or_create(array(one)).known < len(one)
    assert_is(chat, arrays)
    for one in arrays:
        assert chat.calls.find_or_create(array(one)).operation is None
    assert_is(chat, arrays)
    assert forky.verify().clean


@given(trees(roots=3, unique=True))
@settings(max_examples=20, deadline=None)
def test_the_arrays_of_several_trees_rebuild_each_of_them(arrays: list[Array]) -> None:
    forky, _ = workspace()
    for one in arrays:
        forky.record(chat_call(array(one)), Reply(()), scope="s")
    chats = {paths(chat)[0]: chat for chat in map(forky.conversation, [c.id for c in forky.conversations()])}
    assert chats.keys() == {one[:1] for one in arrays}
    for root, chat in chats.items():
        assert_is(chat, [one for one in arrays if one[:1] == root])


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_two_threads_at_once_rebuild_the_same_tree(arrays: list[Array], chance: Random) -> None:
    forky, _ = workspace()
    chat = forky.create()
    orders = [chance.sample(arrays, len(arrays)) for _ in range(2)]
    both = Barrier(2)

    def replay(order: list[Array]) -> None:
        both.wait()
        for one in order:
            chat.calls.find_or_create(array(one))

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(replay, order) for order in orders]:
            done.result()
    assert_is(chat, arrays)
    assert forky.verify().clean


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_two_programs_at_once_rebuild_the_same_tree(arrays: list[Array], chance: Random) -> None:
    """Through the recorder, which may found the conversation in either thread."""
    forky, _ = workspace()
    orders = [chance.sample(arrays, len(arrays)) for _ in range(2)]
    both = Barrier(2)

    def replay(order: list[Array]) -> None:
        both.wait()
        for one in order:
            forky.begin(chat_call(array(one)), scope="s").cut("Nothing came.")

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(replay, order) for order in orders]:
            done.result()
    (line,) = forky.conversations()
    assert_is(forky.conversation(line.id), arrays)
