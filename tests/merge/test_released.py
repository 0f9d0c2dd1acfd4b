"""Merges as a former version landed them, with payloads that nothing writes any more.

`released/three-way-claims.duckdb.gz` was made by the last version whose three-way merges told claims, found by rules or
asked of a model as JSON, and whose squashes told what a branch had taken back. It has a conversation for each.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.corrections import corrected_lines
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.views import captions
from tests.builders import talk, workspace
from tests.formats.forky_file.chats import parsed

RELEASED = Path(__file__).with_name("released") / "three-way-claims.duckdb.gz"


@pytest.fixture
def released(tmp_path: Path) -> Iterator[Workspace]:
    path = tmp_path / "forky.duckdb"
    path.write_bytes(gzip.decompress(RELEASED.read_bytes()))
    with DuckDBStore.open(path) as store:
        yield workspace(store)[0]


def named(forky: Workspace, title: str, branch: str = "main") -> Conversation:
    (found,) = (one for one in forky.conversations() if one.title == title)
    return forky.conversation(found.id, branch)


def told(chat: Conversation) -> str:
    """The payloads of the branch, as the model reads them."""
    sent = "\n".join(str(message["content"]) for message in chat.context().messages)
    for message in chat.path():
        for merge in message.merges:
            assert merge.text in sent
    return sent


CLAIMS = (
    "Constraints:\n- The backups must not run at night. [9add26]\nDecisions:\n- Decision: log as JSON. [2538af]\n"
    "Tried without success:\n- I tried to restart it, but it did not work. [080e0b]"
)
BY_A_MODEL = (
    "Constraints:\n- The proxy limit must not be raised; billing shares it. [f88117]\n"
    "Results:\n- The largest report took 41 seconds in batches. [f88117]\n"
    "Word for word:\n- deploy/proxy.conf [cce222]\n"
)


def test_old_merges_are_read_shown_and_exported_as_they_landed(released: Workspace) -> None:
    assert CLAIMS in told(named(released, "By rules"))
    assert BY_A_MODEL in told(named(released, "By a model"))
    assert "Preferences:\n- We prefer Caddy. [db23d6]" in told(named(released, "Several"))
    assert "Tried and undone:\nuser: The hotel costs 320 euros. [d6e8ad]" in told(named(released, "Undone"))
    assert "- No, the prefetch is 20. (no longer: 50) [6b420c]" in told(named(released, "Corrected"))
    assert released.verify().clean
    for one in released.conversations():
        chat = released.conversation(one.id)
        file = "".join(written(chat_of(released.store, chat.id)))
        assert all(message.id in file for message in chat.path())
        assert parsed(file).messages.keys() == chat.visible.messages.keys()


def test_what_was_settled_stays_settled_and_what_was_open_can_be_settled(released: Workspace) -> None:
    assert named(released, "By rules").merges.unresolved == ()
    assert named(released, "Several").merges.unresolved == ()
    for chat, key, texts in (
        (named(released, "By rules", "open"), "port", {"The port is 7070.", "No, use port 9090."}),
        (
            named(released, "By a model"),
            "batch size",
            {"A batch has 200 lines.", "Export writes in batches of 5000 rows."},
        ),
    ):
        (clash,) = chat.merges.unresolved
        assert clash.about == key and set(clash.texts) == texts
        chat.merge(chat.merges.plan_resolution({key: Choice("theirs")}))
        assert chat.merges.unresolved == ()
        chat.undo()
        assert len(chat.merges.unresolved) == 1


def test_captions_and_corrections_are_those_of_before(released: Workspace) -> None:
    opened, *_ = [message for message in named(released, "By a model").path() if message.merges]
    assert captions.merged(opened).endswith("1 left unresolved, written by scripted/two")
    first, second = [message for message in named(released, "Corrected").path() if message.merges]
    (line,) = corrected_lines(named(released, "Corrected").path())[first.id]
    assert (line.line, line.by) == ("Decision: the prefetch is 50.", second.id)


def test_old_merges_are_undone_and_merged_again_by_the_code_of_today(released: Workspace) -> None:
    chat = named(released, "By a model")
    before = chat.head
    chat.undo()
    plan = chat.plan_merge("export", strategy="three-way", budget=600)
    assert isinstance(plan, ThreeWayPlan) and "Constraints:" not in plan.payload
    chat.merge(plan)
    assert chat.head != before
    chat.undo()
    chat.redo()
    assert chat.head is not None and chat.head.merge is not None and chat.head.merge.text == plan.payload


def test_lines_of_old_merges_are_passed_on_by_the_next_one(released: Workspace) -> None:
    chat = named(released, "By a model")
    aside = talk(chat.fork("aside", at=chat.path()[1].id), "Another idea?", "None.")
    strategies: tuple[str, ...] = ("squash", "three-way")
    for strategy in strategies:
        plan = aside.plan_merge("main", strategy=strategy, budget=600)
        assert BY_A_MODEL.splitlines()[1] in plan.payload
        assert plan.payload.count("batch size: ") == 1


def test_a_request_that_named_a_model_and_a_side_is_planned_with_them(released: Workspace) -> None:
    chat = named(released, "Requested")
    request = chat.requests.get(1)
    assert request.options.model == "scripted/two"
    plan = chat.requests.plan(1, model=None)
    assert isinstance(plan, ThreeWayPlan) and plan.unresolved == ()
    assert "port: No, use port 9090. (instead of: The port is 7070.)" in plan.payload


def test_a_summary_of_before_is_made_anew(released: Workspace) -> None:
    text = str(named(released, "Summed up").context().messages[0]["content"])
    assert "summed up by rules" in text and "Decisions:" not in text and "listens on port" in text
