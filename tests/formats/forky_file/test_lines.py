"""Lines of a Forky chat file: which are written once, and what a line that makes no sense is refused with."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from forky_core.formats import forky_file
from forky_core.formats.forky_file.lines import (
    BadLine,
    generation_line,
    generation_of,
    operation_line,
    operation_of,
)
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.model import ConversationId, Operation
from forky_core.model.erasure import operation_id_now
from tests.builders import workspace
from tests.formats.forky_file.chats import with_everything
from tests.programs import CHECKOUT
from tests.store.talk import full_generation, said

HERE = ConversationId("01890000-0000-7000-8000-000000000001")


def test_what_the_first_line_and_the_refs_say_is_no_entry_besides() -> None:
    """The title is in the first line and a branch's rules are with its ref: neither is written a second time."""
    forky, _ = workspace()
    chat = chat_of(forky.store, with_everything(forky).id)
    assert "title" in chat.entries and any(key.startswith("rules/") for key in chat.entries)
    rows = [json.loads(row) for row in written(chat)]
    entries = {row["key"] for row in rows if row.get("type") == "entry"}
    told = ("heads/", "rules/", "tags/", "kept/", "stash/")
    assert entries == {
        key for key in chat.entries if key not in {"title", "forked_from"} and not key.startswith(told)
    }


@pytest.fixture
def operation() -> tuple[dict[str, Any], Operation]:
    """The first operation of a conversation, as a line has it."""
    forky, _ = workspace()
    chat = forky.create("Boats")
    first = forky.store.operations(chat.id)[0]
    return json.loads(operation_line(first))["operation"], first


def test_a_generation_is_read_as_it_was_written_and_its_schema_names_every_field() -> None:
    full = full_generation(2, said("hello"))
    body = json.loads(generation_line(full))["generation"]
    assert generation_of(body) == full
    schema = json.loads(resources.files(forky_file).joinpath("forky-chat-1.schema.json").read_text("utf-8"))
    assert body.keys() <= schema["$defs"]["generation"]["properties"]["generation"]["properties"].keys()
    manual = (CHECKOUT / "docs/format.md").read_text("utf-8")
    assert [name for name in body if f"`{name}`" not in manual] == []


def test_an_operation_is_read_as_it_was_written(operation: tuple[dict[str, Any], Operation]) -> None:
    body, first = operation
    assert operation_of(body, first.conversation, None) == first


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verb", None),
        ("changes", 7),
        ("changes", [["title", None]]),
        ("number", "first"),
        ("at", None),
        ("reverts", ["x"]),
        ("reverts", [None]),
    ],
)
def test_an_operation_without_its_fields_is_refused_in_a_sentence(
    operation: tuple[dict[str, Any], Operation], key: str, value: Any
) -> None:
    body, _ = operation
    if key == "verb":
        del body[key]
    else:
        body[key] = value
    with pytest.raises(BadLine, match=r"docs/format\.md"):
        operation_of(body, HERE, None)


@pytest.mark.parametrize(("key", "value"), [("number", 2)])
def test_an_operation_that_was_changed_is_refused(
    operation: tuple[dict[str, Any], Operation], key: str, value: Any
) -> None:
    body, _ = operation
    with pytest.raises(BadLine, match="the log was changed"):
        operation_of({**body, key: value}, HERE, None)


@pytest.mark.parametrize(("key", "value"), [("actor", "somebody"), ("verb", "undo"), ("summary", "Said")])
def test_an_operation_that_was_changed_has_another_id_than_its_line_says(
    operation: tuple[dict[str, Any], Operation], key: str, value: Any
) -> None:
    body, made = operation
    assert operation_id_now(made) == made.id
    changed = operation_of({**body, key: value}, made.conversation, None)
    assert changed.id == made.id != operation_id_now(changed)
