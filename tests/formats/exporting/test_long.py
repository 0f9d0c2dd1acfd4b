"""A conversation longer than a stretch: it leaves as a short one does, and is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import findings, redacted, unread_files
from forky_core.formats.exporting.registry import EXPORTERS, exporter
from forky_core.formats.exporting.rewriting import visible_messages, with_only
from forky_core.formats.exporting.sharing import export_value, exported_part, hidden_content
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import STRETCH, StoredMessages
from forky_core.formats.forky_file.writing import chat_of, part_of
from forky_core.model import (
    Change,
    ConversationId,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    Rules,
    seal,
)
from forky_core.model.parts import AttachmentPart, Draft, Part, TextPart
from forky_core.store.contract import Commit
from forky_core.store.memory.store import MemoryStore
from tests.builders import debugged, workspace
from tests.formats.forky_file.chats import parsed, with_everything

LENGTH = 2 * STRETCH + 300


class Sparing(MemoryStore):
    """Says so where somebody wants everything of a conversation, or more than a stretch of it."""

    spare = False

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        assert not self.spare, "all messages of a long conversation were asked for"
        return super().messages(conversation)

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        assert not self.spare, "all calls of a long conversation were asked for"
        return super().generations(conversation)

    def operations(
        self, conversation: ConversationId, *, after: int = 0, limit: int | None = None
    ) -> tuple[Operation, ...]:
        assert not self.spare, "all of a long log was asked for"
        return super().operations(conversation, after=after, limit=limit)

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        assert most <= STRETCH + 1
        return super().stretch(conversation, after=after, most=most)


@pytest.fixture(scope="module", params=[with_everything, debugged], ids=["everything", "a tree"])
def long(request: pytest.FixtureRequest) -> tuple[Workspace, Conversation]:
    """A beginning (of a mere tree nothing need be rewritten for any format), then two thousand messages on a line and
    some on another beside it.
    """
    store = Sparing()
    forky = workspace(store)[0]
    chat = request.param(forky)
    file = store.put_blob(b"mail ann@example.org", "text/plain", "note.txt")
    tx = Transaction(store, chat.id, chat.view, "you")
    line = side = chat.path()[-1]
    for at in range(LENGTH):
        parts: tuple[Part, ...] = (TextPart(f"turn {at}"),)
        if at == STRETCH + 100:
            parts += (AttachmentPart(file, "text/plain", "note.txt"),)
        line = seal(Draft("user" if at % 2 == 0 else "assistant", parts), (line.id,), created=at + 1)
        tx.messages.append(line)
        if at % 40 == 0:
            side = seal(Draft("user", (TextPart(f"aside {at}, call +49 89 1234 5678"),)), (side.id,))
            tx.messages.append(side)
    tx.move("main", line.id)
    tx.create_branch("aside", side.id, Rules())
    tx.publish("import", "Made")
    store.spare = True
    return forky, chat


def whole(forky: Workspace, chat: Conversation) -> Chat:
    """The same with everything in memory."""
    stored = chat_of(forky.store, chat.id)
    messages = {one.id: one for one in stored.messages.values()}
    return replace(stored, messages=messages, blobs={blob.sha256: blob for blob in stored.blobs.values()})


@pytest.mark.parametrize("to", EXPORTERS, ids=lambda to: to.name)
def test_every_format_is_the_same_as_of_messages_in_memory(
    to: Any, long: tuple[Workspace, Conversation]
) -> None:
    forky, chat = long
    stored = chat_of(forky.store, chat.id)
    assert isinstance(stored.messages, StoredMessages)
    if to.name != "llm":  # SQLite writes the time into its file.
        assert b"".join(to.write(stored)) == b"".join(to.write(whole(forky, chat)))
    assert to.losses(stored) == to.losses(whole(forky, chat))


def test_a_long_conversation_comes_back_from_its_file(long: tuple[Workspace, Conversation]) -> None:
    forky, chat = long
    stored = chat_of(forky.store, chat.id)
    back = parsed(b"".join(exporter("forky").write(stored)).decode())
    assert list(back.messages.values()) == list(stored.messages.values())
    assert back == stored


def test_what_is_private_is_found_all_through_it(long: tuple[Workspace, Conversation]) -> None:
    forky, chat = long
    stored = chat_of(forky.store, chat.id)
    seen = findings(stored)
    assert seen == findings(whole(forky, chat))
    assert {"ann@example.org", "+49 89 1234 5678"} <= {one.value for one in seen}
    text = b"".join(exporter("forky").write(redacted(stored, seen))).decode()
    assert "1234 5678" not in text
    assert unread_files(stored) == unread_files(whole(forky, chat))


def test_a_copy_in_other_words_is_made_a_stretch_at_a_time(long: tuple[Workspace, Conversation]) -> None:
    forky, chat = long
    stored, held = chat_of(forky.store, chat.id), whole(forky, chat)
    seen = findings(stored)
    made, known = redacted(stored, seen), redacted(held, seen)
    assert isinstance(made.messages, StoredMessages)
    assert made == known
    assert list(made.messages) == list(known.messages)
    for to in ("forky", "html", "messages"):
        assert b"".join(exporter(to).write(made)) == b"".join(exporter(to).write(known))
    assert parsed(b"".join(exporter("forky").write(made)).decode()) == made
    last = list(known.messages)[-1]
    assert made.messages[last] == known.messages[last]
    assert made.blobs.keys() == known.blobs.keys()


def test_so_are_chosen_messages(long: tuple[Workspace, Conversation]) -> None:
    forky, chat = long
    ids = list(chat_of(forky.store, chat.id).messages)
    some = ids[3 : STRETCH * 2 : 2]
    made, known = (with_only(one, some) for one in (chat_of(forky.store, chat.id), whole(forky, chat)))
    assert isinstance(made.messages, StoredMessages)
    assert made == known
    visible = [id for id in some if id in visible_messages(whole(forky, chat))]
    assert 0 < len(made.messages) <= len(visible)
    assert parsed(b"".join(exporter("forky").write(made)).decode()) == made


def test_a_part_of_it_stays_in_the_store_too(long: tuple[Workspace, Conversation]) -> None:
    forky, chat = long
    stored = chat_of(forky.store, chat.id)
    for branch in ("main", "aside"):
        head = chat.checkout(branch).branch.head
        assert head is not None
        part = part_of(stored, {branch: head})
        assert part == part_of(whole(forky, chat), {branch: head})
        assert export_value(forky.store, chat, branch=branch) == part
    plain = exported_part(stored, exporter("forky"), log=False)
    assert isinstance(plain.messages, StoredMessages)
    assert plain == exported_part(whole(forky, chat), exporter("forky"), log=False)
    assert hidden_content(stored) == hidden_content(whole(forky, chat))


@pytest.fixture(scope="module")
def talked() -> tuple[Workspace, Conversation]:
    """As many operations and calls as a long conversation has that was said one by one."""
    store = Sparing()
    forky = workspace(store)[0]
    chat = forky.create("Talked")
    head: MessageId | None = None
    for at in range(STRETCH + 200):
        made = seal(Draft("assistant", (TextPart(f"turn {at}"),)), (head,))
        id = GenerationId(f"01890000-0000-7000-8000-{at:012d}")
        call = Generation(id, "main", head, f"model {at % 3}", "done", made.id, started=at // 2)
        change = Change("heads/main", {"at": head}, {"at": made.id})
        store.commit(Commit(chat.id, "ask", f"Asked {at}", (change,), (made,), (call,), at=at + 1))
        head = made.id
    store.record(chat.id, Generation(GenerationId("running"), "main", head, "m", "running", started=10**6))
    store.spare = True
    return forky, chat


def test_a_long_log_stays_in_the_store_too(talked: tuple[Workspace, Conversation]) -> None:
    forky, chat = talked
    stored = chat_of(forky.store, chat.id)
    log = tuple(stored.operations)
    assert not isinstance(stored.operations, tuple)
    assert (len(log), log[0].verb, log[-1].summary) == (STRETCH + 201, "create", f"Asked {STRETCH + 199}")
    assert stored.operations[-1] == log[-1]
    assert stored.operations[-20:] == log[-20:]
    assert stored.operations[5:900:7] == log[5:900:7]
    assert stored.operations[9_000:] == ()
    assert stored.operations == log and stored.operations != log[:-1]
    calls = tuple(stored.generations)
    assert [call.started for call in calls] == [at // 2 for at in range(STRETCH + 200)]
    held = replace(stored, operations=log, generations=calls)
    text = b"".join(exporter("forky").write(stored))
    assert text == b"".join(exporter("forky").write(held))
    assert parsed(text.decode()) == stored
    plain = exported_part(stored, exporter("forky"), log=False)
    assert plain == exported_part(held, exporter("forky"), log=False)


def test_a_call_that_ends_meanwhile_is_in_a_later_file() -> None:
    store = MemoryStore()
    forky = workspace(store)[0]
    chat = forky.create("Long")
    line = [seal(Draft("user", (TextPart("turn 0"),)), ())]
    for at in range(STRETCH + 1):
        line.append(seal(Draft("assistant", (TextPart(f"turn {at}"),)), (line[-1].id,)))
        id = GenerationId(f"01890000-0000-7000-8000-{at:012d}")
        call = Generation(id, "main", line[-2].id, "m", "done", line[-1].id, started=at)
        head = {"at": line[-2].id} if at else {"at": None}
        change = Change("heads/main", head, {"at": line[-1].id})
        store.commit(Commit(chat.id, "ask", "Asked", (change,), tuple(line[-2:]), (call,), at=at + 1))
    before = chat_of(store, chat.id)
    assert len(before.messages) == STRETCH + 2
    rows = exporter("forky").write(before)
    begun = next(rows)
    late = seal(Draft("assistant", (TextPart("late"),)), (line[-1].id,))
    call = Generation(GenerationId("late"), "main", line[-1].id, "m", "done", late.id, started=10**6)
    change = Change("heads/main", {"at": line[-1].id}, {"at": late.id})
    store.commit(Commit(chat.id, "ask", "Asked", (change,), (late,), (call,), at=10**6))
    back = parsed(b"".join((begun, *rows)).decode())
    assert back.view == before.view
    assert late.id not in back.messages
    assert len(tuple(back.generations)) == STRETCH + 1


def test_what_is_said_meanwhile_does_not_disturb_the_file() -> None:
    forky = workspace()[0]
    chat = forky.create("Long")
    tx = Transaction(forky.store, chat.id, chat.view, "you")
    line: Message | None = None
    for at in range(STRETCH + 1):
        line = seal(Draft("user", (TextPart(f"turn {at}"),)), (line.id if line else None,))
        tx.messages.append(line)
    assert line is not None
    tx.move("main", line.id)
    tx.publish("import", "Made")
    before = chat_of(forky.store, chat.id)
    rows = exporter("forky").write(before)
    begun = next(rows)
    chat.say("late")
    back = parsed(b"".join((begun, *rows)).decode())
    assert back.view == before.view
    assert back.operations == before.operations
