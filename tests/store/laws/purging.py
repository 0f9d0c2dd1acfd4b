"""A purge takes all of a conversation and nothing of another; verify tells what is wrong."""

from __future__ import annotations

import pytest

from forky_core.model import Change, Message, Stash, seal
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.parts import AttachmentPart, Draft, TextPart
from forky_core.store.contract import Store
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, said, thread


class PurgingLaws:
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

    def test_bytes_are_dropped_where_no_message_and_no_stash_names_them(self, store: Store) -> None:
        said_here, stashed, loose, kept_loose = (
            store.put_blob(content, "text/plain") for content in (b"said", b"stashed", b"loose", b"kept")
        )
        begin(store, seal(Draft("user", (AttachmentPart(said_here, "text/plain"),)), []))
        change(store, Change("stash/1", None, Stash(1, "later", attachments=(stashed,)).stored()))
        change(store, Change("stash/1", Stash(1, "later", attachments=(stashed,)).stored(), None))
        store.drop_blobs([said_here, stashed, loose, loose, "0" * 64])
        store.drop_blobs([])
        with pytest.raises(NotFound):
            store.blob(loose)
        assert [store.blob(name).content for name in (said_here, stashed, kept_loose)] == [
            b"said",
            b"stashed",
            b"kept",
        ]
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
