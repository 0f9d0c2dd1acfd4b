"""An erasure takes what a message says from everywhere, keeps its id, and leaves a store that verifies."""

from __future__ import annotations

import pytest

from forky_core.model import Change, ConversationId, Generation, GenerationId, Message, MessageId, seal
from forky_core.model.erasure import NOTHING_LEFT, PASSAGE, said_erased
from forky_core.model.errors import NotFound, NothingToDo
from forky_core.model.parts import AttachmentPart, Draft, MergePart, TextPart
from forky_core.store.contract import Store
from tests.store.talk import ELSEWHERE, HERE, begin, change, said

SECRET = "The alarm code of the house is 4711, tell nobody."
ANSWER = f"You said “{SECRET}”, and I say: take cork."
BY, WHEN = "p_0123456789abcdef", 1_700_000_000_000_000


def _told(store: Store) -> tuple[Message, Message]:
    """A conversation in which somebody said the secret, and an answer that repeats it."""
    question = said(SECRET)
    answer = seal(Draft("assistant", (TextPart(ANSWER),)), [question.id])
    begin(store, question, answer)
    change(store, Change("heads/main", store.view(HERE).entries.get("heads/main"), {"at": answer.id}))
    return question, answer


class ErasingLaws:
    def test_an_erased_message_keeps_its_id_and_says_nothing(self, store: Store) -> None:
        question, answer = _told(store)
        done = store.erase(HERE, question.id, by=BY, at=WHEN)
        instead = said_erased(WHEN)
        kept = store.message(HERE, question.id)
        assert (kept.id, kept.parents, kept.role, kept.text) == (question.id, (), "user", NOTHING_LEFT)
        assert store.message(HERE, answer.id).text == f"You said “{instead}”, and I say: take cork."
        assert store.path(HERE, answer.id)[0].text == NOTHING_LEFT
        assert store.messages(HERE)[question.id] == kept
        erasures = store.view(HERE).erasures
        assert erasures[question.id].whole and erasures[answer.id].of == question.id
        assert (done.messages, done.conversations) == (2, (HERE,))
        assert store.operations(HERE)[-1] == done.operation and done.operation.verb == "erase"

    def test_a_store_verifies_after_an_erasure(self, store: Store) -> None:
        question, _ = _told(store)
        store.erase(HERE, question.id, by=BY, at=WHEN)
        assert store.verify().findings == ()
        assert store.verify(HERE).findings == ()

    def test_it_goes_on_after_an_erasure(self, store: Store) -> None:
        question, answer = _told(store)
        store.erase(HERE, question.id, by=BY, at=WHEN)
        more = seal(Draft("user", (TextPart("And then?"),)), [answer.id])
        change(store, Change("heads/main", {"at": answer.id}, {"at": more.id}), messages=(more,))
        assert [one.id for one in store.path(HERE, more.id)] == [question.id, answer.id, more.id]
        assert store.verify().clean

    def test_the_log_and_the_title_lose_the_text_and_keep_their_chain(self, store: Store) -> None:
        question, _ = _told(store)
        title = f"{SECRET[:40]}…"
        former = store.view(HERE).entries.get("title")
        change(store, Change("title", former, title), summary=f"Asked: {SECRET}")
        ids = [operation.id for operation in store.operations(HERE)]
        done = store.erase(HERE, question.id, by=BY, at=WHEN)
        log = store.operations(HERE)
        assert [operation.id for operation in log[:-1]] == ids
        assert done.operation.previous == ids[-1]
        assert not any(SECRET[:PASSAGE] in repr(operation) for operation in log)
        assert SECRET[:PASSAGE] not in store.view(HERE).title
        assert [one.title for one in store.conversations()] == [store.view(HERE).title]
        assert store.verify().clean

    def test_search_finds_it_no_more(self, store: Store) -> None:
        question, _ = _told(store)
        assert store.search("4711")
        store.erase(HERE, question.id, by=BY, at=WHEN)
        assert store.search("4711") == () == store.saying(SECRET, "user")

    def test_a_merge_keeps_what_it_does_not_quote_of_it(self, store: Store) -> None:
        question, answer = _told(store)
        payload = MergePart("squash", "side", (question.id,), f"- {SECRET}\n- Cork is light.")
        merge = seal(Draft("user", (payload,)), [answer.id])
        change(store, Change("heads/main", {"at": answer.id}, {"at": merge.id}), messages=(merge,))
        store.erase(HERE, question.id, by=BY, at=WHEN)
        kept = store.message(HERE, merge.id).merge
        assert kept is not None and kept.messages == (question.id,)
        assert kept.text == f"- {said_erased(WHEN)}\n- Cork is light."
        assert store.verify().clean

    def test_calls_lose_what_they_recorded_and_an_erased_answer_is_not_given_again(
        self, store: Store
    ) -> None:
        question, answer = _told(store)
        calls = (
            Generation(
                GenerationId("g1"), "main", question.id, "m", "interrupted", partial=(TextPart(ANSWER),)
            ),
            Generation(GenerationId("g2"), "main", question.id, "m", "done", answer.id, prompt="abc"),
        )
        for call in calls:
            store.record(HERE, call)
        store.erase(HERE, question.id, by=BY, at=WHEN)
        assert SECRET not in repr(store.generations(HERE))
        store.erase(HERE, answer.id, by=BY, at=WHEN + 1)
        assert [call.prompt for call in store.generations(HERE)] == ["", ""]
        assert store.verify().clean

    def test_what_was_worked_out_of_it_is_dropped(self, store: Store) -> None:
        question, _ = _told(store)
        page = f"<p>{SECRET[:20]}<b>{SECRET[20:]}</b></p>"
        store.keep_derived(HERE, {"digest": f'["{SECRET}"]', "published/1": page, "other": "cork"})
        store.set_setting("note", f"of “{SECRET}”")
        store.erase(HERE, question.id, by=BY, at=WHEN)
        assert store.derived(HERE, ["digest", "published/1", "other"]) == {"other": "cork"}
        assert SECRET not in (store.setting("note") or "")

    def test_its_attachments_go_unless_another_message_has_them(self, store: Store) -> None:
        mine, shared = store.put_blob(b"mine", "text/plain"), store.put_blob(b"shared", "text/plain")
        files = (AttachmentPart(mine, "text/plain", "a.txt"), AttachmentPart(shared, "text/plain"))
        first = seal(Draft("user", (TextPart(SECRET), *files)), [])
        second = seal(Draft("user", (TextPart("Again"), files[1])), [first.id])
        begin(store, first, second)
        done = store.erase(HERE, first.id, by=BY, at=WHEN)
        assert done.files == 1 and store.blob(shared).content == b"shared"
        with pytest.raises(NotFound):
            store.blob(mine)
        assert store.verify().findings == ()

    def test_copies_are_erased_and_a_chance_likeness_is_not(self, store: Store) -> None:
        question = said(SECRET)
        first = seal(Draft("user", (TextPart("Begin"),)), [])
        copy = seal(Draft("user", question.parts, sources=(question.id,)), [first.id])
        begin(store, question, first, copy)
        begin(store, question, here=ELSEWHERE)  # Somebody else begins with the same words.
        done = store.erase(HERE, question.id, by=BY, at=WHEN)
        assert store.view(HERE).erasures[copy.id].whole
        assert done.conversations == (HERE,) and store.message(ELSEWHERE, question.id).text == SECRET

    def test_a_conversation_that_was_forked_from_it_loses_it_too(self, store: Store) -> None:
        question, _ = _told(store)
        begin(store, question, here=ELSEWHERE)
        source = {"id": HERE, "name": "the first"}
        change(store, Change("forked_from", None, source), here=ELSEWHERE)
        done = store.erase(HERE, question.id, by=BY, at=WHEN)
        assert set(done.conversations) == {HERE, ELSEWHERE}
        assert SECRET not in store.message(ELSEWHERE, question.id).text
        assert set(store.erased_of(ELSEWHERE, [question.id])) == {question.id}
        assert store.verify().clean

    def test_a_short_text_takes_no_other_message_with_it(self, store: Store) -> None:
        question = said("Thanks a lot!")
        other = seal(Draft("user", (TextPart("Thanks a lot! And now?"),)), [question.id])
        begin(store, question, other)
        store.erase(HERE, question.id, by=BY, at=WHEN)
        assert store.message(HERE, other.id) == other

    def test_it_is_written_again_by_nobody(self, store: Store) -> None:
        question, _ = _told(store)
        store.erase(HERE, question.id, by=BY, at=WHEN)
        change(store, Change("kept/x", None, None), messages=(question,))
        assert store.message(HERE, question.id).text == NOTHING_LEFT
        with pytest.raises(NothingToDo):
            store.erase(HERE, question.id, by=BY, at=WHEN)
        with pytest.raises(NotFound):
            store.erase(HERE, MessageId(f"b2:{'0' * 32}"), by=BY, at=WHEN)
        assert store.erased_of(ConversationId("nowhere"), [question.id]) == {}
