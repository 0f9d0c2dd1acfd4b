"""`Copies`: which messages of a source the target has as copies already, one way of being a copy at a time."""

from __future__ import annotations

import pytest

from forky_core.merge.incoming_changes import Copies
from forky_core.model import Message, MessageId, seal
from forky_core.model.errors import NotFound
from forky_core.model.parts import Draft, TextPart

STORE: dict[MessageId, Message] = {}
ELSEWHERE = MessageId("b2:" + "e" * 32)


@pytest.fixture(autouse=True)
def _emptied() -> None:
    STORE.clear()


def stored(text: str, *sources: Message | MessageId, below: str = "") -> Message:
    """A message copied from `sources`; `below` names the place, so that equal contents are several messages."""
    parent = stored(below).id if below else None
    ids = tuple(source if isinstance(source, str) else source.id for source in sources)
    message = seal(Draft("user", (TextPart(text),), sources=ids), (parent,))
    STORE[message.id] = message
    return message


def lookup(id: MessageId) -> Message:
    if id not in STORE:
        raise NotFound(f"No message {id}.")
    return STORE[id]


def copies(*known: Message, without: tuple[Message, ...] = ()) -> Copies:
    return Copies(lookup, [message.id for message in known], without={message.id for message in without})


def test_a_copy_of_a_message_of_the_target_is_there_already() -> None:
    """The target has the original itself and no copy of it."""
    original = stored("The port is 8080.")
    copy = stored("The port is 8080.", original, below="source")
    assert copies(original).has(copy)


def test_two_copies_of_a_message_that_neither_branch_has_are_one() -> None:
    """The original is on a third branch; the target has a copy of it, and the source another."""
    original = stored("The port is 8080.")
    here = stored("The port is 8080.", original, below="target")
    there = stored("The port is 8080.", original, below="source")
    assert here.id != there.id
    assert copies(here).has(there)


def test_the_original_of_a_copy_on_the_target_is_there_already() -> None:
    original = stored("The port is 8080.")
    here = stored("The port is 8080.", original, below="target")
    assert copies(here).has(original)


def test_a_copy_of_a_copy_is_a_copy() -> None:
    original = stored("The port is 8080.")
    between = stored("The port is 8080.", original, below="between")
    there = stored("The port is 8080.", between, below="source")
    assert copies(original).has(there)


def test_a_copy_of_something_that_the_target_has_in_no_way_is_new() -> None:
    original, other = stored("The port is 8080."), stored("The port is 9090.")
    there = stored("The port is 8080.", original, below="source")
    assert not copies(other).has(there)
    assert not copies(other).has(original)


def test_an_edited_copy_is_new() -> None:
    original = stored("The port is 8080.")
    edited = stored("The port is 9090.", original, below="source")
    assert not copies(original).has(edited)


def test_a_copy_that_the_target_took_back_does_not_count() -> None:
    original = stored("The port is 8080.")
    here = stored("The port is 8080.", original, below="target")
    there = stored("The port is 8080.", original, below="source")
    assert not copies(here, without=(here,)).has(there)


def test_a_copy_from_a_conversation_that_is_not_stored_is_new() -> None:
    there = stored("The port is 8080.", ELSEWHERE, below="source")
    assert not copies(stored("The port is 9090.")).has(there)
