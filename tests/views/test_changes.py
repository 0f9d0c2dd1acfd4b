from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Reply
from forky_core.conversation.workspace import Workspace
from forky_core.model import Change
from forky_core.model.parts import canonical_json
from forky_core.views.changes import sentences
from forky_core.wire.chat import chat_call
from tests.builders import talk


def last(chat: Conversation) -> tuple[str, ...]:
    return sentences(chat.history.operations[-1].changes)


def test_each_verb_says_what_it_moved_in_words(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "first", "second")
    first, second = (message.id[3:11] for message in chat.path())
    assert last(chat) == (f"Branch “main”: {first} → {second}",)
    chat.fork("debug")
    assert last(chat) == (f"Branch “debug”: new, at {second}",)
    chat.branches.delete("debug")
    assert last(chat) == (f"Branch “debug”: removed, was at {second}",)
    chat.rules.set(system="Be brief.", model="scripted/two", parameters={"temperature": 0.2})
    assert last(chat) == (
        "Branch “main”, system prompt: none → “Be brief.”",
        "Branch “main”, model: none → “scripted/two”",
        "Branch “main”, temperature: none → “0.2”",
    )
    chat.tags.add("v1")
    assert last(chat) == (f"Tag “v1”: new, at {second}",)
    chat.stashes.create(draft="later", note="idea")
    assert last(chat) == ("Put aside 1: “idea”",)
    chat.stashes.drop(1)
    assert last(chat) == ("Put aside 1: “idea” taken off the list",)
    chat.rename("Other names")
    assert last(chat) == ("Title: “Names” → “Other names”",)
    chat.branches.promote(first)
    assert last(chat) == (
        f"Branch “main”: {second} → {first}",
        f"Message {second} stays in sight without a branch",
    )
    chat.trash()
    assert last(chat) == ("Moved to the trash",)


def test_a_removed_branch_is_one_line_whatever_it_was_set_to(forky: Workspace) -> None:
    chat = forky.create("Names", system="Be brief.")
    chat.fork("debug")
    chat.branches.delete("debug")
    assert last(chat) == ("Branch “debug”: removed, was at nothing yet",)


def test_an_empty_branch_is_at_nothing_yet(forky: Workspace) -> None:
    assert "Branch “main”: new, at nothing yet" in last(forky.create("Names"))


def test_long_values_are_cut_and_kept_on_one_line() -> None:
    (line,) = sentences([Change("title", None, "a\n" * 100_000)])
    assert len(line) < 200 and "\n" not in line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_what_a_programs_call_founded_is_said_in_words(forky: Workspace) -> None:
    call = chat_call([{"role": "user", "content": "Name a port"}])
    founded = forky.record(call, Reply(()), scope="token:1", client="laptop (aider)")
    (operation,) = forky.conversation(founded.conversation).history.operations
    said = sentences(operation.changes)
    assert "Program: none → “laptop (aider)”" in said
    assert {"Calls of one token go on here", "Found by how it begins"} <= set(said)


def test_a_merge_request_is_told_in_words_and_not_as_it_is_stored(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "first", "second")
    talk(chat.fork("side"), "third", "fourth")
    chat.requests.open("side")
    what = "Request for review 1, “side” into “main”"
    assert last(chat) == (f"{what}: “open”",)
    chat.requests.decline(1)
    assert last(chat) == (f"{what}: “declined”",)
    chat.undo()
    assert last(chat) == (f"{what}: “open”",)
    chat.undo()
    chat.undo()
    assert f"{what}: removed" in {line for one in chat.history.operations for line in sentences(one.changes)}


@pytest.mark.parametrize("key", ["future/thing", "requests/1", "", "title", "trashed", "opens/x"])
@given(before=JSON, after=JSON)
def test_every_key_has_words_also_one_of_a_later_forky(key: str, before: Any, after: Any) -> None:
    assert canonical_json(before) is not None
    assume(before != after)  # A request that only has to stay as it is has no sentence.
    assert len(sentences([Change(key, before, after)])) == 1


def test_a_review_says_who_and_what_and_not_what_it_required(forky: Workspace) -> None:
    chat = talk(forky.create("Boats"), "Why?", "Because.")
    chat.requests.open(talk(chat.fork("idea"), "And?", "Yes."))
    ben = chat.people.as_person("ben")
    ben.requests.approve(1)
    assert sentences(chat.history.operations[-1].changes) == ("Request for review 1: ben approves",)
    ben.requests.ask_for_changes(1, "More.")
    assert sentences(chat.history.operations[-1].changes) == ("Request for review 1: ben asks for changes",)
    ben.requests.withdraw_review(1)
    assert sentences(chat.history.operations[-1].changes) == (
        "Request for review 1: ben withdraws the review",
    )
