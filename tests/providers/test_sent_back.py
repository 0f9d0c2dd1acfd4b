"""What a provider wants back of its own answers, and what it accepts of others', through the real LiteLLM.

The scripted providers refuse what the real ones refuse (refusals.py).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event

import pytest
from PIL import Image

from forky_core import Draft, Forky, TextPart
from forky_core.conversation.conversation import Conversation
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Request
from forky_core.model import Generation
from forky_core.model.parts import Json, OpaquePart, ReasoningPart, ToolCallPart, ToolResultPart
from forky_core.process.settings import Settings
from tests.providers.refusals import signature
from tests.providers.scripted import Call, End, Mark, ScriptedProvider, Text, Thought, provider

MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "o3-pro",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "deepseek": "deepseek/deepseek-v4-pro",
    "local": "",
}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
THINKING = {"type": "enabled", "budget_tokens": 1024}
ENDS = {
    "openai-chat": ("tool_calls", "stop"),
    "openai-responses": ("completed", "completed"),
    "anthropic": ("tool_use", "end_turn"),
    "gemini": ("STOP", "STOP"),
    "deepseek": ("tool_calls", "stop"),
    "local": ("tool_calls", "stop"),
}


class Provider:
    """A scripted provider with the workspace that asks it."""

    def __init__(self, wire: str, server: ScriptedProvider, forky: Forky) -> None:
        self.wire, self.server, self.forky = wire, server, forky
        self.model = MODELS[wire] or f"127.0.0.1:{server.port}/scripted"

    def ask(self, chat: Conversation, **parameters: Json) -> Generation:
        """Ask for an answer to the conversation, under the parameters of a request that offers a tool and thinking."""
        given: dict[str, Json] = {"tools": TOOLS, **parameters}
        if self.wire == "anthropic":
            given = {"thinking": THINKING, **given}
        if chat.rules.current.model is None:
            chat.rules.set(model=self.model, parameters=given)
        job = chat.replies.start()
        job.wait()
        return job.generation

    def calls(self) -> None:
        self.server.answer(
            Thought("I must look."), Call("call_a", "look", ("{}",)), End(ENDS[self.wire][0]), Mark()
        )

    def says(self, text: str) -> None:
        self.server.answer(Text(text), End(ENDS[self.wire][1]), Mark())

    @property
    def sent(self) -> str:
        """The last request, as JSON."""
        return json.dumps(self.server.requests[-1])

    @property
    def refused(self) -> str:
        return str(self.server.refused)


@pytest.fixture(params=MODELS)
def asked(request: pytest.FixtureRequest) -> Iterator[Provider]:
    with ExitStack() as running:
        yield started(request.param, running)


def started(wire: str, running: ExitStack) -> Provider:
    server = running.enter_context(provider(wire))
    environment = {"FORKY_PROBE": "0", **server.environment}
    models = Catalogue(settings=Settings.from_environment(environment), environment=environment, usual=())
    models.refresh(now=True, wait=10.0)
    return Provider(wire, server, running.enter_context(Forky.open(":memory:", models=models)))


def question(text: str = "Look.") -> Draft:
    return Draft("user", (TextPart(text),))


def call(*thoughts: ReasoningPart | OpaquePart, id: str = "call_a") -> Draft:
    return Draft("assistant", (*thoughts, ToolCallPart("look", "{}", id)))


def result(id: str = "call_a") -> Draft:
    return Draft("tool", (ToolResultPart("look", "7", id),))


UNSIGNED = ReasoningPart("I must look.")
CLAUDES = ReasoningPart("I must look.", False, json.dumps({"signature": signature("I must look.")}))
SEALED = OpaquePart(json.dumps({"data": "c2VhbGVk", "type": "redacted_thinking"}))
GEMINIS = ToolCallPart(
    "look", "{}", "call_g", json.dumps({"gemini": {"thought_signature": signature("look")}})
)
HISTORIES = {
    "no thought": (call(), result()),
    "an unsigned thought": (call(UNSIGNED), result()),
    "Claude's thought": (call(CLAUDES), result()),
    "a sealed thought": (call(SEALED), result()),
    "a call of Gemini's": (Draft("assistant", (GEMINIS,)), result("call_g")),
    "two steps, the first without a thought": (
        call(),
        result(),
        call(CLAUDES, id="call_b"),
        result("call_b"),
    ),
    "two steps, the second without a thought": (call(CLAUDES), result(), call(id="call_b"), result("call_b")),
    "a question beside the result": (call(UNSIGNED), result(), question("And now?")),
    "a loop that is closed": (
        call(),
        result(),
        Draft("assistant", (UNSIGNED, TextPart("7."))),
        question("Sure?"),
    ),
    "a thought without a call": (Draft("assistant", (CLAUDES, TextPart("Hm."))), question("Well?")),
}


@pytest.mark.parametrize("history", HISTORIES)
def test_every_provider_accepts_every_history(asked: Provider, history: str) -> None:
    asked.says("It is 7.")
    chat = asked.forky.create("t")
    chat.append([question(), *HISTORIES[history]])
    assert asked.ask(chat).status == "done", asked.refused


def test_a_tool_loop_of_a_model_goes_on_with_what_its_provider_wants_back(asked: Provider) -> None:
    asked.calls()
    asked.says("It is 7.")
    chat = asked.forky.create("t")
    chat.append([question()])
    assert asked.ask(chat).status == "done", asked.refused
    made = next(part for part in chat.path()[-1].parts if isinstance(part, ToolCallPart))
    chat.append([result(made.tool_call_id or "")])
    assert asked.ask(chat).status == "done", asked.refused
    wanted = {
        "anthropic": signature("I must look."),
        "gemini": signature("look"),
        "deepseek": '"reasoning_content": "I must look."',
    }
    assert wanted.get(asked.wire, "") in asked.sent
    chat.append([question("And again?")])
    assert asked.ask(chat).status == "done", asked.refused


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "gemini", "deepseek", "local"])
def test_a_signature_goes_to_no_other_provider(wire: str) -> None:
    with ExitStack() as running:
        asked = started(wire, running)
        asked.says("It is 7.")
        chat = asked.forky.create("t")
        chat.append([question(), call(CLAUDES), result(), call(SEALED, id="call_b"), result("call_b")])
        assert asked.ask(chat).status == "done", asked.refused
        assert signature("I must look.") not in asked.sent
        assert "c2VhbGVk" not in asked.sent


def test_thoughts_are_not_sent_where_thinking_is_off() -> None:
    with ExitStack() as running:
        asked = started("anthropic", running)
        asked.says("It is 7.")
        chat = asked.forky.create("t")
        chat.append([question(), call(CLAUDES), result()])
        assert asked.ask(chat, thinking={"type": "disabled"}).status == "done", asked.refused
        assert "I must look." not in asked.sent


def test_the_account_says_which_thoughts_are_sent_and_that_calls_became_text() -> None:
    with ExitStack() as running:
        asked = started("deepseek", running)
        chat = asked.forky.create("t")
        chat.rules.set(model=asked.model)
        chat.append(
            [question(), call(UNSIGNED), result(), call(id="call_b"), result("call_b"), question("So?")]
        )
        context = chat.context()
        (thought,) = [item for item in context.items if item.kind == "reasoning"]
        assert (thought.included, thought.why) == (
            True,
            "The provider wants this thought back beside the tool call.",
        )
        assert [warning for warning in context.warnings if "sent as text" in warning]


@pytest.mark.parametrize(
    ("model", "parameters", "limit"),
    [
        ("anthropic/claude-sonnet-4-5", {}, 64_000),
        ("anthropic/claude-sonnet-4-5", {"thinking": THINKING}, 64_000),
        ("anthropic/claude-opus-5", {}, 128_000),
        ("anthropic/claude-of-next-year", {}, 64_000),
        (
            "anthropic/claude-of-next-year",
            {"thinking": {"type": "enabled", "budget_tokens": 70_000}},
            140_000,
        ),
        ("anthropic/claude-of-next-year", {"max_tokens": 100}, 100),
    ],
)
def test_a_claude_may_answer_at_length_where_nobody_set_a_limit(
    model: str, parameters: dict[str, Json], limit: int
) -> None:
    with ExitStack() as running:
        asked = started("anthropic", running)
        asked.says("Hello.")
        request = Request(model, ({"role": "user", "content": "Hello"},), parameters)
        list(asked.forky.models.model(model).stream(request, Event()))
        assert asked.server.requests[-1]["max_tokens"] == limit


def picture(kind: str) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (2, 2), "red").save(written, kind)
    return written.getvalue()


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "JPEG"])
def test_every_provider_is_sent_pictures_in_a_format_that_it_accepts(asked: Provider, kind: str) -> None:
    asked.says("Red.")
    asked.says("Still red.")
    chat = asked.forky.create("t")
    chat.append([Draft("user", (TextPart("Which colour?"), asked.forky.attach(picture(kind), name="red")))])
    assert asked.ask(chat).status == "done", asked.refused
    chat.append([question("And now?")])
    assert asked.ask(chat).status == "done", asked.refused
    assert asked.wire == "deepseek" or any(
        kind in asked.sent for kind in ("image/png", "image/jpeg", "image/webp", "image/gif")
    )
