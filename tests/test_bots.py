from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.bots import ChatBot, History, QueryBot, Recall, SimpleBot
from forky_core.context.citing import sources_in
from forky_core.forky import Forky
from forky_core.model.errors import BadContent
from tests.builders import ScriptedModels


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def forky(models: ScriptedModels) -> Iterator[Forky]:
    with Forky.open(":memory:", models=models) as opened:
        yield opened


def test_a_simple_bot_replies_and_remembers_nothing(forky: Forky, models: ScriptedModels) -> None:
    said: list[str] = []
    bot = SimpleBot("You are brief.", stream=said.append, forky=forky)
    models.one.enqueue("Four.")
    assert bot("Two and two?") == "Four." == "".join(said)
    bot("And now?")
    system, question = models.one.requests[-1].messages
    assert (system["content"], question["content"]) == ("You are brief.", "And now?")
    assert models.one.requests[-1].parameters["temperature"] == 0
    (kept,) = forky.conversations()
    saved = forky.conversation(kept.id)
    assert {saved.checkout(name).path()[0].text for name in saved.branches} == {"Two and two?", "And now?"}


def test_a_bot_without_a_database_saves_nothing() -> None:
    bot = SimpleBot(model="offline/digest", stream=False)
    assert bot("We chose port 8443.")
    assert bot.forky.conversations() == () == bot.forky.conversations(trashed=True)
    bot.forky.close()


def test_what_streams_is_printed(
    forky: Forky, models: ScriptedModels, capsys: pytest.CaptureFixture[str]
) -> None:
    models.one.enqueue("Four.")
    SimpleBot(forky=forky)("Two and two?")
    assert capsys.readouterr().out == "Four.\n"
    SimpleBot("Be brief.", "scripted/one", 0, False, forky=forky)("Two and two?")
    assert capsys.readouterr().out == ""


def test_json_mode_asks_for_json_and_checks_it(forky: Forky, models: ScriptedModels) -> None:
    bot = SimpleBot(stream=False, json_mode=True, forky=forky)
    models.one.enqueue('{"sum": 4}')
    assert bot("Two and two, as JSON?") == '{"sum": 4}'
    assert models.one.requests[-1].parameters["response_format"] == {"type": "json_object"}
    models.one.enqueue("Four.")
    with pytest.raises(BadContent):
        bot("Two and two, as JSON?")


def test_the_history_of_a_chat_bot_is_a_branch(forky: Forky, models: ScriptedModels) -> None:
    bot = ChatBot("You are brief.", stream=False, forky=forky)
    models.one.enqueue("The pump is an X200.")
    bot("Which pump is it?")
    bot("And its colour?")
    assert len(models.one.requests[-1].messages) == 4 and len(bot.history) == 4
    assert bot.history[1].text == "The pump is an X200."
    assert bot.history.retrieve("X200 pump", 1)[0].message == bot.history[1]
    assert bot.history.retrieve("X200 pump", budget=1) == ()
    side = bot.history.chat.fork("side")
    assert [message.text for message in side.path()] == [message.text for message in bot.history.chat.path()]
    before = bot.history.chat.branch_name
    bot.history.reset()
    assert len(bot.history) == 0 and len(bot.history.chat.checkout(before).path()) == 4
    bot("Hello?")
    assert len(models.one.requests[-1].messages) == 2


def test_a_query_bot_names_its_sources(forky: Forky, models: ScriptedModels, tmp_path: Path) -> None:
    manual = tmp_path / "manual.md"
    manual.write_text("# Warranty\n\nThe warranty of the X200 is two years.")
    bot = QueryBot(documents=[manual], stream=False, forky=forky)
    models.one.enqueue("Two years [1].")
    reply = bot("How long is the warranty of the X200?")
    assert [one.source for one in sources_in(reply)] == ["manual.md, Warranty"]
    with pytest.raises(BadContent):
        bot.add([tmp_path / "none.txt"])


@pytest.mark.parametrize("kind", ["history", "documents"])
def test_a_history_and_a_document_store_answer_to_one_interface(forky: Forky, kind: str) -> None:
    chat = forky.create("Recall")
    recall: Recall = History(chat) if kind == "history" else chat.documents
    recall.append("The sloop has one mast.")
    recall.extend(["The ketch has two masts.", "Anchors hold."])
    assert recall.retrieve("ketch", 1)[0].passage.text == "The ketch has two masts."
    recall.reset()
    assert len(recall.retrieve("ketch")) == 0


def test_a_reply_to_messages_that_the_caller_keeps(forky: Forky, models: ScriptedModels) -> None:
    bot = SimpleBot("You are brief.", stream=False, forky=forky)
    models.one.enqueue("Bergen.")
    said: list[dict[str, str] | str] = [
        {"role": "system", "content": "Be exact."},
        "Where to?",
        {"role": "assistant", "content": "Norway."},
        {"role": "user", "content": "Which town?"},
    ]
    assert bot.generate_response(said) == "Bergen."
    sent = [(one["role"], one["content"]) for one in models.one.requests[-1].messages]
    assert sent == [
        ("system", "Be exact."),
        ("user", "Where to?"),
        ("assistant", "Norway."),
        ("user", "Which town?"),
    ]
    (kept,) = forky.conversations()
    assert forky.conversation(kept.id).rules.current.system == "Be exact."
    bot("And now?")
    assert models.one.requests[-1].messages[0]["content"] == "You are brief."
    for wrong in ([], [{"role": "assistant", "content": "x"}], [{"role": "cook", "content": "x"}]):
        with pytest.raises(BadContent):
            bot.generate_response(wrong)


def test_a_session_goes_on_by_its_name_and_looking_creates_nothing(
    models: ScriptedModels, tmp_path: Path
) -> None:
    file = tmp_path / "chats.duckdb"
    with Forky.open(file, models=models) as opened:
        bot = ChatBot("You keep minutes.", stream=False, session_name="Minutes", forky=opened)
        assert len(bot.history) == 0 and bot.history.retrieve("port") == () and opened.conversations() == ()
        bot("We chose port 8443.")
    with Forky.open(file, models=models) as opened:
        again = ChatBot("You keep minutes.", stream=False, session_name="Minutes", forky=opened)
        assert again.history[0].text == "We chose port 8443."
        again("And the host?")
        (kept,) = opened.conversations()
        assert kept.title == "Minutes" and len(again.history) == 4


def test_a_message_is_found_by_any_of_its_words(forky: Forky) -> None:
    bot = ChatBot(stream=False, forky=forky)
    bot.history.append("What is all this about?")
    bot.history.append("It is about the pump.")
    for word in ("about", "What", "pump", "the"):
        assert bot.history.retrieve(word), word
    assert bot.history.retrieve("pump about")[0].message.text == "It is about the pump."
    assert bot.history.retrieve("gearbox") == ()


def test_how_many_passages_go_along_is_said_with_the_question(
    forky: Forky, models: ScriptedModels, tmp_path: Path
) -> None:
    bot = QueryBot("Quote.", stream=False, forky=forky)
    assert forky.conversations() == ()
    for number in range(6):
        bot.documents.append(
            f"The pump X{number} has a warranty of {number} years.", name=f"pump-{number}.txt"
        )
    bot("Which pump has a warranty?", n_results=2)
    few = str(models.one.requests[-1].messages)
    bot("Which pump has a warranty?")
    many = str(models.one.requests[-1].messages[-1])
    assert few.count("has a warranty of") == 2 < many.count("has a warranty of")
    with pytest.raises(BadContent):
        bot("Which pump?", n_results=0)
