"""A search finds what can be seen, whole words in any order, and nothing else."""

from __future__ import annotations

import pytest

from forky_core.model import Change, ConversationId
from forky_core.store.contract import Store
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, move, point, said, thread


class SearchLaws:
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

    def test_a_search_may_be_among_some_conversations(self, store: Store) -> None:
        here, there = said("a boat"), said("a boat, a boat")
        begin(store, here, here=HERE)
        begin(store, there, here=ELSEWHERE)
        absent = ConversationId("01900000-0000-7000-8000-0000000000ff")

        def found(*among: ConversationId, limit: int = 50) -> list[str]:
            return [hit.message for hit in store.search("boat", among=among, limit=limit)]

        assert found(HERE, ELSEWHERE) == [there.id, here.id]
        assert found(HERE, absent, limit=1) == [here.id]
        assert found(absent) == found() == []

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
