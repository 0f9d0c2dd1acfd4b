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


TABLE = {
    "a copy of what the target has itself": ("original", "", "theirs", True),
    "two copies of what neither branch has": ("ours", "", "theirs", True),
    "the original of a copy on the target": ("ours", "", "original", True),
    "a copy of a copy": ("original", "", "copied copy", True),
    "a copy of what the target has in no way": ("other", "", "theirs", False),
    "a message that the target has in no way": ("other", "", "original", False),
    "a copy that was edited": ("original", "", "edited", False),
    "a copy that the target took back": ("ours", "ours", "theirs", False),
    "a copy from a conversation that is not stored": ("other", "", "from elsewhere", False),
}
"""What the target has, what it took back, what comes, and whether that is there already."""


@pytest.mark.parametrize(("known", "without", "coming", "there"), TABLE.values(), ids=TABLE)
def test_what_counts_as_a_copy(known: str, without: str, coming: str, there: bool) -> None:
    original = stored("The port is 8080.")
    between = stored("The port is 8080.", original, below="between")
    messages = {
        "original": original,
        "other": stored("The port is 9090."),
        "ours": stored("The port is 8080.", original, below="target"),
        "theirs": stored("The port is 8080.", original, below="source"),
        "copied copy": stored("The port is 8080.", between, below="copied"),
        "edited": stored("The port is 9090.", original, below="source"),
        "from elsewhere": stored("The port is 8080.", ELSEWHERE, below="elsewhere"),
    }
    taken_back = {messages[without].id} if without else set()
    copies = Copies(lookup, [messages[known].id], without=taken_back)
    assert len({message.id for message in messages.values()}) == len(messages)
    assert copies.has(messages[coming]) is there
