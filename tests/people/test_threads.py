"""Threads at messages: who reads and writes them, what outlives what, and who is told; hostile members, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound, NothingToDo
from forky_core.people import conversation_threads
from forky_core.people.conversation_threads import LONGEST_COMMENT, ConversationThreads, threads_file
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.threads import UNDO, Thread
from tests.builders import talk
from tests.people.people import Office

ANSWER = "They **float** because they are lighter\nthan the `water` they push away."


class Room:
    """Ada's conversation, which Ben edits, Carol comments on and Vic reads; Eve is a member who does not see it."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = here.join("Ada", Role.OWNER)
        self.ben = here.join("Ben", Role.EDITOR)
        self.carol = here.join("Carol", Role.COMMENTER)
        self.vic = here.join("Vic", Role.VIEWER)
        self.eve = here.join("Eve", Role.EDITOR)
        chat = here.seen_by(self.ada).create("Boats")
        self.question = chat.say("Why do boats float?").id
        self.answer = chat.say(ANSWER, role="assistant").id
        self.id = chat.id
        for member, role in ((self.ben, Role.EDITOR), (self.carol, Role.COMMENTER), (self.vic, Role.VIEWER)):
            here.team.sharing.share(self.id, member.id, role, by=self.ada.id)
        for member in (self.ben, self.carol, self.vic):
            here.team.inbox.mark_all(member.id)

    def threads(self, member: Member) -> ConversationThreads:
        return ConversationThreads(self.here.guard(member), self.id)

    def chat(self, member: Member) -> Conversation:
        return self.here.seen_by(member).conversation(self.id)

    def told(self, member: Member) -> list[str]:
        """The kinds of the unread notices of a person, the newest first."""
        return [notice.kind for notice in self.here.team.inbox.of(member.id, unread=True)]

    def take_away(self, member: Member) -> None:
        self.here.team.sharing.share(self.id, member.id, Role.NONE, by=self.ada.id)


@pytest.fixture
def room(here: Office) -> Room:
    return Room(here)


def said(thread: Thread) -> list[str]:
    return [comment.text for comment in thread.comments]


def test_a_thread_hangs_on_a_message_and_everybody_who_sees_it_reads_it(room: Room) -> None:
    thread = room.threads(room.carol).begin(room.answer, "Is that so?")
    room.threads(room.ben).reply(thread.id, "It is.")
    for reader in (room.ada, room.ben, room.carol, room.vic):
        (read,) = room.threads(reader).on(room.answer)
        assert said(read) == ["Is that so?", "It is."]
        assert [one.person for one in read.comments] == [room.carol.id, room.ben.id]
    assert room.threads(room.vic).counts[room.answer].open == 1
    assert room.threads(room.vic).on(room.question) == []


def test_a_quotation_stays_readable_and_is_in_the_message(room: Room) -> None:
    thread = room.threads(room.carol).begin(
        room.answer, "Which?", quote="float because they are lighter than the water"
    )
    assert thread.quote == "float because they are lighter than the water"
    room.chat(room.ben).undo()
    assert room.threads(room.carol).thread(thread.id).quote == thread.quote
    for forged in ("they sink", "!!!", "float because they are heavier"):
        with pytest.raises(BadContent, match="not in the message"):
            room.threads(room.carol).begin(room.answer, "Really?", quote=forged)


def test_a_viewer_reads_and_an_outsider_does_not_find_it(room: Room) -> None:
    thread = room.threads(room.carol).begin(room.answer, "Hm.")
    viewer, outsider = room.threads(room.vic), room.threads(room.eve)
    assert not viewer.may_write
    writing: tuple[Callable[[ConversationThreads], object], ...] = (
        lambda threads: threads.begin(room.answer, "Me, too"),
        lambda threads: threads.reply(thread.id, "Me, too"),
        lambda threads: threads.resolve(thread.id),
        lambda threads: threads.edit(thread.id, thread.comments[0].id, "No"),
        lambda threads: threads.delete(thread.id, thread.comments[0].id),
    )
    for write in writing:
        with pytest.raises(NotAllowed):
            write(viewer)
        with pytest.raises(NotFound, match="conversation"):
            write(outsider)
    for read in (
        lambda: outsider.counts,
        outsider.all,
        lambda: outsider.on(room.answer),
        lambda: outsider.thread(thread.id),
        outsider.events,
        lambda: outsider.readers,
    ):
        with pytest.raises(NotFound, match="conversation"):
            read()


