"""A model reads branches or answers side by side when somebody asks for it; what it finds is kept."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.note_writing import VERIFIER
from forky_core.conversation.workspace import Workspace
from forky_core.llm.scripted import Fail
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.conflicts.examination import NotExamined
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model.errors import ModelError, NothingToDo
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, talk

MAIN = "Raise max_connections to 300 on the primary."
SIDE = "Do not raise max_connections before the pooler is in."


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def chat(models: ScriptedModels) -> Conversation:
    """Two branches that disagree in words which no rule sets against each other."""
    forky = Workspace(MemoryStore(), models)
    chat = talk(forky.create("Pool"), "The database refuses connections.", "Let us see.")
    talk(chat.fork("side"), "And here?", SIDE)
    return talk(chat, "What now?", MAIN)


def answer(one: str, other: str, *, kind: str = "CONFLICT") -> str:
    """Whichever label a text has, one of the two entries is right, and code drops the other."""
    return "\n\n".join(
        f'{kind} max_connections\n{a}: "{one}"\n{b}: "{other}"' for a, b in (("A", "B"), ("B", "A"))
    )


def plan(chat: Conversation, strategy: str = "three-way") -> ThreeWayPlan:
    made = chat.plan_merge("side", strategy=strategy)
    assert isinstance(made, ThreeWayPlan)
    return made


def test_planning_asks_nobody_and_nobody_has_examined(chat: Conversation, models: ScriptedModels) -> None:
    for strategy in ("squash", "full", "three-way"):
        made = chat.plan_merge("side", strategy=strategy)
        assert made.examined_by == "" and made.conflicts == ()
    assert not models.one.requests and not models.two.requests


def test_what_a_model_finds_is_in_every_plan_of_its_texts(chat: Conversation, models: ScriptedModels) -> None:
    models.one.enqueue(answer(MAIN, SIDE))
    found = chat.merges.examine(plan(chat))
    assert found.model == "scripted/one" and len(models.one.requests) == 1
    (conflict,) = plan(chat).conflicts
    assert not conflict.possible and conflict.found_by == "scripted/one"
    assert [(one.side, one.text) for one in conflict.says] == [("main", MAIN), ("side", SIDE)]
    squash = chat.plan_merge("side")
    assert squash.examined_by == "scripted/one" and squash.conflicts[0].texts == conflict.texts
    assert any(warning.startswith("A conflict: “main” says “Raise") for warning in squash.warnings)
    (other,) = chat.checkout("side").plan_merge("main", strategy="full").conflicts
    assert [one.text for one in other.mine] == [SIDE]
    assert len(models.one.requests) == 1


def test_it_is_asked_anew_once_a_text_has_changed(chat: Conversation, models: ScriptedModels) -> None:
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(plan(chat))
    talk(chat.checkout("side"), "Sure?", "Quite sure.")
    assert plan(chat).examined_by == "" and plan(chat).conflicts == ()
    models.one.enqueue("NO CONFLICT")
    chat.merges.examine(plan(chat))
    assert plan(chat).examined_by == "scripted/one" and plan(chat).conflicts == ()


def test_the_model_that_reads_merges_in_settings_is_asked(chat: Conversation, models: ScriptedModels) -> None:
    chat._session.store.set_setting(VERIFIER, "scripted/two")
    models.two.enqueue("NO CONFLICT")
    assert chat.merges.examine(plan(chat)).model == "scripted/two"
    models.one.enqueue("NO CONFLICT")
    assert chat.merges.examine(plan(chat), model="scripted/one").model == "scripted/one"


@pytest.mark.parametrize(
    "said", ["", "They agree on most points.", '{"conflicts": [', answer("x" * 9, "y" * 9)]
)
def test_an_answer_that_says_nothing_is_refused_and_not_kept(
    chat: Conversation, models: ScriptedModels, said: str
) -> None:
    models.one.enqueue(said)
    with pytest.raises(NotExamined):
        chat.merges.examine(plan(chat))
    assert plan(chat).examined_by == ""


def test_a_model_that_fails_leaves_everything_as_it_was(chat: Conversation, models: ScriptedModels) -> None:
    models.one.enqueue("CONFLICT max", Fail("cut_off"))
    with pytest.raises(ModelError):
        chat.merges.examine(plan(chat))
    assert plan(chat).examined_by == ""


def test_a_conflict_that_a_model_found_lands_open_and_is_settled_later(
    chat: Conversation, models: ScriptedModels
) -> None:
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(plan(chat))
    chat.merge(plan(chat))
    (conflict,) = chat.merges.unresolved
    assert conflict.found_by == "scripted/one" and [one.text for one in conflict.mine] == [MAIN]
    chat.merge(chat.merges.plan_resolution({"max_connections": Choice("theirs")}))
    assert chat.merges.unresolved == ()
    assert f"- max_connections: {SIDE}" in chat.path()[-1].text


def test_a_resolution_is_remembered_under_any_name(chat: Conversation, models: ScriptedModels) -> None:
    third = chat.fork("third")
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(plan(chat))
    chat.merge(plan(chat).resolved({"max_connections": Choice("theirs")}))
    talk(third, "Anything else?", "No.")
    models.one.enqueue(answer(MAIN, SIDE).replace("CONFLICT max_connections", "CONFLICT the pool"))
    third.merges.examine(plan(third))
    (conflict,) = plan(third).conflicts
    assert conflict.about == "the pool" and conflict.result == SIDE


def test_what_the_side_knowingly_changed_is_no_conflict(models: ScriptedModels) -> None:
    forky = Workspace(MemoryStore(), models)
    chat = talk(forky.create("Pool"), "Hello", "Hello.")
    side = talk(chat.fork("side"), "What now?", MAIN)
    talk(chat, "Are you there?", "Yes.")
    chat.merge(chat.plan_merge("side", strategy="full"))
    talk(chat, "Next?", "Next.")
    talk(side, "Still?", SIDE)
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(chat.plan_merge("side"))
    made = chat.plan_merge("side")
    assert made.conflicts == () and made.examined_by == "scripted/one"
    assert [(one.line, one.now) for one in made.corrects] == [(MAIN, SIDE)]


def test_answers_are_examined_once_for_compare_and_for_their_fusion(models: ScriptedModels) -> None:
    forky = Workspace(MemoryStore(), models)
    chat = talk(forky.create("Pool"), "Hello", "Hello.")
    for text in (MAIN, SIDE):
        models.one.enqueue(text)
    chat.ask("What now?")
    chat.regenerate()[1].result()
    answers = chat.merges.plan_fuse().turns
    assert chat.merges.examined(answers) is None
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(answers)
    found = chat.merges.examined(answers[::-1])
    assert found is not None and len(found.conflicts) == 1
    fused = chat.merges.plan_fuse()
    (conflict,) = fused.conflicts
    assert conflict.found_by == fused.examined_by == "scripted/one"
    assert {one.side for one in conflict.says} == {"A", "B"}
    assert fused.warnings[1].startswith("The answers contradict each other: ")


def test_where_one_side_has_said_nothing_there_is_nothing_to_examine(chat: Conversation) -> None:
    fresh = talk(chat.fork("fresh"), "Then?", "Then nothing.")
    with pytest.raises(NothingToDo, match="not two texts"):
        chat.merges.examine(chat.plan_merge(fresh, strategy="full", force=True))


def test_grafts_octopuses_and_requests_are_examined(chat: Conversation, models: ScriptedModels) -> None:
    models.one.enqueue(answer(MAIN, SIDE))
    number = chat.requests.open("side", strategy="three-way").number
    chat.merges.examine(chat.requests.plan(number))
    assert [one.found_by for one in chat.requests.plan(number).conflicts] == ["scripted/one"]
    talk(chat.fork("idea"), "Any idea?", "A bigger machine.")
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(chat.plan_merge(["side", "idea"], strategy="three-way"))
    (conflict,) = chat.plan_merge(["side", "idea"]).conflicts
    assert list(conflict.by_side) == ["main", "side"]
    other = talk(Workspace(chat._session.store, models).create("Other"), "And there?", SIDE)
    models.one.enqueue(answer(MAIN, SIDE))
    chat.merges.examine(chat.merges.plan_graft(other))
    (conflict,) = chat.merges.plan_graft(other).conflicts
    assert list(conflict.by_side) == ["main", "main of Other"]
