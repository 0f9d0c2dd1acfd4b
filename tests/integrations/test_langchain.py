"""LangChain itself, with a branch of Forky as its chat history; and ChatOpenAI through the gateway."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.integrations.langchain import ForkyChatMessageHistory
from tests.builders import workspace

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()


@pytest.fixture
def forky() -> Iterator[Workspace]:
    opened, _ = workspace()
    yield opened
    opened.close()


def test_messages_come_back_as_they_went_in(forky: Workspace) -> None:
    history = ForkyChatMessageHistory("s", forky=forky)
    history.add_user_message("Hi")
    history.add_ai_message("Hello")
    picture: Any = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    call: Any = {"name": "look_up", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}
    history.add_messages(
        [
            SystemMessage("Be brief."),
            HumanMessage([{"type": "text", "text": "What is it?"}, picture], name="Ann"),
            AIMessage("Looking.", tool_calls=[call], additional_kwargs={"reasoning_content": "Hm."}),
            ToolMessage("Sunny", tool_call_id="c1", name="look_up"),
            ToolMessage("Broken", tool_call_id="c2", name="look_up", status="error"),
            AIMessage(""),
        ]
    )
    read: list[Any] = ForkyChatMessageHistory("s", forky=forky).messages
    kinds = ["human", "ai", "system", "human", "ai", "tool", "tool", "ai"]
    assert [message.type for message in read] == kinds
    assert [message.content for message in read[:3]] == ["Hi", "Hello", "Be brief."]
    assert read[3].content == [{"type": "text", "text": "What is it?"}, picture]
    assert read[3].name == "Ann"
    assert (read[4].content, read[4].tool_calls) == ("Looking.", [call])
    assert read[4].additional_kwargs == {"reasoning_content": "Hm."}
    assert (read[5].content, read[5].tool_call_id, read[5].name) == ("Sunny", "c1", "look_up")
    assert [message.status for message in read[5:7]] == ["success", "error"]


DATA = f"data:image/png;base64,{PIXEL}"
LINK = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
BY_URL = {"type": "image", "url": "https://example.org/a.png"}


@pytest.mark.parametrize(
    ("block", "read"),
    [
        pytest.param(LINK, LINK, id="by address"),
        pytest.param(BY_URL, BY_URL, id="by address, as LangChain has it"),
        pytest.param(
            {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": DATA}},
            id="a standard block",
        ),
        pytest.param(
            {"type": "image", "source_type": "base64", "data": PIXEL, "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": DATA}},
            id="an earlier standard block",
        ),
        pytest.param(
            {"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf", "filename": "a.pdf"},
            {
                "type": "file",
                "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
            },
            id="a file",
        ),
        pytest.param(
            {"type": "from_tomorrow", "of": [1]}, {"type": "from_tomorrow", "of": [1]}, id="unknown"
        ),
    ],
)
def test_pictures_and_files_in_every_spelling_come_back(
    forky: Workspace, block: dict[str, Any], read: dict[str, Any]
) -> None:
    history = ForkyChatMessageHistory("s", forky=forky)
    before, after = {"type": "text", "text": "Look:"}, {"type": "text", "text": "What is it?"}
    history.add_messages([HumanMessage([before, block, after])])
    (message,) = ForkyChatMessageHistory("s", forky=forky).messages
    assert message.content == [before, read, after]


def test_sessions_are_branches_of_one_conversation(forky: Workspace) -> None:
    for session in ("ann", "ben"):
        ForkyChatMessageHistory(session, forky=forky).add_user_message(f"I am {session}")
    (summary,) = forky.conversations()
    chat = forky.conversation(summary.id)
    assert set(chat.branches) == {"ann", "ben"}
    assert [one.text for one in forky.conversation(chat.id, "ben").path()] == ["I am ben"]


def test_a_branch_of_a_conversation_of_ones_own(forky: Workspace) -> None:
    chat = forky.create("Mine")
    chat.say("Hi")
    history = ForkyChatMessageHistory("main", forky=forky, conversation=chat.id)
    assert [message.content for message in history.messages] == ["Hi"]


def test_clearing_empties_the_branch_and_can_be_undone(forky: Workspace) -> None:
    history = ForkyChatMessageHistory("s", forky=forky)
    history.add_user_message("Hi")
    history.clear()
    history.clear()
    assert history.messages == []
    history.conversation.undo()
    assert [message.content for message in history.messages] == ["Hi"]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_a_chain_with_history_remembers(forky: Workspace) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    heard: list[int] = []

    def note(value: Any) -> Any:
        heard.append(len(value.to_messages()))
        return value

    chain = prompt | note | FakeListChatModel(responses=["One.", "Two."])
    remembering = RunnableWithMessageHistory(
        chain,
        lambda session: ForkyChatMessageHistory(session, forky=forky),
        input_messages_key="question",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "s"}}
    for question in ("First?", "Second?"):
        remembering.invoke({"question": question}, config=config)
    assert heard == [1, 3]
    said = [message.content for message in ForkyChatMessageHistory("s", forky=forky).messages]
    assert said == ["First?", "One.", "Second?", "Two."]


def test_it_can_open_the_database_itself(tmp_path: Path) -> None:
    place = tmp_path / "forky.duckdb"
    history = ForkyChatMessageHistory("s", forky=place)
    history.add_messages([HumanMessage("Hi"), AIMessage("Hello")])
    history.close()
    with Forky.open(place) as opened:
        (summary,) = opened.conversations()
        assert [one.text for one in opened.conversation(summary.id, "s").path()] == ["Hi", "Hello"]
