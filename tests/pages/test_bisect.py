"""Finding where a branch went wrong: by a question to a model in the background, or by eye."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Fail, Hang, ScriptedModel, Until
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, open_page, settled, words
from tests.pages.workspaces import empty_workspace

TURNS = ("Which database?", "SQLite.", "And now?", "Build it.", "Sure?", "No: take MySQL.", "Ok.", "Good.")
WRONG = 5


@pytest.fixture
def judge() -> ScriptedModel:
    def answer(request: Request) -> str:
        return "MySQL" if any("MySQL" in str(m["content"]) for m in request.messages[:-1]) else "SQLite"

    return ScriptedModel("scripted/judge", answer=answer)


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch, judge: ScriptedModel) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        assert isinstance(opened.models, Catalogue)
        opened.models.add(judge)
        yield opened


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    return talk(forky.create("Database", model="scripted/judge"), *TURNS)


def press(test: AppTest, key: str) -> AppTest:
    return settled(by_key(test, key).click().run())


def begun(
    chat: Conversation, *, expected: str = "sqlite", check: str = "contains", repeats: int = 1
) -> AppTest:
    """The page with a search by a model just begun."""
    test = open_page("bisection.py", chat)
    by_key(test, "bisect.question").set_value("Which database did we choose?")
    by_key(test, "bisect.check").set_value(check)
    by_key(test, "bisect.expected").set_value(expected)
    by_key(test, "bisect.repeats").set_value(repeats)
    return press(settled(test.run()), "bisect.begin")


def ended(test: AppTest) -> AppTest:
    """The page when the search has ended."""
    job = test.session_state["session"].searching.job
    if job is not None:
        job.exception(timeout=HANG)
    return settled(test.run())


def by_eye(chat: Conversation) -> AppTest:
    test = open_page("bisection.py", chat)
    by_key(test, "bisect.judge").set_value("eye")
    test = settled(test.run())
    by_key(test, "bisect.question").set_value("the database")
    return press(settled(test.run()), "bisect.begin")


def links(test: AppTest) -> list[str]:
    return [link.proto.query_string for link in test.get("page_link")]


def test_a_model_finds_the_first_wrong_message_and_the_log_says_so(chat: Conversation) -> None:
    head = chat.branch.head
    test = ended(begun(chat))
    assert "It fails from this message on" in words(test) and TURNS[WRONG] in words(test)
    assert any(chat.path()[WRONG].id[3:] in link for link in links(test))
    assert chat.history.operations[-1].verb == "bisect"
    assert chat.branch.head == head


def test_an_expression_and_a_majority_work_too(chat: Conversation, judge: ScriptedModel) -> None:
    test = ended(begun(chat, expected="^SQ.?Lite$", check="matches", repeats=3))
    assert TURNS[WRONG] in words(test)
    assert len(judge.requests) == test.session_state["session"].searching.search.calls > 4


def test_what_it_will_take_is_said_before(chat: Conversation) -> None:
    test = open_page("bisection.py", chat)
    by_key(test, "bisect.repeats").set_value(3)
    assert "At most 4 probes, 12 model calls." in words(settled(test.run()))


def test_a_search_is_watched_and_stopped(chat: Conversation, judge: ScriptedModel) -> None:
    judge.enqueue(Hang())
    test = begun(chat)
    assert "bisect.stop" in keys(test)
    test = ended(press(test, "bisect.stop"))
    assert "bisect.again" in keys(test) and "bisect.stop" not in keys(test)
    assert "It fails from" not in words(test)
    assert chat.history.operations[-1].verb != "bisect"
    assert "bisect.begin" in keys(press(test, "bisect.again"))


def test_a_check_that_always_passes_says_so(chat: Conversation) -> None:
    assert "the end, it is still right: nothing fails yet" in words(ended(begun(chat, expected="sql")))


def test_a_model_that_fails_is_quoted(chat: Conversation, judge: ScriptedModel) -> None:
    judge.enqueue(Fail("overloaded", "The model is busy."))
    assert "The model is busy." in words(ended(begun(chat)))


@pytest.mark.parametrize(
    ("expected", "check", "said"),
    [(" ", "contains", "What makes an answer right?"), ("(", "matches", "is no regular expression")],
)
def test_what_cannot_be_checked_is_refused_in_words(
    chat: Conversation, expected: str, check: str, said: str
) -> None:
    test = begun(chat, expected=expected, check=check)
    assert said in words(test) and "bisect.begin" in keys(test)


def test_a_question_is_needed(chat: Conversation) -> None:
    assert "A probe needs a question." in words(press(open_page("bisection.py", chat), "bisect.begin"))


def test_by_eye_each_probe_shows_the_message_and_the_last_answer_finds_it(chat: Conversation) -> None:
    test = by_eye(chat)
    ids = [message.id for message in chat.path()]
    while "bisect.yes" in keys(test):
        here = test.session_state["session"].searching.search.at
        assert here.text in words(test)
        test = press(test, "bisect.no" if ids.index(here.id) >= WRONG else "bisect.yes")
    assert "It fails from this message on" in words(test) and TURNS[WRONG] in words(test)
    assert (
        "the database" in chat.history.operations[-1].summary and chat.history.operations[-1].verb == "bisect"
    )


def test_a_part_of_the_branch_is_searched(chat: Conversation) -> None:
    test = open_page("bisection.py", chat)
    path = chat.path()
    by_key(test, "bisect.good").set_value(path[3].id)
    by_key(test, "bisect.bad").set_value(path[6].id)
    assert "At most 3 probes" in words(settled(test.run()))
    by_key(test, "bisect.bad").set_value(path[2].id)
    test = settled(test.run())
    assert "What passes must stand before what fails." in words(test) and "bisect.begin" not in keys(test)


def test_an_empty_branch_says_that_there_is_nothing_to_search(forky: Forky) -> None:
    assert "is empty: there is nothing to search." in words(open_page("bisection.py", forky.create("Empty")))


def test_a_search_goes_on_while_the_person_is_elsewhere(chat: Conversation, judge: ScriptedModel) -> None:
    gone_on = Event()
    judge.enqueue(Until(gone_on), "MySQL")
    test = begun(chat)
    test.switch_page("chat.py")
    settled(test.run())
    gone_on.set()
    test.switch_page("bisection.py")
    assert "It fails from this message on" in words(ended(settled(test.run())))
