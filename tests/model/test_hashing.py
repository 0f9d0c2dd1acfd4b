"""Ids follow the contract simonw/llm documents, and any text can be hashed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.model import seal
from forky_core.model.hashing import content_hash, mend_json, mend_part, mend_text, message_id
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    arguments_json,
    canonical_json,
    part_from_stored,
)

EXAMPLE = Path(__file__).parents[3] / "shared" / "format" / "example.forky.jsonl"
any_text = st.text(st.characters(exclude_categories=()))


def test_ids_equal_those_llm_documents() -> None:
    asked = message_id((), "user", (TextPart("Suggest a name for a pet pelican"),))
    answered = message_id(
        (asked,), "assistant", (TextPart("How about Percy? Pelicans suit a dignified name."),)
    )
    assert asked == "b2:d6b0cd4e7a65ea90423c50fadb3f5704"
    assert answered == "b2:0f2c02ad982050b623b7e034199c8c61"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the shared format example is not here")
def test_ids_equal_those_of_the_draft_file_format() -> None:
    lines = [json.loads(line) for line in EXAMPLE.read_text().splitlines()]
    messages = [line["message"] for line in lines if line["type"] == "message"]
    linear = [message for message in messages if len(message["parents"]) < 2]
    assert linear
    for message in linear:
        assert (
            message_id(message["parents"], message["role"], (TextPart(message["content"]),)) == message["id"]
        )


def test_the_place_is_part_of_the_id() -> None:
    part = (TextPart("yes"),)
    one, two = message_id(("b2:1",), "user", part), message_id(("b2:2",), "user", part)
    merged = message_id(("b2:1", "b2:2"), "user", part)
    swapped = message_id(("b2:2", "b2:1"), "user", part)
    assert len({one, two, merged, swapped}) == 4


def test_the_author_is_part_of_the_id_and_the_source_is_not() -> None:
    text = (TextPart("yes"),)
    plain = seal(Draft("user", text), ())
    assert seal(Draft("user", text, name="Ana"), ()).id != plain.id
    assert seal(Draft("user", text, sources=("b2:0",)), (), created=5, hidden=True).id == plain.id


def test_a_file_name_is_shown_and_not_hashed() -> None:
    one, two = (
        AttachmentPart("a" * 64, "image/png", "one.png"),
        AttachmentPart("a" * 64, "image/png", "two.png"),
    )
    assert message_id((), "user", (one,)) == message_id((), "user", (two,))
    assert one.stored() != two.stored()


@given(any_text, any_text)
def test_any_text_can_be_sealed(text: str, name: str) -> None:
    message = seal(Draft("user", (TextPart(text),), name=name), ())
    message.text.encode()
    assert message_id((), "user", message.parts, message.name) == message.id


@given(any_text)
def test_mending_is_idempotent_and_leaves_good_text_alone(text: str) -> None:
    mended = mend_text(text)
    mended.encode()
    assert mend_text(mended) == mended
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert mended == text


def test_a_split_pair_is_joined_and_a_lone_half_replaced() -> None:
    assert mend_text("\ud83e\udd86") == "🦆"
    assert mend_text("a\ud83eb") == "a\ufffdb"
    assert mend_json({"\ud83e": ["\udd86", 1, None]}) == {"\ufffd": ["\ufffd", 1, None]}
    assert mend_part(TextPart("\ud83e")) == TextPart("\ufffd")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
parts = st.one_of(
    st.builds(TextPart, st.text()),
    st.builds(ReasoningPart, st.text(), st.booleans(), st.none() | st.just('{"signature":"x"}')),
    st.builds(
        ToolCallPart,
        st.text(),
        st.dictionaries(st.text(), json_values).map(canonical_json),
        st.none() | st.text(),
    ),
    st.builds(AttachmentPart, st.just("0" * 64), st.just("text/plain"), st.text()),
    st.builds(
        MergePart, st.just("squash"), st.text(), st.tuples(st.text()), st.text(), st.tuples(), st.text()
    ),
)


@given(parts)
def test_a_part_comes_back_from_what_is_stored(part: TextPart) -> None:
    assert part_from_stored(json.loads(canonical_json(part.stored()))) == part


@given(
    st.dictionaries(st.text(), json_values),
    st.sampled_from(["text", "tool_call", "merge", "attachment", "new"]),
)
def test_a_part_of_any_shape_hashes_as_it_is(fields: dict[str, object], kind: str) -> None:
    stored = {**fields, "type": kind}
    part = part_from_stored(stored)
    if not isinstance(part, AttachmentPart):
        assert content_hash(part.hashed()) == content_hash(stored)
    assert part.stored() == stored


def test_a_known_part_with_a_later_field_is_kept_whole() -> None:
    stored = {"type": "text", "text": "hello", "tone": "warm"}
    assert isinstance(part_from_stored(stored), OpaquePart)
    assert part_from_stored(stored).stored() == stored


@pytest.mark.parametrize(
    ("written", "kept"),
    [('{"b": 1, "a": 2}', '{"a":2,"b":1}'), ("", "{}"), ("not json", '"not json"'), ("[1]", '"[1]"')],
)
def test_tool_arguments_are_kept_as_an_object_or_as_they_were_written(written: str, kept: str) -> None:
    assert arguments_json(written) == kept


def test_where_a_graft_came_from_is_stored_and_never_hashed() -> None:
    here = MergePart("full", "side", ("b2:0",), "text")
    graft = MergePart("full", "side", ("b2:0",), "text", conversation="elsewhere")
    assert message_id((), "user", [here]) == message_id((), "user", [graft])
    assert part_from_stored(graft.stored()) == graft != here


@given(any_text, st.none() | st.just("b2:" + "0" * 32))
def test_a_plain_text_is_hashed_as_any_other_message_is(text: str, parent: str | None) -> None:
    text = mend_text(text)
    long_way = {"parent": parent, "message": {"role": "user", "parts": [{"type": "text", "text": text}]}}
    assert message_id([parent] if parent else [], "user", [TextPart(text)]) == content_hash(long_way)