def test_a_thread_is_not_found_by_its_id_in_another_conversation(room: Room) -> None:
    thread = room.threads(room.carol).begin(room.answer, "Secret")
    other = talk(room.here.seen_by(room.eve).create("Stones"), "And stones?", "They sink.")
    hers = ConversationThreads(room.here.guard(room.eve), other.id)
    with pytest.raises(NotFound, match="no such thread"):
        hers.reply(thread.id, "I am in")
    with pytest.raises(NotFound):
        hers.begin(room.answer, "On a message of theirs")
    assert said(room.threads(room.ada).thread(thread.id)) == ["Secret"]


def test_only_its_author_changes_a_comment_and_an_owner_deletes_it(room: Room) -> None:
    carols = room.threads(room.carol)
    thread = carols.begin(room.answer, "Is that so?")
    (comment,) = thread.comments
    for other in (room.ben, room.ada):
        with pytest.raises(NotAllowed, match="Somebody else"):
            room.threads(other).edit(thread.id, comment.id, "I agree with everything.")
    with pytest.raises(NotAllowed, match="Somebody else"):
        room.threads(room.ben).delete(thread.id, comment.id)
    carols.edit(thread.id, comment.id, "Is it?")
    with pytest.raises(NothingToDo):
        carols.edit(thread.id, comment.id, "Is it?")
    (read,) = room.threads(room.vic).thread(thread.id).comments
    assert (read.text, bool(read.edited)) == ("Is it?", True)
    room.threads(room.ada).delete(thread.id, comment.id)
    (gone,) = carols.thread(thread.id).comments
    assert gone.deleted and gone.text == ""
    with pytest.raises(NotFound):
        carols.undelete(thread.id, comment.id)


def test_what_its_author_deletes_comes_back_within_a_day_and_is_gone_after_it(room: Room) -> None:
    carols = room.threads(room.carol)
    thread = carols.begin(room.answer, "A slip of the tongue")
    (comment,) = thread.comments
    carols.delete(thread.id, comment.id)
    assert room.threads(room.ben).thread(thread.id).comments[0].text == ""
    carols.undelete(thread.id, comment.id)
    assert room.threads(room.ben).thread(thread.id).comments[0].text == "A slip of the tongue"
    carols.delete(thread.id, comment.id)
    room.here.clock.at += UNDO + 1
    with pytest.raises(NotFound, match="gone"):
        carols.undelete(thread.id, comment.id)
    rows = room.here.team.database.rows("SELECT text FROM thread_comments")
    assert [row["text"] for row in rows] == [""]


def test_a_thread_is_resolved_reopened_and_opened_by_a_reply(room: Room) -> None:
    threads = room.threads(room.carol)
    thread = threads.begin(room.answer, "Is that so?")
    room.threads(room.ben).resolve(thread.id)
    assert (threads.counts[room.answer].open, threads.counts[room.answer].resolved) == (0, 1)
    with pytest.raises(NothingToDo):
        threads.resolve(thread.id)
    threads.resolve(thread.id, resolved=False)
    assert threads.counts[room.answer].open == 1
    threads.resolve(thread.id)
    threads.reply(thread.id, "One more thing")
    assert not threads.thread(thread.id).resolved
    events = [event.event for event in threads.events()]
    assert events == ["began", "resolved", "reopened", "resolved", "replied"]


def test_the_log_says_who_did_what_and_never_what_was_written(room: Room) -> None:
    threads = room.threads(room.carol)
    thread = threads.begin(room.answer, "xylophone", quote="lighter")
    threads.edit(thread.id, thread.comments[0].id, "xylophones")
    rows = [dict(row) for row in room.here.team.database.rows("SELECT * FROM thread_events")]
    assert [(row["person"], row["event"]) for row in rows] == [
        (room.carol.id, "began"),
        (room.carol.id, "edited"),
    ]
    assert "xylophone" not in str(rows) and "lighter" not in str(rows)


def test_threads_outlive_merges_undo_and_restore_and_no_model_reads_them(room: Room) -> None:
    chat = room.chat(room.ben)
    thread = room.threads(room.ben).begin(room.answer, "xylophone")
    side = talk(chat.fork("side", at=room.answer), "And stones?", "They sink.")
    chat.merge(chat.plan_merge(side, strategy="squash"))
    assert "xylophone" not in str(chat.context())
    chat.undo()
    chat.history.restore(2)
    assert said(room.threads(room.ben).thread(thread.id)) == ["xylophone"]
    assert "xylophone" not in str(room.here.whole.store.operations(room.id))


