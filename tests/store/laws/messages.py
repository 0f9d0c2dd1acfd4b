"""Messages come back as they were written, by id, by path and all together."""

from __future__ import annotations

import pytest

from forky_core.model import MessageId, PathOverlap, seal
from forky_core.model.errors import NotFound
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    OpaquePart,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.store.contract import Store
from tests.store.talk import ELSEWHERE, HERE, UNKNOWN, begin, generation, ids, move, now, point, said, thread


class MessageLaws:
    def test_a_message_below_an_unknown_parent_is_refused_whole(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        stray = said("stray", said("never stored"))
        with pytest.raises(NotFound):
            move(store, hello, said("fine", hello), stray)
        assert list(store.messages(HERE)) == [hello.id]

    def test_a_parent_of_another_conversation_is_unknown(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello, here=ELSEWHERE)
        begin(store)
        with pytest.raises(NotFound):
            move(store, None, said("answer", hello))

    def test_a_stored_message_is_left_as_it_is(self, store: Store) -> None:
        first = said("hello")
        begin(store, first)
        again = said("hello")
        assert again.id == first.id and again.created != first.created
        move(store, first, again, again)
        assert store.messages(HERE) == {first.id: first}

    def test_equal_messages_of_two_conversations_are_apart(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        begin(store, hello, here=ELSEWHERE)
        assert store.message(HERE, hello.id) == store.message(ELSEWHERE, hello.id) == hello

    def test_a_path_follows_first_parents_from_the_root(self, store: Store) -> None:
        run = thread(6)
        side = thread(3, run[2], word="side")
        deep = thread(2, side[1], word="deep")
        merged = said("merged", run[-1], side[-1])
        begin(store, *run, *side, *deep, merged)
        assert ids(store.path(HERE, run[-1].id)) == ids(run)
        assert ids(store.path(HERE, side[-1].id)) == ids([*run[:3], *side])
        assert ids(store.path(HERE, deep[-1].id)) == ids([*run[:3], *side[:2], *deep])
        assert store.path(HERE, merged.id) == (*run, merged)
        assert ids(store.path(HERE, run[0].id)) == ids(run[:1])

    def test_two_roots_may_stand_in_one_conversation(self, store: Store) -> None:
        one, other = thread(3, word="one"), thread(3, word="other")
        begin(store, *one, *other)
        assert ids(store.path(HERE, one[-1].id)) == ids(one)
        assert ids(store.path(HERE, other[-1].id)) == ids(other)

    def test_siblings_each_have_their_path(self, store: Store) -> None:
        root = said("root")
        siblings = [said(f"answer {n}", root, role="assistant") for n in range(5)]
        begin(store, root, *siblings)
        for sibling in siblings:
            assert store.path(HERE, sibling.id) == (root, sibling)

    def test_unknown_messages_are_not_found(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        for id in (UNKNOWN, MessageId("nonsense"), MessageId(hello.id[:11]), MessageId(hello.id[3:11])):
            with pytest.raises(NotFound):
                store.path(HERE, id)
            with pytest.raises(NotFound):
                store.message(HERE, id)

    def test_an_unknown_conversation_is_not_found_by_any_call(self, store: Store) -> None:
        calls = (
            lambda: store.view(HERE),
            lambda: store.operations(HERE),
            lambda: store.path(HERE, UNKNOWN),
            lambda: store.message(HERE, UNKNOWN),
            lambda: store.messages(HERE),
            lambda: store.match(HERE, "00"),
            lambda: store.generations(HERE),
            lambda: store.record(HERE, generation(1)),
            lambda: store.search("x", conversation=HERE),
            lambda: store.purge(HERE),
            lambda: store.derived(HERE, ["a"]),
            lambda: store.keep_derived(HERE, {"a": "1"}),
            lambda: store.verify(HERE),
        )
        for call in calls:
            with pytest.raises(NotFound):
                call()

    def test_every_kind_of_message_comes_back_equal(self, store: Store) -> None:
        root = said("root \u202eabc\x00 😀 \\ \" ' é")
        sha = store.put_blob(b"\x89PNG", "image/png", "a.png")
        drafts = [
            Draft("user", (TextPart("with a name"),), "Ann"),
            Draft("user", (TextPart("with an empty name"),), ""),
            Draft("user", (TextPart("look"), AttachmentPart(sha, "image/png", "a.png"))),
            Draft("assistant", (ReasoningPart("hm", True, '{"a":1}'), TextPart("so"))),
            Draft("assistant", (ToolCallPart("f", '{"x":[1,2]}', "c1"),)),
            Draft("tool", (ToolResultPart("f", "out", "c1", "ValueError"),)),
            Draft(
                "user",
                (MergePart("squash", "side", (root.id,), "learnt", (root.id,), "gpt"),),
                sources=(root.id,),
            ),
            Draft("user", (MergePart("full", "side", (root.id,), "from afar", conversation=ELSEWHERE),)),
            Draft("user", (RevertPart((root.id,)), TextPart("that was wrong"))),
            Draft("user", (OpaquePart('{"type":"video","url":"x"}'),)),
            Draft("user", ()),
            Draft("user", (TextPart(""),)),
        ]
        messages = [seal(draft, [root.id], created=now()) for draft in drafts]
        hidden = seal(Draft("system", (TextPart("structure"),)), [], created=now(), hidden=True)
        joined = said("joined", messages[0], messages[1], root)
        begin(store, root, *messages, hidden, joined)
        for message in (root, *messages, hidden, joined):
            assert store.message(HERE, message.id) == message
        assert list(store.messages(HERE).values()) == [root, *messages, hidden, joined]
        assert store.verify().clean

    def test_messages_come_in_the_order_they_were_written(self, store: Store) -> None:
        run = thread(5)
        begin(store, *run[:2])
        move(store, run[1], *run[2:])
        assert list(store.messages(HERE)) == ids(run)

    def test_later_calls_return_the_same_message_objects(self, store: Store) -> None:
        run = thread(5)
        begin(store, *run)
        before = store.messages(HERE)
        move(store, run[-1], extra := said("more", run[-1]))
        after = store.messages(HERE)
        assert all(after[id] is before[id] for id in before)
        assert all(message is after[message.id] for message in store.path(HERE, extra.id))

    def test_stems_are_messages_without_their_words(self, store: Store) -> None:
        run = thread(3)
        side = said("a side question", run[0], hidden=True)
        merged = said('"parents", "hidden": two words of JSON', run[2], side)
        begin(store, *run, side, merged)
        stems = store.stems(HERE)
        assert list(stems) == ids([*run, side, merged])
        for message in (*run, side, merged):
            stem = stems[message.id]
            assert (stem.parents, stem.created, stem.hidden, stem.parent) == (
                message.parents,
                message.created,
                message.hidden,
                message.parent,
            )
        with pytest.raises(NotFound):
            store.stems(ELSEWHERE)

    def test_what_was_read_is_at_hand(self, store: Store) -> None:
        begin(store, *thread(2))
        assert store.messages(HERE)
        assert store.at_hand(HERE)
        with pytest.raises(NotFound):
            store.at_hand(ELSEWHERE)

    def test_a_path_is_followed_by_its_ids_as_far_as_it_is_stored(self, store: Store) -> None:
        run = thread(4)
        other, side = said("another root"), said("a side question", run[1])
        below = said("below it", side)
        begin(store, *run, other, side, below)
        path = ids(run)
        assert store.path_overlap(HERE, path, most=2) == PathOverlap(4, (other, side))
        assert store.path_overlap(HERE, path[:2], most=3) == PathOverlap(2, (run[2], other, side))
        assert store.path_overlap(HERE, [*path[:3], UNKNOWN], most=3) == PathOverlap(3, (run[3], other, side))
        assert store.path_overlap(HERE, [UNKNOWN], most=2) == PathOverlap(0, (run[0], other))
        assert store.path_overlap(HERE, [], most=2) == PathOverlap(0, (run[0], other))
        assert store.path_overlap(HERE, path, most=1) is None
        with pytest.raises(NotFound):
            store.path_overlap(ELSEWHERE, path, most=2)

    def test_what_is_hidden_leaves_the_path(self, store: Store) -> None:
        run = thread(2)
        hidden = said("hidden", run[1], hidden=True)
        spoken = said('"hidden": true', hidden)
        begin(store, *run, hidden, spoken)
        assert store.path_overlap(HERE, ids([*run, hidden, spoken]), most=2) == PathOverlap(2, (hidden,))

    def test_stretches_add_up_to_all_messages(self, store: Store) -> None:
        run = thread(7)
        begin(store, *run)
        side = thread(2, run[1], "side")
        point(store, "side", run[1])
        move(store, run[1], *side, branch="side")
        move(store, run[-1], said("both", run[-1], side[-1]))
        everything = tuple(store.messages(HERE).values())
        assert store.stretch(HERE, after=0, most=99) == everything
        for most in (1, 2, 3, 7):
            found = [store.stretch(HERE, after=at, most=most) for at in range(0, 12, most)]
            assert tuple(message for stretch in found for message in stretch) == everything
        assert store.stretch(HERE, after=10, most=5) == ()
        assert store.stretch(HERE, after=3, most=0) == ()
        with pytest.raises(NotFound):
            store.stretch(ELSEWHERE, after=0, most=1)

    def test_a_mapping_of_messages_does_not_change_under_its_reader(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        held = store.messages(HERE)
        move(store, hello, later := said("later", hello))
        assert dict(held) == {hello.id: hello}
        assert later.id not in held and len(held) == 1
        assert list(store.messages(HERE)) == [hello.id, later.id]

    def test_ids_are_found_by_their_first_digits(self, store: Store) -> None:
        run = thread(20)
        begin(store, *run)
        for message in run[:3]:
            digits = message.id[3:11]
            assert store.match(HERE, digits) == store.match(HERE, f"b2:{digits.upper()}") == (message.id,)
        assert store.match(HERE, "", limit=4) == tuple(ids(run[:4]))
        assert store.match(HERE, "xyz") == () == store.match(HERE, "0" * 33)
        assert store.match(HERE, "%") == ()
