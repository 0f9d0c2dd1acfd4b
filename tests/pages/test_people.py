"""Several people on the Chat page: say who you are, set what others may do, post and be told."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import new_id
from forky_core.forky import Forky
from forky_core.model import Failure, Generation, GenerationId
from forky_core.model.room import Person, Room
from pages.ui.session import TabSession
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, latest, open_page, settled, words


def chat_page(chat: Conversation, person: str | None = None) -> AppTest:
    test = open_page("chat.py", chat)
    if person is not None:
        held = test.session_state["session"]
        assert isinstance(held, TabSession)
        held.person = person
        settled(test.run())
    return test


def dialog(chat: Conversation) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("people_dialog.py")), default_timeout=HANG)
    test.query_params["c"] = chat.id
    return settled(test.run())


def test_what_is_asked_carries_the_name_of_this_tab(forky: Forky) -> None:
    chat = forky.create("Together")
    test = chat_page(chat, "Ana")
    by_key(test, "chat.draft").set_value("Hello").run()
    latest(test, "chat.send").click().run()
    for job in chat.replies.running:
        job.wait(HANG)
    assert chat.path()[0].name == "Ana"
    assert chat.history.operations[-1].actor == "Ana"


def test_somebody_says_who_they_are_in_the_dialog(forky: Forky) -> None:
    chat = forky.create("Together").people.as_person("Ana")
    chat.people.set(Person("Ana"))
    chat.people.set(Person("Ben", address="ben@example.org", messages=3))
    test = dialog(chat)
    assert "ben@example.org" in words(test)
    assert "0 of 3 answers today" in words(test)
    by_key(test, "people.me").set_value("Cleo")
    by_key(test, "people.me_go").click().run()
    assert test.session_state["session"].person == "Cleo"
    assert "chat.people" in keys(chat_page(chat, "Cleo")), "it is one click away"


def test_a_post_that_nobody_answers_is_kept_and_says_why(forky: Forky) -> None:
    chat = forky.create("Together")
    chat.people.set_room(Room(answers="addressed"))
    test = chat_page(chat, "Ana")
    by_key(test, "chat.draft").set_value("What do you all think?").run()
    latest(test, "chat.send").click().run()
    assert texts(chat) == ["What do you all think?"]
    assert "answers where it is addressed" in words(settled(test))
    assert "chat.again.0" in keys(test), "somebody can have it answered"


def test_of_two_models_the_one_that_failed_is_named_with_a_way_on(forky: Forky) -> None:
    chat = forky.create("Together")
    chat.people.set_room(Room(models=("offline/quote", "offline/digest")))
    chat.people.post("Which way?", model="offline/digest").job.wait(HANG)  # type: ignore[union-attr]
    question = chat.path()[0]
    failure = Failure("overloaded", "It is overloaded (500).")
    failed = Generation(
        GenerationId(new_id()), "main", question.id, "offline/quote", "failed", failure=failure, started=1
    )
    forky.store.record(chat.id, failed)
    test = chat_page(chat)
    told = "".join(element.proto.body for element in test.get("html"))
    assert "Offline: quotes: Failed. It is overloaded (500)." in told
    by_key(test, "chat.again.0").click().run()
    for job in chat.replies.running:
        job.wait(HANG)
    assert [message.name for message in chat.path()] == [None, "Offline digest", "Offline quotes"]


def test_a_person_and_a_room_are_set(forky: Forky) -> None:
    chat = forky.create("Together")
    test = dialog(chat)
    by_key(test, "people.name").set_value("Ben")
    by_key(test, "people.messages").set_value(5)
    by_key(test, "people.go").click().run()
    assert chat.people.room.person("Ben") == Person("Ben", messages=5)
    settled(test)
    by_key(test, "people.answers").set_value("asked")
    by_key(test, "people.called").set_value("🦀")
    by_key(test, "people.room_go").click().run()
    assert (chat.people.room.answers, chat.people.room.called) == ("asked", "🦀")


def test_whoever_was_slower_is_asked_to_continue_or_to_fork(forky: Forky) -> None:
    chat = talk(forky.create("Together"), "a", "b")
    test = chat_page(chat, "Ben")
    by_key(test, "chat.draft").set_value("Mine").run()
    ana = chat.people.as_person("Ana")
    ana.say("First!")
    latest(test, "chat.send").click().run()
    assert "Ana wrote on “main” meanwhile" in words(settled(test))
    assert {"chat.race_continue", "chat.race_fork"} <= set(keys(test))
    assert texts(chat)[-1] == "First!"
    by_key(test, "chat.race_continue").click().run()
    assert "Mine" in texts(chat)


def test_a_conversation_of_one_person_has_no_button_for_people(forky: Forky) -> None:
    assert "chat.people" not in keys(chat_page(talk(forky.create("Alone"), "a", "b")))
