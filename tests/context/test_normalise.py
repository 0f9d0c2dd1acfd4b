from __future__ import annotations

import copy
import json
from itertools import groupby
from operator import itemgetter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forky_core.context.normalise import OPENING, normalise
from tests.context.validity import problems

words = st.sampled_from(["hello", "", " \n", "ok then", "日本", "{}"])
call_ids = st.sampled_from([None, "", "a", "b", "call_1", "with space", "x" * 90])
names = st.sampled_from(["look", "9lives", "a.b/c", "", "näme"])
pictures = st.just({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})
parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, words),
    pictures,
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
)
contents = st.one_of(words, st.none(), st.lists(parts, max_size=3))
calls = st.builds(
    lambda id, name, arguments: {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    },
    call_ids,
    names,
    st.sampled_from(["{}", '{"a": 1}', "[1]", '"text"', "not json", "", None]),
)
said = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant", "system", "developer"]),
    contents,
)
called = st.builds(
    lambda content, calls: {
        "role": "assistant",
        "content": content,
        "tool_calls": calls,
        "reasoning_content": "hm",
    },
    contents,
    st.lists(calls, max_size=3),
)
answered = st.builds(
    lambda id, name, content: {"role": "tool", "tool_call_id": id, "name": name, "content": content},
    call_ids,
    names,
    contents,
)
histories = st.lists(st.one_of(said, called, answered), max_size=12)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str | None, *ids: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if ids:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id in ids
        ]
    return message


def result(id: str | None, text: str = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": text}


@given(histories)
def test_whatever_comes_in_every_provider_takes_what_comes_out(history: list[dict[str, Any]]) -> None:
    assert problems(normalise(history)) == []


@given(histories)
def test_nothing_that_was_said_is_lost(history: list[dict[str, Any]]) -> None:
    def texts(messages: Any) -> list[str]:
        contents = [message.get("content") for message in messages]
        blocks = [c if isinstance(c, list) else [{"type": "text", "text": c or ""}] for c in contents]
        return [
            part["text"]
            for block in blocks
            for part in block
            if part["type"] == "text" and part["text"].strip()
        ]

    sent = "\n".join(texts(normalise(history)))
    assert all(text in sent for text in texts(history))


@given(histories)
def test_the_messages_handed_in_are_not_changed(history: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(history)
    normalise(history)
    assert history == before


@given(histories)
def test_normalising_twice_changes_nothing_more(history: list[dict[str, Any]]) -> None:
    once = normalise(history)
    assert normalise(once) == once


@given(histories.filter(bool), histories)
def test_what_comes_later_leaves_the_bytes_before_the_last_turn_alone(
    trunk: list[dict[str, Any]], later: list[dict[str, Any]]
) -> None:
    # System text is lifted to the front and a call waits for its results, so neither may straddle the cut.
    trunk = [m for m in trunk if m["role"] not in ("system", "developer")]
    later = [m for m in later if m["role"] not in ("system", "developer", "tool")]
    alone = normalise([*trunk, assistant("so it is")])
    longer = normalise([*trunk, assistant("so it is"), user("next"), *later])
    assert json.dumps(longer[: len(alone)]) == json.dumps(alone)


def test_same_role_neighbours_are_joined() -> None:
    assert normalise([user("a"), user("b"), assistant("c")]) == (user("a\n\nb"), assistant("c"))


def test_an_opening_assistant_is_preceded_by_a_user_line() -> None:
    assert normalise([assistant("Welcome")]) == (user(OPENING), assistant("Welcome"))


def test_system_text_is_lifted_and_joined() -> None:
    history = [
        user("a"),
        {"role": "system", "content": "one"},
        assistant("b"),
        {"role": "system", "content": "two"},
    ]
    assert normalise(history) == ({"role": "system", "content": "one\n\ntwo"}, user("a"), assistant("b"))


def test_parallel_calls_written_as_two_messages_become_one_turn_with_results_in_call_order() -> None:
    sent = normalise(
        [user("q"), assistant(None, "a"), assistant(None, "b"), result("b", "2"), result("a", "1")]
    )
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["a", "b"]
    assert [message["content"] for message in sent[2:]] == ["1", "2"]


def test_a_call_without_result_and_a_result_without_call_become_words() -> None:
    sent = normalise([user("q"), assistant("let me look", "a"), user("well?"), result("z", "late")])
    assert sent == (
        user("q"),
        assistant("let me look\n\n[called the tool look with {}]"),
        user("well?\n\n[result of the tool look]\nlate"),
    )


def test_an_unanswered_call_beside_an_answered_one_becomes_words_and_the_pair_stays() -> None:
    sent = normalise([user("q"), assistant(None, "a", "b"), result("b")])
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["b"]
    assert "called the tool look" in sent[1]["content"]


def test_colliding_tool_ids_are_renamed_with_their_results() -> None:
    history = [user("q"), assistant(None, "a"), result("a"), user("again"), assistant(None, "a"), result("a")]
    sent = normalise(history)
    first, second = (message["tool_calls"][0]["id"] for message in sent if message.get("tool_calls"))
    assert first == "a" != second
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == [first, second]


def test_messages_that_need_no_change_come_back_as_the_same_objects() -> None:
    history = [user("a"), assistant("b"), user("c"), assistant("d")]
    assert all(ours is theirs for ours, theirs in zip(history, normalise(history), strict=True))


@given(
    st.lists(
        st.one_of(said, called, answered, st.builds(user, st.just("hi")), st.builds(assistant, st.just("ok")))
    )
)
def test_naming_the_stretches_of_words_changes_nothing(history: list[dict[str, Any]]) -> None:
    plain = [
        len(message) == 2
        and message["role"] in ("user", "assistant")
        and isinstance(message["content"], str)
        and bool(message["content"].strip())
        for message in history
    ]
    stretches: list[tuple[int, int]] = []
    for words, group in groupby(enumerate(plain), key=itemgetter(1)):
        places = [at for at, _ in group]
        if words:
            stretches.append((places[0], places[-1] + 1))
    assert normalise(history, stretches) == normalise(history)
