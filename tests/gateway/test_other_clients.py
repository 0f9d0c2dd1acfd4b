"""More clients as they come: the `llm` command, and LangChain's ChatOpenAI."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.gateway.served import Served
from tests.hangs import HANG
from tests.llm.third_party import ANSWER


@pytest.fixture
def llm(gateway: Served, tmp_path: Path) -> Any:
    """Runs the command with Forky as one of its models."""
    (tmp_path / "extra-openai-models.yaml").write_text(
        f"- model_id: forky\n  model_name: gpt-4o\n  api_base: {gateway.base_url}\n  api_key_name: forky\n"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
        "LLM_USER_PATH": str(tmp_path),
        "OPENAI_API_KEY": gateway.key,
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "llm", "-m", "forky", "--key", gateway.key, *words]
        return subprocess.run(
            command,
            env=environment,
            input="",
            capture_output=True,
            text=True,
            timeout=HANG,
            check=False,
        )

    return run


def test_the_llm_command_streams_and_goes_on(gateway: Served, llm: Any) -> None:
    assert llm("say hello").stdout.strip() == ANSWER
    assert llm("-c", "say hello", "--no-stream").stdout.strip() == ANSWER
    assert gateway.paths() == [["say hello", ANSWER, "say hello", ANSWER]]


def test_the_llm_command_shows_errors(llm: Any) -> None:
    done = llm("overflow")
    assert done.returncode != 0
    assert "maximum context length" in done.stderr


@pytest.fixture
def chat(gateway: Served) -> Iterator[ChatOpenAI]:
    with httpx.Client(trust_env=False, timeout=HANG) as http:
        yield ChatOpenAI(
            model="gpt-4o",
            base_url=gateway.base_url,
            api_key=SecretStr(gateway.key),
            max_retries=0,
            http_client=http,
        )


def test_chat_openai_asks_streams_and_goes_on(gateway: Served, chat: ChatOpenAI) -> None:
    first = chat.invoke("say hello")
    assert first.content == ANSWER
    pieces = list(chat.stream([HumanMessage("say hello"), first, HumanMessage("say hello")]))
    assert "".join(str(piece.content) for piece in pieces) == ANSWER
    assert gateway.paths() == [["say hello", ANSWER, "say hello", ANSWER]]


def test_chat_openai_calls_tools(gateway: Served, chat: ChatOpenAI) -> None:
    tool = {
        "type": "function",
        "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}},
    }
    question = HumanMessage("use a tool")
    said = chat.bind_tools([tool]).invoke([question])
    assert isinstance(said, AIMessage)
    assert [(call["name"], call["args"]) for call in said.tool_calls] == [("look_up", {"city": "Oslo"})]
    chat.invoke(
        [
            question,
            said,
            ToolMessage("Sunny", tool_call_id=said.tool_calls[0]["id"]),
            HumanMessage("say hello"),
        ]
    )
    (summary,) = gateway.forky.conversations()
    roles = [message.role for message in gateway.forky.conversation(summary.id).path()]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


def test_chat_openai_shows_errors(chat: ChatOpenAI) -> None:
    with pytest.raises(Exception, match="Rate limit reached"):
        chat.invoke("limit me")
