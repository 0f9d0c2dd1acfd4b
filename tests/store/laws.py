"""The laws every store keeps. A test class inherits `StoreLaws` and gives a `store` fixture."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest

from forky_core.errors import InTheWay, NotFound, Outdated
from forky_core.model import (
    Change,
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    Reuse,
    Stash,
    Usage,
    seal,
)
from forky_core.parts import (
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
from forky_core.store.contract import Commit, Store
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, ids, move, now, point, said, thread

UNKNOWN = MessageId("b2:" + "0" * 32)


def generation(number: int, status: str = "running", **more: object) -> Generation:
    id = GenerationId(f"01890000-0000-7000-8000-{number:012d}")
    return replace(
        Generation(id, "main", None, "offline/quote", status, started=number),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


class StoreLaws:
    def test_a_conversation_exists_from_its_first_commit_on(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.view(HERE)
        hello = said("hello")
        operation = begin(store, hello, title="Names")
        view = store.view(HERE)
        assert (view.title, view.version, view.branch("main").head) == ("Names", 1, hello.id)
        assert (operation.number, operation.previous) == (1, None)

    def test_only_a_founding_commit_makes_a_conversation(self, store: Store) -> None:
        with pytest.raises(NotFound):
            change(store, Change("kept/x", None, True))
        assert store.conversations() == ()

    def test_operations_are_numbered_without_gaps_and_chained(self, store: Store) -> None:
        run = thread(4)
        begin(store, run[0])
        for before, message in pairwise(run):
            move(store, before, message)
        operations = store.operations(HERE)
        assert [o.number for o in operations] == [1, 2, 3, 4]
        assert [o.previous for o in operations] == [None, *(o.id for o in operations[:-1])]
        assert store.operations(HERE, after=2) == operations[2:]
        assert store.operations(HERE, limit=2) == operations[2:]
        assert store.operations(HERE, after=1, limit=2) == operations[2:]
        assert store.operations(HERE, after=9) == ()
        assert store.operations(HERE, limit=0) == ()

    def test_an_operation_comes_back_as_it_was_made(self, store: Store) -> None:
        begin(store)
        made = store.commit(
            Commit(
                HERE,
                "undo",
                "Took back “x”\n",
                (Change("rules/main", None, {"system": "Be brief. ✓", "parameters": {"temperature": 0.5}}),),
                actor="ann",
                at=now(),
                group=1,
                reverts=(1,),
            )
        )
        assert store.operations(HERE)[-1] == made
        assert (made.group, made.reverts, made.actor) == (1, (1,), "ann")

    def test_a_lost_race_names_what_came_first_and_writes_nothing(self, store: Store) -> None:
        hello, mine, theirs = said("hello"), said("mine"), said("theirs")
        begin(store, hello)
        first = move(store, hello, theirs, summary="Asked theirs")
        with pytest.raises(Outdated) as lost:
            move(store, hello, mine)
        assert lost.value.first == first
        assert "Asked theirs" in str(lost.value)
        assert store.view(HERE).branch("main").head == theirs.id
        assert mine.id not in store.messages(HERE)
        assert len(store.operations(HERE)) == 2

    def test_a_commit_that_allows_nothing_in_between_is_refused_when_something_came(
        self, store: Store
    ) -> None:
        begin(store)
        change(store, Change("title", "A talk", "Another"), summary="first")
        change(store, Change("tags/x", None, at(None)), summary="second")
        undoing = Commit(HERE, "undo", "", (Change("title", "Another", "A talk"),), at=now(), seen=1)
        with pytest.raises(Outdated) as lost:
            store.commit(undoing)
        assert lost.value.first is not None and lost.value.first.summary == "first"
        assert store.view(HERE).version == 3
        assert store.commit(replace(undoing, seen=3)).number == 4

    def test_a_race_lost_to_a_removal_names_the_removal(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        point(store, "side", hello)
        removal = change(store, Change("heads/side", at(hello), None), summary="Deleted")
        change(store, Change("title", "A talk", "Another"))
        with pytest.raises(Outdated) as lost:
            move(store, hello, said("late", hello), branch="side")
        assert lost.value.first == removal

    def test_every_changed_key_is_checked(self, store: Store) -> None:
        begin(store)
        with pytest.raises(Outdated):
            change(store, Change("tags/a", None, {"at": UNKNOWN}), Change("title", "not this", "new"))
        assert store.view(HERE).tags == {}

    def test_a_key_may_change_twice_in_one_commit(self, store: Store) -> None:
        begin(store)
        change(
            store,
            Change("title", "A talk", "B"),
            Change("title", "B", "C"),
            Change("note", None, 1),
            Change("note", 1, None),
        )
        assert store.view(HERE).title == "C"
        assert "note" not in store.view(HERE).entries

    def test_a_removed_key_is_absent_and_can_come_back(self, store: Store) -> None:
        begin(store)
        change(store, Change("trashed", None, True))
        assert store.view(HERE).trashed
        change(store, Change("trashed", True, None))
        assert "trashed" not in store.view(HERE).entries
        change(store, Change("trashed", None, True))
        assert store.view(HERE).trashed

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

    def test_generations_come_back_as_recorded_in_the_order_they_started(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        full = generation(
            2,
            "failed",
            parent=hello.id,
            message=hello.id,
            parameters={"temperature": 0.2},
            usage=Usage(10, 5, 3, 2, 1, 0.25, 0.125),
            finish_reason="length",
            failure=Failure("rate_limited", "Too many requests.", 3.5),
            first_token=3,
            finished=4,
            partial=(TextPart("so far"), ReasoningPart("hm")),
        )
        store.record(HERE, full)
        store.record(HERE, generation(1))
        assert store.generations(HERE) == (generation(1), full)

    def test_a_generation_is_replaced_by_its_later_record(self, store: Store) -> None:
        begin(store)
        store.commit(Commit(HERE, "ask", "Asked", generations=(generation(1),), at=now()))
        assert store.running() == ((HERE, generation(1).id),)
        for number in range(3):
            store.record(HERE, generation(1, partial=(TextPart("word " * number),)))
        assert store.generations(HERE)[0].partial == (TextPart("word word "),)
        store.commit(Commit(HERE, "reply", "Replied", generations=(generation(1, "done"),), at=now()))
        assert store.generations(HERE) == (generation(1, "done"),)
        assert store.running() == ()

    def test_recording_makes_no_operation(self, store: Store) -> None:
        begin(store)
        store.record(HERE, generation(1))
        assert len(store.operations(HERE)) == 1

    def test_the_library_shows_what_changed_last_first(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello, title="Older")
        begin(store, title="Newer", here=ELSEWHERE, branch="start")
        assert [line.title for line in store.conversations()] == ["Newer", "Older"]
        point(store, "side", hello)
        line = store.conversations()[0]
        log = store.operations(HERE)
        assert (line.id, line.title, line.messages, line.branches) == (HERE, "Older", 1, 2)
        assert (line.branch, line.created, line.updated) == ("side", log[0].at, log[-1].at)

    def test_resuming_never_names_a_deleted_branch(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        point(store, "side", hello)
        change(store, Change("heads/side", at(hello), None))
        assert store.conversations()[0].branch == "main"

    def test_a_trashed_conversation_is_listed_in_the_trash_only(self, store: Store) -> None:
        begin(store)
        change(store, Change("trashed", None, True))
        assert store.conversations() == ()
        assert [line.id for line in store.conversations(trashed=True)] == [HERE]

    def test_what_reuse_came_to_is_counted_here_and_everywhere(self, store: Store) -> None:
        begin(store)
        begin(store, here=ELSEWHERE)
        assert store.reuse() == Reuse()
        made = generation(1, "done", looked=True, usage=Usage(10, 2, cost=0.5))
        store.record(HERE, made)
        store.record(HERE, generation(2, "done", looked=True, reused=made.id, prompt="ab", client="aider"))
        store.record(HERE, generation(3, "done", parameters={"note": 'says "looked":true'}))
        store.record(ELSEWHERE, generation(4, "done", looked=True, reused=generation(9).id))
        assert store.reuse(HERE) == Reuse(hits=1, misses=1, tokens=12, cost=0.5)
        assert store.reuse() == Reuse(hits=2, misses=1, tokens=12, cost=0.5)
        (_, again, _) = store.generations(HERE)
        assert (again.reused, again.prompt, again.client, again.looked) == (made.id, "ab", "aider", True)

    def test_what_was_said_is_found_by_its_whole_text_in_every_conversation(self, store: Store) -> None:
        hello = said("hello")
        reply = said(" Hi.\u00a0\n", hello, role="assistant")
        begin(store, hello, reply)
        there = said("Hi.", role="assistant")
        begin(store, there, here=ELSEWHERE)
        assert store.saying("Hi.", "assistant") == ((HERE, reply.id), (ELSEWHERE, there.id))
        assert store.saying("hi.", "assistant") == ()
        assert store.saying("Hi", "assistant") == ()
        assert store.saying("hello", "assistant") == ()
        assert store.saying("hello", "user") == ((HERE, hello.id),)

    def test_a_search_finds_every_word_in_any_order_and_case(self, store: Store) -> None:
        begin(store, said("The QUICK brown fox"), said("quick only"), said("Äpfel und Birnen"))
        found = {
            text: [hit.snippet for hit in store.search(text)] for text in ("fox quick", "äPFEL", "absent fox")
        }
        assert found["fox quick"] == []
        point(store, "all", said("The QUICK brown fox"))
        assert [hit.snippet for hit in store.search("fox quick")] == ["The QUICK brown fox"]
        assert [hit.snippet for hit in store.search("äPFEL")] == ["Äpfel und Birnen"]
        assert store.search("") == () == store.search('  "" ')

    def test_quoted_words_are_one_word(self, store: Store) -> None:
        one, two = said("release the draft"), said("the draft release")
        begin(store, one, here=HERE)
        begin(store, two, here=ELSEWHERE)
        assert [hit.message for hit in store.search('"the draft release"')] == [two.id]
        assert len(store.search("the draft release")) == 2

    @pytest.mark.parametrize("mark", ["%", "_", "\\", "'", "[a]", "*", "?", ";--"])
    def test_a_search_takes_every_character_as_itself(self, store: Store, mark: str) -> None:
        begin(store, said(f"a{mark}b"), here=HERE)
        begin(store, said("axb plain a b"), here=ELSEWHERE)
        assert [hit.conversation for hit in store.search(f"a{mark}b")] == [HERE]

    def test_more_mentions_come_first_then_newer_messages(self, store: Store) -> None:
        once, thrice, again = said("cache"), said("cache cache cache"), said("a cache")
        begin(store, once)
        begin(store, thrice, here=ELSEWHERE)
        point(store, "again", None)
        move(store, None, again, branch="again")
        hits = store.search("cache")
        assert [hit.message for hit in hits] == [thrice.id, again.id, once.id]
        assert hits[0].score > hits[1].score == hits[2].score
        assert [hit.message for hit in store.search("cache", conversation=HERE)] == [again.id, once.id]
        assert len(store.search("cache", limit=2)) == 2

    def test_a_search_finds_text_in_any_branch_and_through_any_parent(self, store: Store) -> None:
        root = said("root")
        side = thread(2, root, word="needle")
        merged = said("merged", root, side[-1])
        begin(store, root, *side, merged)
        assert {hit.message for hit in store.search("needle")} == {m.id for m in side}

    def test_undone_messages_are_not_found_and_redone_ones_are(self, store: Store) -> None:
        hello, gone = said("hello"), said("regretted words")
        begin(store, hello)
        move(store, hello, gone)
        assert len(store.search("regretted")) == 1
        change(store, Change("heads/main", at(gone), at(hello)), verb="undo")
        assert store.search("regretted") == ()
        assert gone.id in store.messages(HERE)
        change(store, Change("heads/main", at(hello), at(gone)), verb="redo")
        assert len(store.search("regretted")) == 1

    def test_trashed_and_hidden_messages_are_not_found(self, store: Store) -> None:
        begin(store, said("needle in structure", hidden=True))
        begin(store, said("needle in the trash"), here=ELSEWHERE)
        change(store, Change("trashed", None, True), here=ELSEWHERE)
        assert store.search("needle") == ()

    def test_a_search_sees_through_merges_of_merges_and_no_further_than_the_refs(self, store: Store) -> None:
        root = said("root")
        first, second = thread(3, root, word="needle"), thread(3, root, word="other")
        main = thread(2, root, word="main")
        inner = said("inner", second[1], first[1])
        outer = said("outer", main[-1], inner)
        begin(store, root, *first, *second, *main, inner, outer)
        assert {hit.message for hit in store.search("needle")} == {first[0].id, first[1].id}
        assert {hit.message for hit in store.search("other")} == {second[0].id, second[1].id}
        change(store, Change("heads/main", at(outer), at(main[-1])), verb="undo")
        assert store.search("needle") == () == store.search("other")
        assert len(store.search("main")) == 2

    def test_a_page_of_hits_is_full_although_others_are_invisible(self, store: Store) -> None:
        root = said("root")
        invisible = [said(f"needle needle {n}", root) for n in range(450)]
        visible = said("needle", root)
        begin(store, root, *invisible, visible)
        assert [hit.message for hit in store.search("needle", limit=1)] == [visible.id]

    def test_a_snippet_is_one_short_line_around_the_match(self, store: Store) -> None:
        begin(store, said("word\n" * 300 + "the needle\nhere " + "word\n" * 300))
        (hit,) = store.search("needle")
        assert "the needle here" in hit.snippet
        assert len(hit.snippet) <= 200 and "\n" not in hit.snippet
        assert hit.snippet.startswith("…") and hit.snippet.endswith("…")

    def test_blobs_are_kept_once_under_their_hash(self, store: Store) -> None:
        content = bytes(range(256)) * 10
        sha256 = store.put_blob(content, "image/png", "cat.png")
        assert sha256 == hashlib.sha256(content).hexdigest()
        assert store.put_blob(content, "text/plain", "dog.txt") == sha256
        blob = store.blob(sha256)
        assert (blob.content, blob.media_type, blob.name) == (content, "image/png", "cat.png")
        empty = store.put_blob(b"", "text/plain")
        assert store.blob(empty).content == b""
        with pytest.raises(NotFound):
            store.blob("0" * 64)

    def test_settings_are_set_replaced_and_removed(self, store: Store) -> None:
        assert store.setting("theme") is None
        for value in ("dark", "light ☀", ""):
            store.set_setting("theme", value)
            assert store.setting("theme") == value
        store.set_setting("theme", None)
        store.set_setting("theme", None)
        assert store.setting("theme") is None

    def test_what_was_worked_out_is_kept_by_its_key_and_replaced(self, store: Store) -> None:
        begin(store)
        begin(store, here=ELSEWHERE)
        assert store.derived(HERE, ["a", "b"]) == {}
        store.keep_derived(HERE, {"a": "1", "b": "“2”"})
        store.keep_derived(HERE, {"a": "3"})
        assert store.derived(HERE, ["b", "a", "a", "c"]) == {"a": "3", "b": "“2”"}
        assert store.derived(HERE, []) == {}
        assert store.derived(ELSEWHERE, ["a"]) == {}
        store.keep_derived(ELSEWHERE, {"a": "4"})
        assert store.derived_under("a") == {HERE: "3", ELSEWHERE: "4"}
        assert store.derived_under("c") == {}

    def test_what_a_commit_brings_along_is_kept_with_it_or_not_at_all(self, store: Store) -> None:
        born = Commit(HERE, "import", "Came", (Change("title", None, "x"),), derived={"a": "1", "b": "2"})
        grown = Commit(HERE, "name", "Named", (Change("title", "x", "y"),), derived={"a": "3"})
        store.commit_all([born, grown])
        assert store.derived(HERE, ["a", "b"]) == {"a": "3", "b": "2"}
        store.commit(replace(grown, changes=(Change("title", "y", "z"),), derived={"a": "4", "c": "5"}))
        with pytest.raises(Outdated):
            store.commit(replace(grown, derived={"a": "never"}))
        assert store.derived(HERE, ["a", "b", "c"]) == {"a": "4", "b": "2", "c": "5"}
        assert store.verify().clean

    def test_what_came_in_bulk_reads_like_anything_else(self, store: Store) -> None:
        root, reply = thread(2)
        heads = (Change("heads/main", None, at(root)), Change("heads/main", at(root), at(reply)))
        store.commit(Commit(HERE, "import", "Came", heads[:1], (root,), in_bulk=True))
        store.commit(Commit(HERE, "import", "Grew", heads[1:], (reply,), in_bulk=True))
        assert store.path(HERE, reply.id) == (root, reply)
        third = said("three", reply)
        store.commit(
            Commit(
                HERE, "import", "Grew", (Change("heads/main", at(reply), at(third)),), (third,), in_bulk=True
            )
        )
        assert list(store.messages(HERE)) == [root.id, reply.id, third.id]
        fourth = said("four", third)
        move(store, third, fourth)
        assert store.path(HERE, fourth.id)[-1] == fourth
        assert [operation.number for operation in store.operations(HERE)] == [1, 2, 3, 4]
        assert store.verify().clean

    def test_a_key_is_read_of_all_conversations_that_have_it(self, store: Store) -> None:
        assert store.entries("origin") == {}
        begin(store)
        begin(store, here=ELSEWHERE)
        change(store, Change("origin", None, {"id": "x"}), Change("trashed", None, True))
        assert store.entries("origin") == {HERE: {"id": "x"}}
        assert store.entries("title") == {HERE: "A talk", ELSEWHERE: "A talk"}
        store.purge(HERE)
        assert store.entries("origin") == {}

    def test_a_key_that_nobody_had_is_found_once_it_is_set(self, store: Store) -> None:
        begin(store)
        change(store, Change("opens/one", None, True))
        assert store.entries("opens/two") == {}
        change(store, Change("opens/two", None, True), Change("opens/three", None, True))
        assert [store.entries(f"opens/{name}") for name in ("one", "two", "three")] == [{HERE: True}] * 3
        change(store, Change("opens/two", True, None))
        assert store.entries("opens/two") == {}
        begin(store, here=ELSEWHERE)
        change(store, Change("opens/two", None, True), here=ELSEWHERE)
        assert store.entries("opens/two") == {ELSEWHERE: True}

    def test_what_was_worked_out_is_no_part_of_the_history(self, store: Store) -> None:
        begin(store)
        before = (store.view(HERE), store.operations(HERE))
        store.keep_derived(HERE, {"a": "1"})
        assert (store.view(HERE), store.operations(HERE)) == before
        assert store.verify().clean

    def test_a_purge_takes_what_was_worked_out(self, store: Store) -> None:
        begin(store)
        store.keep_derived(HERE, {"a": "1"})
        change(store, Change("trashed", None, True))
        store.purge(HERE)
        begin(store)
        assert store.derived(HERE, ["a"]) == {}

    def test_only_the_trash_can_be_purged(self, store: Store) -> None:
        begin(store, said("hello"))
        with pytest.raises(InTheWay):
            store.purge(HERE)
        change(store, Change("trashed", None, True))
        store.purge(HERE)
        with pytest.raises(NotFound):
            store.view(HERE)
        with pytest.raises(NotFound):
            change(store, Change("kept/late", None, True), verb="reply")
        assert store.conversations(trashed=True) == () == store.running()

    def test_a_purge_takes_the_attachments_that_no_other_conversation_names(self, store: Store) -> None:
        mine, shared = store.put_blob(b"mine", "text/plain"), store.put_blob(b"shared", "text/plain")
        stashed = store.put_blob(b"stashed", "text/plain")
        loose = store.put_blob(b"loose", "text/plain")
        parts = (AttachmentPart(mine, "text/plain"), AttachmentPart(shared, "text/plain"))
        begin(store, seal(Draft("user", parts), []))
        stash = Stash(1, "later", attachments=(stashed,)).stored()
        change(store, Change("stash/1", None, stash), Change("trashed", None, True))
        begin(store, seal(Draft("user", parts[1:]), []), here=ELSEWHERE)
        store.purge(HERE)
        for sha256 in (mine, stashed):
            with pytest.raises(NotFound):
                store.blob(sha256)
        assert store.blob(shared).content == b"shared" and store.blob(loose).content == b"loose"
        assert store.verify().clean

    def test_a_purged_conversation_can_be_made_anew(self, store: Store) -> None:
        begin(store, said("old"))
        change(store, Change("trashed", None, True))
        store.purge(HERE)
        begin(store, new := said("new"))
        assert list(store.messages(HERE)) == [new.id]
        assert store.view(HERE).version == 1

    def test_verify_counts_what_it_looked_at_and_finds_nothing_wrong(self, store: Store) -> None:
        run = thread(3)
        begin(store, *run)
        begin(store, here=ELSEWHERE)
        store.put_blob(b"x", "text/plain")
        found = store.verify()
        assert found.clean
        assert (found.conversations, found.messages, found.operations, found.blobs) == (2, 3, 2, 1)
        assert store.verify(ELSEWHERE).messages == 0

    def test_verify_finds_refs_to_nothing(self, store: Store) -> None:
        missing = said("never stored")
        begin(store)
        change(store, Change("tags/v1", None, at(missing)))
        assert [missing.id in finding.what for finding in store.verify().findings] == [True]

    def test_verify_finds_an_id_that_is_not_its_contents(self, store: Store) -> None:
        honest = said("honest")
        begin(store, Message(honest.id, (), "user", (TextPart("forged"),)))
        assert honest.id in store.verify(HERE).findings[0].what

    def test_verify_finds_attachments_without_bytes(self, store: Store) -> None:
        begin(store, seal(Draft("user", (AttachmentPart("a" * 64, "text/plain"),)), []))
        assert not store.verify().clean

    def test_writers_of_one_branch_lose_no_message_and_duplicate_none(self, store: Store) -> None:
        begin(store)
        together = threading.Barrier(8)
        losses: list[Operation | None] = []

        def write(writer: int) -> None:
            together.wait()
            for turn in range(10):
                while True:
                    head = store.view(HERE).branch("main").head
                    below = store.message(HERE, head) if head is not None else None
                    try:
                        move(store, below, said(f"writer {writer} turn {turn}", below))
                        break
                    except Outdated as error:
                        losses.append(error.first)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        head = store.view(HERE).branch("main").head
        assert head is not None
        path = store.path(HERE, head)
        assert len({m.text for m in path}) == len(path) == 80
        assert len(store.operations(HERE)) == 81
        assert None not in losses
        assert store.verify().clean

    def test_writers_of_many_conversations_do_not_disturb_each_other(self, store: Store) -> None:
        def write(writer: int) -> None:
            here = ConversationId(f"conversation {writer}")
            run = thread(6, word=f"w{writer}")
            begin(store, run[0], here=here)
            for before, message in pairwise(run):
                move(store, before, message, here=here)
            assert ids(store.path(here, run[-1].id)) == ids(run)

        with ThreadPoolExecutor(64) as pool:
            list(pool.map(write, range(64)))
        assert len(store.conversations()) == 64
        assert store.verify().clean

    def test_readers_beside_a_writer_see_no_gap_and_nothing_twice(self, store: Store) -> None:
        """Also those who ask for the first time just while something is written."""
        talks = [ConversationId(f"talk {number}") for number in range(8)]
        begun = {here: threading.Event() for here in talks}

        def write() -> None:
            for here in talks:
                run = thread(8)
                begin(store, run[0], here=here)
                begun[here].set()
                for number, (before, message) in enumerate(pairwise(run)):
                    store.record(here, generation(number))
                    move(store, before, message, here=here)

        def read(reader: int) -> None:
            for here in talks:
                assert begun[here].wait(30)
                version = 0
                while version < 8:
                    newest = store.operations(here, limit=1 + reader)
                    numbers = [operation.number for operation in store.operations(here)]
                    assert numbers == list(range(1, len(numbers) + 1))
                    assert newest[-1].number <= numbers[-1]
                    started = [made.started for made in store.generations(here)]
                    assert started == list(range(len(started))) and len(started) >= numbers[-1] - 1
                    assert len(store.messages(here)) >= numbers[-1]
                    assert any(line.id == here for line in store.conversations())
                    version = numbers[-1]

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(write), *(pool.submit(read, reader) for reader in range(3))]:
                done.result(120)

    def test_closing_twice_is_harmless(self, store: Store) -> None:
        store.close()
        store.close()

    def test_many_commits_at_once_are_chained_as_if_one_by_one(self, store: Store) -> None:
        first = begin(store)
        commits = [
            Commit(HERE, "name", f"Named {number}", (Change("title", before, f"t{number}"),), at=now())
            for number, before in enumerate(["A talk", *(f"t{number}" for number in range(599))])
        ]
        done = store.commit_all(commits)
        assert [operation.number for operation in done] == list(range(first.number + 1, first.number + 601))
        assert all(later.previous == earlier.id for earlier, later in pairwise((first, *done)))
        assert store.view(HERE).title == "t599"
        assert store.verify().clean

    def test_a_refused_commit_among_many_raises_its_own_error(self, store: Store) -> None:
        begin(store)
        good = Commit(HERE, "name", "Named", (Change("title", "A talk", "x"),), at=now())
        with pytest.raises(Outdated):
            store.commit_all([good, good])
        assert store.view(HERE).title == "x"
