"""Who may erase what a message says, and that nothing that is kept about people repeats it afterwards."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import now
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.llm.scripted import Until
from forky_core.model.errors import BadContent, ModelError, NotAllowed, NotFound, Outdated
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS
from tests.builders import talk, workspace
from tests.formats.forky_file.chats import parsed
from tests.people.people import Office, office

SECRET = "The alarm code of the house is 4711, tell nobody."


def _shared(here: Office) -> tuple[Conversation, Conversation, Conversation]:
    """A conversation of Ada's, and Ben's and Cleo's handles on it; Ben has said the secret."""
    ada, ben, cleo = (here.join(name, Role.EDITOR) for name in ("Ada", "Ben", "Cleo"))
    chat = here.seen_by(ada).create("Boats")
    chat.say("Which wood floats?")
    here.team.sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
    mine = here.seen_by(ben).conversation(chat.id)
    mine.say(SECRET)
    return chat, mine, here.seen_by(cleo).conversation(chat.id)


def _erase(chat: Conversation) -> None:
    message = next(one for one in chat.visible.messages.values() if one.text == SECRET)
    chat.history.erase(message.id, confirm=chat.history.plan_erasure(message.id).confirmation)


def test_its_author_erases_a_message(here: Office) -> None:
    chat, bens, _ = _shared(here)
    _erase(bens)
    assert SECRET not in repr(chat._session.messages)
    (entry,) = [one for one in here.team.audit.entries() if one.event == "message erased"]
    assert entry.person == bens._session.actor and SECRET not in entry.about


def test_the_owner_of_the_conversation_erases_a_message(here: Office) -> None:
    chat, bens, _ = _shared(here)
    _erase(chat)
    assert SECRET not in repr(bens._session.messages)


def test_nobody_else_does(here: Office) -> None:
    _, _, cleos = _shared(here)
    with pytest.raises(NotAllowed):
        _erase(cleos)
    assert SECRET in repr(cleos._session.messages)


def test_it_has_to_be_typed(here: Office) -> None:
    _, bens, _ = _shared(here)
    message = next(one for one in bens.visible.messages.values() if one.text == SECRET)
    with pytest.raises(BadContent, match="not what was to be typed"):
        bens.history.erase(message.id, confirm="yes")
    assert SECRET in repr(bens._session.messages)


def test_undo_and_restore_do_not_bring_it_back(here: Office) -> None:
    chat, bens, _ = _shared(here)
    version = chat.view.version
    _erase(bens)
    chat.undo()
    chat.redo()
    chat.say("Go on.")
    chat.history.restore(version)
    assert SECRET[:24] not in repr(chat._session.messages) and SECRET[:24] not in repr(
        chat.history.operations
    )
    assert here.whole.verify().clean
    assert chat.view.erasures


def test_what_is_kept_about_people_loses_it(tmp_path: Path) -> None:
    place = tmp_path / "forky.people.sqlite"
    with office(file=place) as here:
        with here.team.database.writing() as connection:
            connection.execute("CREATE TABLE later_words (person TEXT, words TEXT)")
            connection.execute("INSERT INTO later_words VALUES ('p_1', ?)", (f"To say: {SECRET}",))
        _, bens, _ = _shared(here)
        _erase(bens)
        (row,) = here.team.database.rows("SELECT words FROM later_words")
        assert SECRET not in row["words"] and "To say:" in row["words"]
        assert not any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())
        assert here.team.audit.first_broken() is None


def test_a_file_of_a_conversation_that_is_not_shown_comes_in_as_ones_own(here: Office) -> None:
    ada, eve = here.join("Ada"), here.join("Eve")
    chat = here.seen_by(ada).create("Boats")
    chat.say(SECRET)
    text = "".join(written(chat_of(here.whole.store, chat.id)))
    done = adopt(here.seen_by(eve), parsed(text))
    assert done.is_fork and done.conversation != chat.id
    assert "not shared with you" in done.remarks[0]
    assert here.team.sharing.of(done.conversation).owner == eve.id
    with pytest.raises(NotFound):
        here.seen_by(eve).conversation(chat.id)
    assert [one.id for one in here.seen_by(ada).conversations()] == [chat.id]
    chat.say("More of it.")
    newer = "".join(written(chat_of(here.whole.store, chat.id)))
    again = adopt(here.seen_by(eve), parsed(newer))
    assert (again.conversation, again.messages, again.is_fork) == (done.conversation, 1, True)


def test_what_is_erased_is_not_brought_back_by_somebody_who_does_not_see_it(here: Office) -> None:
    ada, eve = here.join("Ada"), here.join("Eve")
    chat = here.seen_by(ada).create("Boats")
    chat.say(SECRET)
    text = "".join(written(chat_of(here.whole.store, chat.id)))
    _erase(chat)
    done = adopt(here.seen_by(eve), parsed(text))
    assert done.stay_erased == 1
    assert SECRET not in repr(here.seen_by(eve).conversation(done.conversation)._session.messages)
    assert here.team.sharing.of(done.conversation).owner != OWNERS
    assert here.whole.verify().clean


@pytest.mark.parametrize("what", ["squash", "full", "graft", "rebase", "replay", "fuse"])
def test_what_was_planned_before_does_not_bring_it_back(what: str) -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Boats"), "Which wood floats?", "Balsa.")
    side = talk(chat.fork("side"), SECRET, "I tell nobody.")
    other, again = forky.create("Other"), chat.fork("again", at=chat.path()[0].id)
    other.say("Hello.")
    again.say(SECRET, role="assistant")
    chat.say("Go on.")
    plan: Any
    land: Any
    match what:
        case "graft":
            plan, land = other.merges.plan_graft(side), other.merge
        case "rebase" | "replay":
            plan = side.merges.plan_rebase("main")
            land = side.merges.rebase if what == "rebase" else side.merges.replay
        case "fuse":
            plan, land = chat.merges.plan_fuse([chat.path()[1].id, again.path()[1].id]), chat.merge
        case _:
            plan, land = chat.plan_merge("side", strategy=what), chat.merge
    _erase(side)
    with pytest.raises(Outdated, match="was erased since"):
        land(plan)
    assert all(SECRET not in repr(forky.store.messages(one.id)) for one in (chat, other))


def test_a_reply_that_is_written_meanwhile_does_not_repeat_it() -> None:
    forky, models = workspace()
    chat = forky.create("Boats")
    chat.say(SECRET)
    gate = threading.Event()
    models.one.enqueue(f"You say: {SECRET} ", Until(gate), "Right?")
    job = chat.send("What did I say?")
    assert next(job.follow())
    # As a command beside the app does, which knows nothing of the app's replies.
    forky.store.erase(chat.id, chat.path()[0].id, by="you", at=now())
    gate.set()
    with pytest.raises(ModelError, match="was erased while this was answered"):
        job.result()
    assert SECRET not in repr((forky.store.messages(chat.id), forky.store.generations(chat.id)))
