"""A file of a conversation with erased messages is read and checked; an older file does not bring them back."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import adopt, fork_file, pull
from forky_core.formats.forky_file.uniting import unite_chats
from forky_core.formats.forky_file.writing import chat_of, part_of, written
from forky_core.model.erasure import NOTHING_LEFT
from forky_core.model.errors import BadContent
from tests.builders import talk, workspace
from tests.formats.forky_file.chats import file_of, parsed

SECRET = "The alarm code of the house is 4711, tell nobody."


def _told() -> tuple[Workspace, Conversation, str]:
    """A conversation with a secret in it, and its file from before it is erased."""
    forky, _ = workspace()
    chat = forky.create()
    chat.say(SECRET)
    talk(chat, "Which cork is the lightest?")
    before = file_of(forky, chat)
    assert SECRET in before
    return forky, chat, before


def _erased(chat: Conversation) -> str:
    message = next(one for one in chat.visible.messages.values() if one.text == SECRET)
    chat.history.erase(message.id, confirm=chat.history.plan_erasure(message.id).confirmation)
    return message.id


def test_a_file_with_an_erased_message_is_read_and_comes_in_elsewhere() -> None:
    forky, chat, _ = _told()
    gone = _erased(chat)
    text = file_of(forky, chat)
    assert SECRET[:24] not in text
    other, _ = workspace()
    done = adopt(other, parsed(text))
    assert other.store.message(done.conversation, gone).text == NOTHING_LEFT  # type: ignore[arg-type]
    assert other.verify().clean
    again = file_of(other, other.conversation(done.conversation))
    assert adopt(workspace()[0], parsed(again)).outcome == "new"


def test_a_part_of_it_is_read_too() -> None:
    forky, chat, _ = _told()
    _erased(chat)
    whole = chat_of(forky.store, chat.id)
    head = chat.head
    assert head is not None
    part = "".join(written(part_of(whole, {"main": head.id})))
    other, _ = workspace()
    adopt(other, parsed(part))
    assert other.verify().clean


def test_only_what_is_recorded_as_erased_may_differ_from_its_id() -> None:
    forky, chat, before = _told()
    with pytest.raises(BadContent, match="not that of its content"):
        parsed(before.replace("tell nobody", "tell everybody"))
    _erased(chat)
    text = file_of(forky, chat)
    with pytest.raises(BadContent, match="not that of its content"):
        parsed(text.replace('"content":"[erased]"', '"content":"[written]"'))
    with pytest.raises(BadContent, match="the log was changed"):
        parsed(text.replace('"summary":"Created', '"summary":"Made', 1))


def test_an_older_file_keeps_it_erased_and_says_so() -> None:
    forky, chat, before = _told()
    gone = _erased(chat)
    done = adopt(forky, parsed(before))
    assert (done.outcome, done.stay_erased) == ("unchanged", 1)
    assert done.remarks == (
        "1 message stays erased: the file is from before, and what it says of them was not brought back.",
    )
    assert SECRET not in forky.store.message(chat.id, gone).text  # type: ignore[arg-type]


def test_forking_an_older_file_keeps_it_erased() -> None:
    forky, chat, before = _told()
    gone = _erased(chat)
    made = fork_file(forky, parsed(before))
    assert made.stay_erased == 1
    assert SECRET not in forky.store.message(made.conversation, gone).text  # type: ignore[arg-type]
    assert not forky.search("4711") and forky.verify().clean
    assert pull(forky, made.conversation, parsed(before)).stay_erased == 1


def test_uniting_two_copies_keeps_it_erased() -> None:
    forky, chat, before = _told()
    _erased(chat)
    after = parsed(file_of(forky, chat))
    for ours, theirs in ((after, parsed(before)), (parsed(before), after)):
        united = "".join(written(unite_chats(ours, theirs).chat))
        assert SECRET not in united
        assert parsed(united).messages
