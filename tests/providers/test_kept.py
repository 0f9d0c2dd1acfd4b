"""Why an answer ended is stored, shown in plain words, and exported with the conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core import Forky
from forky_core.formats.forky_file.lines import generation_line, generation_of
from forky_core.formats.recorded_call import read_call
from forky_core.matching.keys import folded
from forky_core.model.parts import ReasoningPart, TextPart
from forky_core.model.thoughts import split_thoughts
from forky_core.views.captions import ended
from tests.providers.scripted import End, Mark, Text, provider

SHOWN = (
    ("end_turn", ("stop", "end_turn"), ""),
    ("max_tokens", ("length", "max_tokens"), "Cut at the token limit."),
    (
        "model_context_window_exceeded",
        ("length", "model_context_window_exceeded"),
        "Cut because the context window was full.",
    ),
    ("refusal", ("content_filter", "refusal"), "Refused by the model."),
    ("safety", ("content_filter", "safety"), "Cut by the provider's content filter (safety)."),
    (
        "reason_of_next_year",
        ("reason_of_next_year", ""),
        "Ended with “reason_of_next_year”, in the provider's word.",
    ),
)
"""Claude's word, the two words that are stored, what a person reads."""


def test_why_an_answer_ended_is_stored_shown_and_exported(tmp_path: Path) -> None:
    place = tmp_path / "ends.duckdb"
    with provider("anthropic") as server:
        models = server.catalogue()
        with Forky.open(place, models=models) as forky:
            chat = forky.create("Ends")
            for word, _, _ in SHOWN:
                server.scripts[:] = [(Text(f"Part {word}"), End(word), Mark())]
                chat.ask("Which port?", model=server.wire.model)
    with Forky.open(place) as forky:
        chat = forky.conversation(forky.conversations()[0].id)
        calls = list(chat.calls.generations)
        assert [(call.finish_reason, call.provider_reason) for call in calls] == [two for _, two, _ in SHOWN]
        assert [ended(call) for call in calls] == [sentence for _, _, sentence in SHOWN]
        lines = [generation_line(call) for call in calls]
    again = [generation_of(json.loads(line)["generation"]) for line in lines]
    assert again == calls


UNOPENED = "Maybe 9999?\n\nNo.\n</think>\n\nIt is 8080."


def test_a_thought_that_the_template_began_is_no_answer_and_is_not_sent_again() -> None:
    with provider("local") as server, Forky.open(":memory:", models=(models := server.catalogue())) as forky:
        models.refresh(now=True, wait=10.0)
        chat = forky.create("Thoughts", model=f"127.0.0.1:{server.port}/scripted")
        server.answer(*map(Text, (UNOPENED[:20], UNOPENED[20:])), End("stop"), Mark())
        assert chat.ask("Which port?").parts == (ReasoningPart("Maybe 9999?\n\nNo."), TextPart("It is 8080."))
        chat.ask("Sure?")
        assert "9999" not in json.dumps(server.requests[-1])


@pytest.mark.parametrize(
    "text",
    ["`</think>` ends it.", "```\n</think>\n```\nends it.", "<thinking\n</think>\nends", "So:</think> A."],
)
def test_the_end_of_a_thought_that_an_answer_speaks_of_is_text(text: str) -> None:
    assert split_thoughts(text) == ("", text)


def test_a_thought_in_the_text_of_an_answer_changes_no_match_and_is_none_of_a_recorded_one() -> None:
    assert folded(UNOPENED) == folded("It is 8080.")
    request = {"model": "r1", "messages": [{"role": "user", "content": "Which port?"}]}
    for said in (UNOPENED, f"<think>{UNOPENED}"):
        response = {"choices": [{"message": {"role": "assistant", "content": said}}]}
        (answer,) = read_call({"forky": "call", "request": request, "response": response}).answers
        assert answer.parts == (ReasoningPart("Maybe 9999?\n\nNo."), TextPart("It is 8080."))


@pytest.mark.parametrize(
    ("choice", "reason", "own"),
    [
        ({"finish_reason": "stop"}, "stop", ""),
        ({"finish_reason": "stop", "message": {"refusal": "No."}}, "content_filter", "refusal"),
        (
            {"finish_reason": "content_filter", "provider_specific_fields": {"native_finish_reason": "SPII"}},
            "content_filter",
            "SPII",
        ),
        ({"finish_reason": "reason_of_next_year"}, "reason_of_next_year", ""),
        ({}, None, ""),
    ],
)
def test_why_a_recorded_answer_ended_is_kept(choice: dict[str, object], reason: str | None, own: str) -> None:
    message = {"role": "assistant", "content": "Part of it"}
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Which port?"}]}
    response = {"choices": [{"message": message, **choice}]}
    (answer,) = read_call({"forky": "call", "request": request, "response": response}).answers
    assert (answer.finish_reason, answer.provider_reason) == (reason, own)
