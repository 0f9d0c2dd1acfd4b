"""Formats that nest a reply in what it answers: a conversation of thousands of messages is thousands of levels deep."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Importer
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.readers.librechat import ROOT, LibreChat
from forky_core.formats.importing.readers.looms import Loom
from forky_core.formats.tree import build_tree
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels
from tests.formats.sources import one, packed, written

Fields = dict[str, object]


def nested(number: int, of: Callable[[int], Fields], key: str) -> str:
    """A chain, written without recursion as well."""
    rows = [f'{json.dumps(of(at))[:-1]}, "{key}": [' for at in range(number)]
    return "".join(rows) + "]}" * number


def librechat(number: int) -> str:
    def message(at: int) -> Fields:
        parent = f"m{at - 1}" if at else ROOT
        said = {"text": f"turn {at}", "isCreatedByUser": at % 2 == 0, "attachments": [{"a": {"b": [at]}}]}
        return {"messageId": f"m{at}", "parentMessageId": parent, **said}

    return f'{{"conversationId":"c","recursive":true,"messages":[{nested(number, message, "children")}]}}'


def loom(number: int) -> str:
    def node(at: int) -> Fields:
        return {"id": f"n{at}", "text": f"turn {at}", "meta": {"source": "prompt" if at == 0 else "model"}}

    return f'{{"root":{nested(number, node, "children")},"selected_node_id":"n{number - 1}"}}'


DEEP = pytest.mark.parametrize(
    ("importer", "write"),
    [(LibreChat(), librechat), (Loom(), loom)],
    ids=["librechat", "loom"],
)


@DEEP
@pytest.mark.parametrize("number", [490, pytest.param(1_000, marks=pytest.mark.long), 5_000])
def test_a_chain_comes_whole_however_long(
    importer: Importer, write: Callable[[int], str], number: int, tmp_path: Path
) -> None:
    forky = Workspace(MemoryStore(), ScriptedModels())
    path = written(tmp_path, write(number))
    lines = list(preview(forky, path))
    done = import_file(forky, path)
    assert done.problems == ()
    assert done.account.adds_up
    assert [line.messages for line in lines] == [number]
    (id,) = done.conversations
    said = [message.text for message in forky.conversation(id).path()]
    assert said == [f"turn {at}" for at in range(number)]
    assert import_file(forky, path).unchanged == 1


@pytest.mark.long
@DEEP
def test_fifty_thousand_below_each_other_are_one_conversation(
    importer: Importer, write: Callable[[int], str], tmp_path: Path
) -> None:
    tree = build_tree(one(importer, written(tmp_path, write(50_000))))
    assert len(tree.messages) == 50_000
    assert tree.messages[-1].id == tree.head
    assert tree.account.adds_up


def test_in_an_archive_they_are_read_as_well(tmp_path: Path) -> None:
    found = one(LibreChat(), packed(tmp_path, {"chats/deep.json": librechat(3_000)}))
    assert len(found.nodes) == 3_000


def test_a_field_that_nobody_can_mean_is_emptied_and_the_message_kept(tmp_path: Path) -> None:
    deep = "[" * 700 + "]" * 700
    found = one(LibreChat(), written(tmp_path, librechat(10).replace('[{"a": {"b": [7]}}]', deep)))
    assert len(build_tree(found).messages) == 10
    assert len(json.dumps(found.nodes[7].extra)) < 700
