"""Export, import into an empty database, export: the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of, part_of, written
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model.hashing import message_id
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, talk, workspace
from tests.examples import examples
from tests.formats.forky_file.chats import came_back, file_of, parsed, with_everything, with_requests


def in_memory(_folder: Path) -> Workspace:
    return Workspace(MemoryStore(), ScriptedModels())


def in_duckdb(folder: Path) -> Workspace:
    return Forky.open(folder / "other.duckdb", models=ScriptedModels())


@pytest.mark.parametrize("empty", [in_memory, in_duckdb])
def test_a_file_that_is_imported_and_exported_has_the_same_bytes(
    empty: Callable[[Path], Workspace], tmp_path: Path, forky: Workspace
) -> None:
    chat = with_everything(forky)
    text = file_of(forky, chat)
    with empty(tmp_path) as other:
        done = adopt(other, parsed(text))
        assert (done.outcome, done.conversation) == ("new", chat.id)
        assert file_of(other, other.conversation(chat.id)) == text
        assert other.verify().clean
        assert other.conversation(chat.id).history.next_undo == chat.history.next_undo, (
            "what can be undone came along"
        )


def test_the_folder_comes_along(forky: Workspace) -> None:
    chat = talk(forky.create("Ships"), "Why do they float?")
    chat.put_into("Sea")
    other, _ = workspace()
    adopt(other, parsed(file_of(forky, chat)))
    assert other.conversation(chat.id).view.folder == "Sea"


def test_importing_it_twice_adds_nothing(forky: Workspace) -> None:
    text = file_of(forky, with_everything(forky))
    other, _ = workspace()
    adopt(other, parsed(text))
    again = adopt(other, parsed(text))
    assert (again.outcome, again.messages) == ("unchanged", 0)


def test_the_ids_in_a_file_are_those_of_its_contents(forky: Workspace) -> None:
    chat = parsed(file_of(forky, with_everything(forky)))
    for message in chat.messages.values():
        assert message.id == message_id(message.parents, message.role, message.parts, message.name)


def test_a_file_that_went_on_only_has_lines_inserted(forky: Workspace) -> None:
    chat = with_everything(forky)
    before = file_of(forky, chat).splitlines()
    chat.ask("And then?")
    after = file_of(forky, chat).splitlines()
    lost = [line for line in before if line not in after]
    assert [json.loads(line)["name"] for line in lost] == [f"heads/{chat.branch_name}"], (
        "only a ref is rewritten"
    )
    kept = [line for line in after if line in before]
    assert kept == [line for line in before if line in after], "what stays keeps its order"


def test_one_branch_makes_a_file_of_its_own(forky: Workspace) -> None:
    whole = chat_of(forky.store, with_everything(forky).id)
    tip = whole.view.branches["debug"].head
    assert tip is not None
    part = parsed("".join(written(part_of(whole, {"debug": tip}))))
    assert list(part.view.branches) == ["debug"]
    assert set(part.messages) < set(whole.messages)
    assert part.operations == ()
    other, _ = workspace()
    adopt(other, part)
    assert other.conversation(whole.id).branch.head == tip


TEXT = st.text(max_size=8)


@given(st.lists(st.tuples(st.integers(0, 6), TEXT.filter(str.strip), st.booleans()), max_size=8))
@settings(deadline=None, max_examples=examples(40))
def test_any_conversation_comes_back_whole(steps: list[tuple[int, str, bool]]) -> None:
    forky, _ = workspace()
    chat = forky.create("x")
    for at, text, forks in steps:
        path = chat.path()
        if forks and path:
            chat = chat.fork(at=path[at % len(path)].id)
        chat.say(text, role="assistant" if at % 2 else "user")
    came_back(forky, chat)


def test_what_a_request_proposes_comes_along(forky: Workspace) -> None:
    """Several branches and picks are the request's own; it is accepted where it arrived."""
    chat = with_requests(forky)
    assert any(one.others for one in chat.requests.all) and any(one.picks for one in chat.requests.all)
    arrived = came_back(forky, chat)
    assert arrived.requests.all == chat.requests.all
    assert {field for one in arrived.requests.all for field in one.stored()} >= {
        *("others", "picks", "focus", "budget", "words", "policy", "model", "again", "choices")
    }
    for one in arrived.requests.all[1:]:
        arrived.merge(arrived.requests.accepting(one.number, arrived.requests.plan(one.number, again=True)))
    assert {one.state for one in arrived.requests.all[1:]} == {"accepted"}


def test_requests_settled_conflicts_and_what_was_deleted_come_along(forky: Workspace) -> None:
    """The checks of a file's log refuse nothing that Forky itself writes."""
    chat = talk(forky.create("Server"), "Plan the server.", "The port is 8080.")
    debug = talk(chat.fork("debug"), "No, use port 9090.", "Done.")
    talk(chat, "The port is 7070.", "Noted.")
    chat.requests.open("debug", note="Please.")
    chat.requests.comment(1, "Why?")
    chat.requests.decline(1, "Not now.")
    plan = chat.plan_merge("debug", strategy="three-way")
    assert isinstance(plan, ThreeWayPlan)
    chat.merge(plan.resolved({"port": Choice("theirs")}))
    debug.rules.set(system="Be brief.")
    debug.tags.add("v1")
    chat.branches.delete("debug")
    chat.undo()
    chat.trash()
    text = file_of(forky, chat)
    assert all(f'"{kind}' in text for kind in ("requests/1", "resolutions/", "trashed", "tags/v1"))
    came_back(forky, chat)
