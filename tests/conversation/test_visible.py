"""What is visible is kept from one view to the next, and is always what the view reaches."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.lineage import Lineage
from forky_core.conversation.visible import VisibleCache, VisibleCaches, visible_part
from forky_core.forky import Forky
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.graph import first_parent_path
from forky_core.model.parts import RevertPart, TextPart
from tests.builders import talk
from tests.examples import examples

TREES = st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), min_size=1, max_size=80)


def tree(shape: list[tuple[int, bool]]) -> dict[MessageId, Message]:
    """Each message continues an earlier one, or none; some revert something."""
    messages: dict[MessageId, Message] = {}
    for number, (above, reverts) in enumerate(shape):
        parent = above % (number + 1) - 1
        parts = (RevertPart(("m0",)),) if reverts else (TextPart(str(number)),)
        id = MessageId(f"m{number}")
        messages[id] = Message(id, (MessageId(f"m{parent}"),) if parent >= 0 else (), "user", parts)
    return messages


@given(TREES)
def test_a_lineage_answers_as_walking_the_paths_does(shape: list[tuple[int, bool]]) -> None:
    messages, lineage = tree(shape), Lineage()
    half = dict(list(messages.items())[: len(messages) // 2])
    lineage.take(half)
    lineage.take(messages)
    for end in messages:
        path = first_parent_path(end, lambda id: messages[id].parents)
        assert lineage.depth(end) == len(path) - 1
        assert [id for id in messages if lineage.leads(id, end)] == sorted(path, key=list(messages).index)
        assert lineage.bearing(end) == [id for id in path if messages[id].reverts]
    assert not lineage.leads(MessageId("unknown"), MessageId("m0"))
    assert not lineage.leads(MessageId("m0"), None)


def test_a_long_line_is_crossed_in_a_few_steps() -> None:
    messages, lineage = tree([(number, False) for number in range(5_000)]), Lineage()
    lineage.take(messages)
    assert lineage.leads(MessageId("m1"), MessageId("m4999"))
    assert lineage.depth(MessageId("m4999")) == 4_999


GESTURES = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "say", "fork", "merge", "undo", "redo", "delete", "prune", "rename", "regenerate"]
        ),
        st.integers(0, 9),
    ),
    max_size=15,
)


def gesture(here: Conversation, verb: str, pick: int, other: str) -> None:
    at = here.path()[pick % len(here.path())].id if here.path() else None
    match verb:
        case "say":
            talk(here, f"Message {pick}.")
        case "fork":
            here.fork(at=at)
        case "merge":
            here.merge(here.plan_merge(other))
        case "undo" | "redo" | "regenerate":
            getattr(here, verb)()
        case "delete":
            here.branches.delete()
        case "prune":
            here.branches.prune(here.branches.plan_prune(at or ""))
        case _:
            here.rename(f"Film {pick}")


@settings(max_examples=examples(40), deadline=None)
@given(GESTURES)
def test_what_is_kept_is_what_the_view_reaches_after_every_gesture(gestures: list[tuple[str, int]]) -> None:
    with Forky.open(":memory:") as forky:
        chat = forky.create("Film")
        talk(chat, "A question?")
        for verb, pick in gestures:
            names = sorted(chat.branches)
            with suppress(ForkyError):
                gesture(chat.checkout(names[pick % len(names)]), verb, pick, names[(pick + 1) % len(names)])
            chat = chat.checkout(next(iter(chat.branches)))
            fresh = visible_part(forky.store.messages(chat.id), chat.view)
            kept = chat.visible
            assert list(kept.messages.items()) == list(fresh.messages.items())
            assert kept.children == fresh.children
            assert kept.version == chat.view.version
            for id in kept.messages:
                assert chat.path(id) == forky.store.path(chat.id, id)


def test_conversations_that_were_not_read_lately_are_dropped() -> None:
    with Forky.open(":memory:") as forky:
        chats = [forky.create(f"Film {number}") for number in range(3)]
        for chat in chats:
            talk(chat, "A question?")
        caches = VisibleCaches(most=len(forky.store.messages(chats[0].id)))
        for chat in chats:
            caches.cache(chat.id).visible(partial(forky.store.messages, chat.id), chat.view)
        assert len(caches.cache(chats[2].id)) > 0
        caches.cache(ConversationId("another"))
        assert len(caches.cache(chats[0].id)) == 0


def test_a_cache_that_has_read_nothing_reads_every_path() -> None:
    asked: list[MessageId] = []

    def read(end: MessageId) -> tuple[Message, ...]:
        asked.append(end)
        return ()

    cache = VisibleCache()
    cache.path(MessageId("m1"), read)
    cache.path(MessageId("m1"), read)
    assert asked == ["m1", "m1"]