def test_a_conversation_in_the_trash_takes_no_comment_and_one_that_is_purged_takes_them_along(
    room: Room,
) -> None:
    thread = room.threads(room.carol).begin(room.answer, "@ben look")
    assert room.told(room.ben) == ["mention"]
    room.chat(room.ada).trash()
    assert not room.threads(room.carol).may_write
    with pytest.raises(InTheWay, match="trash"):
        room.threads(room.carol).reply(thread.id, "Still here")
    room.here.seen_by(room.ada).purge(room.id)
    for table in ("threads", "thread_comments", "thread_events", "notices", "last_seen"):
        rows = room.here.team.database.rows(f"SELECT * FROM {table}")  # noqa: S608 - fixed names
        assert [dict(row) for row in rows] == [], table


def test_words_are_needed_and_not_too_many(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = room.threads(room.carol)
    for text in ("", " \n ", "x" * (LONGEST_COMMENT + 1)):
        with pytest.raises(BadContent):
            threads.begin(room.answer, text)
    with pytest.raises(NotFound):
        threads.begin("b2:" + "0" * 32, "On nothing")
    monkeypatch.setattr(conversation_threads, "MOST_COMMENTS", 2)
    monkeypatch.setattr(conversation_threads, "MOST_THREADS", 1)
    thread = threads.begin(room.answer, "One")
    threads.reply(thread.id, "Two")
    with pytest.raises(InTheWay, match="at most 2 comments"):
        threads.reply(thread.id, "Three")
    with pytest.raises(InTheWay, match="at most 1 thread"):
        threads.begin(room.answer, "Another")


# Who is told.


def test_a_mention_tells_whoever_may_see_it_and_nobody_else(room: Room) -> None:
    room.threads(room.carol).begin(
        room.question, "@ben, @EVE and @nobody: what do you think? carol@vic.example"
    )
    assert room.told(room.ben) == ["mention"]
    assert room.told(room.eve) == room.told(room.vic) == room.told(room.carol) == []
    assert set(room.threads(room.carol).readers) == {"ada", "ben", "carol", "vic"}


def test_who_takes_part_is_told_of_a_reply_once_and_the_author_of_the_message_of_a_thread(room: Room) -> None:
    thread = room.threads(room.carol).begin(room.question, "Why do you ask?")
    assert room.told(room.ada) == ["thread"]
    room.threads(room.ben).reply(thread.id, "@carol because")
    assert room.told(room.carol) == ["mention"]
    room.threads(room.ada).reply(thread.id, "Well.")
    assert room.told(room.carol) == ["reply", "mention"] and room.told(room.ben) == ["reply"]
    assert room.told(room.ada) == ["thread"]


def test_an_edit_tells_only_those_who_are_newly_mentioned(room: Room) -> None:
    threads = room.threads(room.carol)
    thread = threads.begin(room.answer, "@ben look")
    threads.edit(thread.id, thread.comments[0].id, "@ben and @ada, look")
    assert room.told(room.ben) == ["mention"]
    assert room.told(room.ada) == ["mention", "thread"]


def test_notices_of_a_revoked_share_vanish_and_no_more_come(room: Room) -> None:
    thread = room.threads(room.ben).begin(room.answer, "@carol: xylophone")
    team = room.here.team
    assert team.inbox.unread(room.carol.id) == 1
    room.take_away(room.carol)
    assert team.inbox.unread(room.carol.id) == 0
    assert team.inbox.of(room.carol.id) == []
    room.threads(room.ben).reply(thread.id, "@carol, are you there?")
    assert team.inbox.of(room.carol.id) == []
    with pytest.raises(NotFound):
        room.threads(room.carol).thread(thread.id)
    team.members.remove(room.ben.id, by=room.ada.id)
    assert team.inbox.of(room.ben.id) == []


def test_a_file_of_threads_quotes_what_people_wrote_and_leaves_out_what_is_deleted(room: Room) -> None:
    threads = room.threads(room.carol)
    thread = threads.begin(room.answer, "# Not a heading\n<script>alert(1)</script>", quote="lighter")
    threads.reply(thread.id, "gone")
    threads.delete(thread.id, threads.thread(thread.id).comments[1].id)
    text = threads_file("Boats", threads.all(), room.here.team.members.name_of, lambda _id: "")
    assert "> # Not a heading\n> <script>alert(1)</script>" in text
    assert "About: lighter" in text and "**Carol**" in text and "gone" not in text


def _ids(view: Workspace) -> list[ConversationId]:
    return [one.id for one in view.conversations()]


def test_a_pruned_message_keeps_its_thread(room: Room) -> None:
    chat = room.chat(room.ben)
    thread = room.threads(room.ben).begin(MessageId(room.answer), "Keep this")
    chat.branches.prune(chat.branches.plan_prune(room.answer))
    assert said(room.threads(room.carol).thread(thread.id)) == ["Keep this"]
    assert room.id in _ids(room.here.seen_by(room.carol))
