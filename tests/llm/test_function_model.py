"""A model that a program makes of a function, with what its calls cost."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from threading import Event
from typing import Any

import pytest

from forky_core import (
    Done,
    Forky,
    FunctionModel,
    InTheWay,
    ModelError,
    ModelInfo,
    Person,
    Request,
    TextDelta,
    Usage,
)
from forky_core.llm.contract import ModelEvent
from tests.builders import ScriptedModels
from tests.hangs import HANG


@pytest.fixture
def forky() -> Iterator[Forky]:
    with Forky.open(":memory:") as opened:
        yield opened


def asked(forky: Forky, function: Callable[[Sequence[dict[str, Any]]], Any], **prices: Any) -> Any:
    forky.add_model(FunctionModel("house/one", function, **prices))
    chat = forky.create("A model of one's own", system="Be brief.", model="house/one")
    return chat, chat.ask("Hello?")


def test_a_function_is_given_the_messages_and_its_text_is_the_answer(forky: Forky) -> None:
    chat, reply = asked(forky, lambda messages: f"{len(messages)}: {messages[-1]['content']}")
    assert reply.text == "2: Hello?"
    (call,) = chat.calls.generations
    assert (call.status, call.finish_reason, call.model) == ("done", "stop", "house/one")
    assert "house/one" in {info.name for info in forky.models.models()}


def test_pieces_arrive_as_they_are_made(forky: Forky) -> None:
    forky.add_model(FunctionModel("house/one", lambda _: iter(("Two ", "pieces."))))
    pieces: list[str] = []
    chat = forky.create("Pieces", model="house/one")
    assert chat.ask("Hello?", on_text=pieces.append).text == "Two pieces."


def test_an_error_of_the_function_is_a_failed_reply_that_keeps_what_came(forky: Forky) -> None:
    def breaks(_: object) -> Iterator[str]:
        yield "So far"
        raise ValueError("the disk is gone")

    with pytest.raises(ModelError, match="house/one” failed: ValueError: the disk is gone") as failed:
        asked(forky, breaks)
    assert [part.text for part in failed.value.partial] == ["So far"]  # type: ignore[union-attr]


def test_a_database_that_has_models_of_the_program_is_given_none() -> None:
    with Forky.open(":memory:", models=ScriptedModels()) as forky, pytest.raises(InTheWay):
        forky.add_model(FunctionModel("house/one", str))


class Counting:
    """A model of a program that counts its tokens and leaves the price to its `ModelInfo`."""

    def info(self) -> ModelInfo:
        return ModelInfo(
            "house/two", "Two", "House", input_price=0.01, output_price=0.1, cached_input_price=0.001
        )

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        yield TextDelta("Yes.")
        yield Done("stop", Usage(10, 3, cached_tokens=4))

    def count_tokens(self, text: str) -> int:
        return len(text)


def test_prices_count_in_what_a_call_costs_and_in_an_allowance(forky: Forky) -> None:
    forky.add_model(Counting())
    chat = forky.create("Dear", model="house/two")
    chat.people.set(Person("Ada", dollars=0.5))
    ada = chat.people.as_person("Ada")
    ada.ask("Is it?")
    (call,) = chat.calls.generations
    assert call.usage.cost == pytest.approx(6 * 0.01 + 4 * 0.001 + 3 * 0.1)
    assert chat.people.spent("Ada").dollars == pytest.approx(call.usage.cost)
    with pytest.raises(ModelError, match="used up while this answer was written"):
        ada.ask("Is it now?")
    assert ada.people.post("And now?").silent


def test_a_model_that_counts_nothing_is_priced_by_its_own_count(forky: Forky) -> None:
    chat, reply = asked(forky, lambda _: "Yes.", input_price=0.5, output_price=2.0)
    (call,) = chat.calls.generations
    assert call.usage.prompt_tokens and call.usage.completion_tokens
    assert call.usage.cost == call.usage.prompt_tokens * 0.5 + call.usage.completion_tokens * 2.0
    assert reply.text == "Yes."


@pytest.mark.parametrize(("came", "answers"), [("", 0), ("So far", 1)], ids=["nothing", "some"])
def test_a_call_that_fails_has_a_price_only_once_something_has_arrived(
    forky: Forky, came: str, answers: int
) -> None:
    def breaks(_: object) -> Iterator[str]:
        yield came
        raise ValueError("the disk is gone")

    forky.add_model(FunctionModel("house/one", breaks, input_price=0.0001, output_price=0.0001))
    chat = forky.create("Dear", model="house/one")
    chat.people.set(Person("Ada", dollars=5.0))
    with pytest.raises(ModelError, match="the disk is gone"):
        chat.people.as_person("Ada").ask("Is it?")
    assert (chat.calls.generations[0].usage.cost is None) == (answers == 0)
    assert chat.people.spent("Ada").answers == answers
    assert (chat.people.spent("Ada").dollars > 0) == (answers > 0)


def test_a_price_that_is_not_known_stays_unknown(forky: Forky) -> None:
    chat, _ = asked(forky, lambda _: "Yes.", input_price=None)
    assert chat.calls.generations[0].usage.cost is None


async def _awaited(_: object) -> str:
    return "Later."


async def _pieces(_: object) -> AsyncIterator[str]:
    yield "In "
    yield "pieces."


@pytest.mark.parametrize(("function", "text"), [(_awaited, "Later."), (_pieces, "In pieces.")])
def test_a_function_may_be_an_async_one(forky: Forky, function: Any, text: str) -> None:
    assert asked(forky, function)[1].text == text


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        *((None, "not NoneType"), (5, "text belongs here, and not int"), ({"content": "x"}, "not dict")),
        *((b"x", "not int"), (["a", 1], "here, and not int")),
    ],
)
def test_what_is_no_text_is_a_failed_reply(forky: Forky, wrong: Any, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        asked(forky, lambda _: wrong)


def test_a_function_that_leaves_the_program_ends_its_reply(forky: Forky) -> None:
    with pytest.raises(ModelError, match="SystemExit: 2"):
        asked(forky, lambda _: sys.exit(2))


def test_a_function_that_heeds_no_limit_keeps_nobody_waiting(forky: Forky) -> None:
    gate = Event()
    forky.add_model(FunctionModel("house/one", lambda _: str(gate.wait(HANG))))
    chat = forky.create("Stuck", model="house/one")
    with pytest.raises(ModelError, match=r"not complete after 0\.1 seconds"):
        chat.ask("Hello?", timeout=0.1)
    gate.set()
    assert [message.text for message in chat] == ["Hello?"]


def test_what_is_no_model_is_refused_before_it_is_asked(forky: Forky) -> None:
    for price in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="not below 0"):
            FunctionModel("house/one", str, input_price=price)
    for wrong in ((None, "house/one"), (str, "")):
        with pytest.raises(TypeError, match="has a name and a function"):
            FunctionModel(wrong[1], wrong[0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="FunctionModel makes one of a function"):
        forky.add_model(str)  # type: ignore[arg-type]
