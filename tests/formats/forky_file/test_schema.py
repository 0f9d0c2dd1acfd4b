"""docs/format.md and its schema, held against the files we write."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forky_core import formats
from forky_core.conversation.workspace import Workspace
from tests.formats.forky_file.chats import file_of, parsed, with_everything, with_requests

CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    text = resources.files(formats).joinpath("forky_file/forky-chat-1.schema.json").read_text("utf-8")
    Draft202012Validator.check_schema(json.loads(text))
    return Draft202012Validator(json.loads(text))


def test_every_line_we_write_is_valid(schema: Draft202012Validator, forky: Workspace) -> None:
    kinds = set()
    for row in file_of(forky, with_everything(forky)).splitlines():
        value = json.loads(row)
        kinds.add(value["type"])
        schema.validate(value)
    assert kinds == {"session", "message", "generation", "operation", "blob", "ref", "stash", "entry"}


def test_requests_are_valid_with_what_they_propose(schema: Draft202012Validator, forky: Workspace) -> None:
    entries, reviews = [], []
    for row in file_of(forky, with_requests(forky)).splitlines():
        value = json.loads(row)
        schema.validate(value)
        if value.get("key", "").startswith("requests/"):
            entries.append(value)
        elif value.get("key", "").startswith("reviews/"):
            reviews.append(value)
    [review] = reviews
    assert review["key"] == "reviews/1/ben"
    for name, value in (("state", "perhaps"), ("lands", 5), ("sources", []), ("at", "x")):
        assert not schema.is_valid({**review, "value": {**review["value"], name: value}})
    special = {"others", "picks", "words", "policy"}
    assert [set(entry["value"]) & special for entry in entries] == [
        {one} for one in ("others", "picks", "words", "policy")
    ]
    for wrong in (
        *({"picks": "b2:00"}, {"others": ["idea"]}, {"state": "perhaps"}, {"words": "x"}, {"budget": "10"}),
        *({"choices": {"a": ["mine"]}}, {"graft": "c1"}, {"policy": "whatever"}, {"again": 1}),
    ):
        assert not schema.is_valid({**entries[0], "value": {**entries[0]["value"], **wrong}})


def test_lines_of_unknown_types_are_valid(schema: Draft202012Validator) -> None:
    schema.validate({"type": "mood", "score": 1})


@pytest.mark.parametrize(
    "line",
    [
        {"type": "session", "harness": "forky", "format": "forky-chat/2", "id": "x", "name": ""},
        {"type": "message", "message": {"id": "b2:0", "parents": [], "role": "user", "content": ""}},
        {"type": "ref", "name": "heads/main"},
        {"type": "generation", "generation": {"id": "g", "model": "m", "status": "running"}},
        {"type": "operation", "operation": {"number": 0}},
    ],
)
def test_what_the_specification_forbids_is_invalid(
    schema: Draft202012Validator, line: dict[str, Any]
) -> None:
    assert not schema.is_valid(line)


def test_the_example_of_the_specification_is_a_file() -> None:
    text = (CHECKOUT / "docs" / "format.md").read_text("utf-8")
    example = re.search(r"```\n(\{\"type\":\"session\".*?)```", text, re.DOTALL)
    assert example is not None
    chat = parsed(example.group(1))
    assert next(message.text for message in chat.messages.values()) == "Suggest a name for a pet pelican"


def test_no_setting_of_the_workspace_is_in_a_file(forky: Workspace) -> None:
    forky.store.set_setting("server", "http://192.0.2.7:11434")
    assert "192.0.2.7" not in file_of(forky, with_everything(forky))
