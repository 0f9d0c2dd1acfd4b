"""Programs written for the bots that came before run here when only their import and their model's name are changed.

Each test is such a program as its author would have written it from those bots' own manuals; the model is an
offline one, so that the answers are real.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core import BadContent, ChatBot, Forky, FunctionModel, Memory, QueryBot, SimpleBot
from forky_core.bots import AIMessage, DocumentStore, History, HumanMessage, PromptRecorder, autorecord
from forky_core.forky import own_database


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FORKY_DATABASE", str(tmp_path / "forky.duckdb"))
    yield
    if (tmp_path / "forky.duckdb").exists():
        own_database().close()


def test_a_simple_bot_takes_its_arguments_by_position(capsys: pytest.CaptureFixture[str]) -> None:
    system_prompt = "You are Richard Feynman. You will be given a difficult concept; explain it back."
    feynman = SimpleBot(system_prompt, 0.0, "offline/quote", True)
    answer = feynman("How do I fork a conversation?")
    assert "fork" in answer.content
    assert capsys.readouterr().out.strip() == answer.content.strip()


def test_stream_and_stream_target_say_where_an_answer_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = SimpleBot("Be brief.", model_name="offline/quote", stream_target="none")
    silent = SimpleBot("Be brief.", model_name="offline/quote", stream=False)
    assert quiet("How do I fork?").content == silent("How do I fork?").content
    assert capsys.readouterr().out == ""
    pieces: list[str] = []
    said = SimpleBot("Be brief.", 0.0, "offline/quote", pieces.append)("How do I fork?")
    assert len(pieces) > 1
    assert "".join(pieces) == said
    with pytest.raises(BadContent, match="stream_target"):
        SimpleBot("Be brief.", stream_target="printer")


def test_a_simple_bot_is_asked_several_texts_at_once() -> None:
    with Forky.open(":memory:") as forky:
        forky.add_model(
            FunctionModel("house/echo", lambda messages: " ".join(m["content"] for m in messages))
        )
        bot = SimpleBot("Echo.", model_name="house/echo", stream_target="none", forky=forky)
        answer = bot("The service listens on port 8080.", ["The proxy forwards 443.", HumanMessage("And?")])
        assert answer.content == "Echo. The service listens on port 8080.\n\nThe proxy forwards 443.\n\nAnd?"


def test_a_mock_response_answers_without_a_model() -> None:
    bot = SimpleBot("Be brief.", 0.0, "gpt-4", "none", False, None, "A canned answer.")
    assert bot("Anything?").content == "A canned answer."


def test_a_chat_bot_remembers_its_session_and_answers_a_follow_up() -> None:
    feynman = ChatBot("You keep minutes.", session_name="feynman_chat", model_name="offline/digest")
    feynman("We chose port 8443 for TLS.")
    feynman("Which port did we choose for TLS?")
    assert [message.role for message in feynman.messages] == ["user", "assistant", "user", "assistant"]
    assert feynman[0].content == "We chose port 8443 for TLS."
    assert "[Human]\nWe chose port 8443" in repr(feynman)
    again = ChatBot("You keep minutes.", "feynman_chat", model_name="offline/digest")
    assert len(again.messages) == 4


def test_a_history_is_retrieved_up_to_a_budget_of_characters_from_its_end() -> None:
    bot = ChatBot("You keep minutes.", "budget", "none", 0.0, "offline/digest", response_budget=2_000)
    for port in range(8080, 8120):
        bot.append(HumanMessage(f"The service number {port} listens on port {port}."))
    recent = bot.retrieve("Which port?", character_budget=200)
    assert 0 < sum(len(message.content) for message in recent) <= 200
    assert recent[-1].content == bot[-1].content
    assert recent[1:] == list(bot.messages[-len(recent) + 1 :])
    assert bot.messages[-len(recent)].endswith(recent[0])
    assert bot.retrieve("Which port?", 0) == []
    history = History("session")
    history.append(HumanMessage("The warranty is two years."))
    history.append(AIMessage("Noted."))
    assert list(history.retrieve(HumanMessage("warranty?"), character_budget=6)) == ["Noted."]
    assert history[0].role == "user"


def test_a_query_bot_reads_the_documents_at_its_paths(tmp_path: Path) -> None:
    post = tmp_path / "post1.txt"
    post.write_text(
        "Career advice: write in public, and publish what you learned every week.", encoding="utf-8"
    )
    other = tmp_path / "post2.txt"
    other.write_text("The warranty of the X200 pump is two years.", encoding="utf-8")
    bot = QueryBot(
        system_prompt="You are an expert on a blog.",
        collection_name="a_blog",
        document_paths=[post, other],
        model_name="offline/quote",
    )
    result = bot("Do you have any career advice?")
    assert "write in public" in result.content
    same = QueryBot("You are an expert on a blog.", collection_name="a_blog", model_name="offline/quote")
    assert "two years" in same("How long is the warranty of the pump?", n_results=5).content


def test_a_query_bot_takes_one_path_and_a_store_made_before(tmp_path: Path) -> None:
    post = tmp_path / "post.txt"
    post.write_text("The warranty of the X200 pump is two years.", encoding="utf-8")
    bot = QueryBot("You know pumps.", document_paths=post, model_name="offline/quote", stream_target="none")
    assert "two years" in bot("How long is the warranty?").content
    store = DocumentStore("pumps")
    store.add_documents(post)
    asked = QueryBot("You know pumps.", docstore=store, model_name="offline/quote", stream_target="none")
    assert "two years" in asked("How long is the warranty?").content


def test_a_document_store_stands_alone(tmp_path: Path) -> None:
    store = DocumentStore(collection_name="notes")
    store.append("The warranty of the X200 pump is two years.", metadata={"source": "manual"})
    store.extend(["The proxy forwards 443 to 8443.", "Pelicans eat fish."])
    found = store.retrieve("How long is the warranty?", n_results=1)
    assert found == ["The warranty of the X200 pump is two years."]
    assert "Pelicans eat fish." in store
    assert len(DocumentStore("notes").retrieve("Which port does the proxy forward to?", 2)) >= 1
    long = tmp_path / "long.txt"
    long.write_text(" ".join(f"Sentence number {n} is about widgets." for n in range(400)), encoding="utf-8")
    store.add_documents(long, chunk_size=500, chunk_overlap=100)
    pieces = store.retrieve("widgets number 17", n_results=3)
    assert len(pieces) == 3
    assert all(len(piece) <= 500 for piece in pieces)
    store.reset()
    assert store.retrieve("warranty") == []


def test_autorecord_fills_the_recorder_around_it(tmp_path: Path) -> None:
    bot = SimpleBot("Be brief.", model_name="offline/quote", stream_target="none")
    with PromptRecorder() as recorder:
        answer = bot("How do I fork?")
        autorecord("A prompt of one's own", "and its answer")
    bot("And after it?")
    assert recorder.prompts == [
        {"prompt": "How do I fork?", "response": answer.content},
        {"prompt": "A prompt of one's own", "response": "and its answer"},
    ]
    recorder.save(tmp_path / "prompts.md")
    assert (tmp_path / "prompts.md").read_text(encoding="utf-8").startswith("**How do I fork?**\n\n")


def test_a_changed_prompt_of_a_session_is_told_and_holds_from_then_on() -> None:
    ChatBot("You keep minutes.", session_name="minutes", model_name="offline/digest", stream=False)("Hello?")
    changed = ChatBot(
        "You keep short minutes.", session_name="minutes", model_name="offline/digest", stream=False
    )
    assert len(changed.messages) == 2
    assert changed.history.chat.rules.current.system == "You keep minutes."
    with pytest.warns(UserWarning, match="another system prompt"):
        changed("And now?")
    assert changed.history.chat.rules.current.system == "You keep short minutes."
    changed("And again?")


@pytest.mark.parametrize("order", ["minutes, stdout, 0.1, model", "minutes, 0.1, model, True", "by name"])
def test_a_chat_bot_takes_its_session_by_position(order: str) -> None:
    model = "offline/digest"
    if order.startswith("minutes, stdout"):
        bot = ChatBot("Be brief.", "minutes", "stdout", 0.1, model, 2_000)
        bot("Hello?")
        assert bot.history.chat.rules.memory == Memory("characters", amount=2_000)
    elif order.startswith("minutes, 0.1"):
        bot = ChatBot("Be brief.", "minutes", 0.1, model, True)
        bot("Hello?")
    else:
        bot = ChatBot("Be brief.", "minutes", model_name=model)
        bot("Hello?")
    assert bot.session_name == "minutes"
    assert bot.history.chat.rules.current.model == model
    assert [one.title for one in own_database().conversations()] == ["minutes"]


def test_a_query_bot_takes_its_collection_and_paths_by_position(tmp_path: Path) -> None:
    post = tmp_path / "post.txt"
    post.write_text("The warranty of the X200 pump is two years.", encoding="utf-8")
    bot = QueryBot("You know pumps.", "pumps", [post], 0.0, "offline/quote", False)
    assert "two years" in bot("How long is the warranty?", 3)
    assert len(bot.messages) == 2
    bot("And how long is the warranty of the X200?")
    assert len(bot.messages) == 2, "each question is asked for itself"


def test_sources_are_worded_as_the_program_wants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    post = tmp_path / "post.txt"
    post.write_text("The warranty of the X200 pump is two years.", encoding="utf-8")
    bot = QueryBot("You know pumps.", "offline/quote", documents=post, sources="Quellen: {sources}")
    answer = bot("How long is the warranty of the X200 pump?")
    assert answer.endswith("\n\nQuellen: [1] post.txt, line 1")
    assert capsys.readouterr().out == f"{answer}\n"
    assert "SOURCES: [1] post.txt, line 1 (doc:" in bot.history[-1].text
    bare = QueryBot("You know pumps.", "offline/quote", stream=False, documents=post, sources="")
    assert "SOURCES" not in bare("How long is the warranty of the X200 pump?")


def test_metadata_comes_back_with_what_is_found() -> None:
    store = DocumentStore("notes")
    assert store.retrieve("warranty") == []
    assert own_database().conversations() == ()
    store.extend("The warranty of the X200 pump is two years.", [{"source": "manual.txt", "page": 3}])
    (found,) = store.retrieve("How long is the warranty?", n_results=2)
    assert found.metadata == {"source": "manual.txt", "page": 3}
    assert found.passage.source == "manual.txt, line 1"
    (again,) = DocumentStore("notes").retrieve("How long is the warranty?")
    assert again.metadata == found.metadata
    assert not DocumentStore("other").documents()
    with pytest.raises(BadContent, match="metadata of 1"):
        store.extend(["one", "two"], [{"source": "x"}])
    with pytest.raises(BadContent, match="repeats fewer"):
        store.add_documents([], chunk_size=10, chunk_overlap=10)


def test_what_is_no_argument_of_a_bot_is_refused() -> None:
    with pytest.raises(BadContent, match="too many arguments"):
        SimpleBot("Be brief.", "one/model", "another/model")
    with pytest.raises(BadContent, match="stream_target"):
        SimpleBot("Be brief.", 0.0, "offline/quote", "api")
    with pytest.raises(BadContent, match="key"):
        SimpleBot("Be brief.", api_key="sk-1")
    with pytest.raises(BadContent, match=r"post\.txt"):
        ChatBot("Be brief.", [Path("post.txt")])


def test_a_branch_is_brought_back_in_one_line() -> None:
    with Forky.open(":memory:") as forky:
        chat = forky.create("Ports", model="offline/digest")
        chat.ask("Which port does the service use?")
        debug = chat.fork("debug")
        debug.say("TLS ends at port 8443. The weather is fine.")
        debug.say("Noted: port 8443.", role="assistant")
        chat.say("And the host?")
        planned = chat.plan_merge("debug", focus="the port of TLS")
        chat.merge("debug", "the port of TLS")
        assert chat.head is not None and chat.head.parts[0] == planned.drafts[0].draft.parts[0]
        chat.undo()
        chat.merge(debug)
        with pytest.raises(BadContent, match="made already"):
            chat.merge(planned, "the port of TLS")
