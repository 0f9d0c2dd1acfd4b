"""What goes wrong with a model's summary: each recorded case is shown as what it is, and no message is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forky_core.errors import ModelError
from forky_core.llm.scripted import Fail
from forky_core.merge.models.squash import SquashRejected
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.repo.conversation import Conversation
from tests.builders import ScriptedModels, talk, workspace

RECORDED = Path(__file__).parent / "recorded"
CASES = sorted(path.stem for path in RECORDED.glob("*.json") if path.stem != "transcript")


def case(name: str) -> Mapping[str, Any]:
    found = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def recorded() -> tuple[Conversation, ScriptedModels]:
    forky, models = workspace()
    said = case("transcript")
    chat = talk(forky.create("Export"), *said["main"])
    talk(chat.fork("export"), *said["export"])
    return talk(chat, *said["more"]), models


def script(models: ScriptedModels, found: Mapping[str, Any]) -> None:
    for answer in found["answers"]:
        ends = found.get("ends")
        models.two.enqueue(answer, *([Fail(ends["kind"], ends["sentence"])] if ends else []))


@pytest.mark.parametrize("name", CASES)
def test_model_failure_bad_json_a_reply_instead_of_a_summary_no_message_is_written_extraction_is_offered_badged(
    name: str,
) -> None:
    chat, models = recorded()
    found = case(name)
    script(models, found)
    count, view = len(chat.operations), chat.view
    if "ends" in found:
        with pytest.raises(ModelError) as failed:
            chat.plan_merge("export", model="scripted/two", budget=400)
        assert found["shows"] in str(failed.value)
    elif not found["checks"]:
        plan = chat.plan_merge("export", model="scripted/two", budget=400)
        assert "must not be raised" in plan.payload and plan.badge == ""
        assert "deploy/proxy.conf" in plan.payload
        assert plan.block is not None and plan.block.claims and plan.block.made_by == "scripted/two"
    else:
        with pytest.raises(SquashRejected) as refused:
            chat.plan_merge("export", model="scripted/two", budget=400)
        error = refused.value
        assert sorted({one.check for one in error.failed}) == found["checks"]
        assert any(found["shows"] in text for one in error.failed for text in (one.sentence, one.shown))
        assert error.answer == found["answers"][0]
        assert error.plan.failed == error.failed and error.plan.badge
        assert error.plan.payload == chat.plan_merge("export", budget=400).payload
    assert (len(chat.operations), chat.view) == (count, view)


@pytest.mark.parametrize("name", [name for name in CASES if case(name).get("checks")])
def test_one_repair_round_names_what_failed_and_there_is_no_second(name: str) -> None:
    chat, models = recorded()
    script(models, case(name))
    with pytest.raises(SquashRejected) as refused:
        chat.plan_merge("export", model="scripted/two")
    first, second = models.two.requests
    assert second.messages[0] == first.messages[0]
    mending = second.messages[-1]["content"]
    assert all(one.sentence in mending for one in refused.value.failed)


def test_a_three_way_whose_reading_fails_offers_the_claims_found_by_rules() -> None:
    chat, models = recorded()
    script(models, case("answers_the_chat"))
    with pytest.raises(SquashRejected) as refused:
        chat.plan_merge("export", strategy="three-way", model="scripted/two")
    plan = refused.value.plan
    assert isinstance(plan, ThreeWayPlan) and "scripted/two" in plan.badge and plan.reader == ""
    chat.merge(plan)
    assert chat.head is not None and chat.head.merge is not None and chat.head.merge.made_by == ""


def sound(models: ScriptedModels) -> None:
    models.two.enqueue(case("a_sound_summary")["answers"][0])


def test_merging_again_costs_only_what_is_new() -> None:
    chat, models = recorded()
    sound(models)
    chat.plan_merge("export", model="scripted/two")
    asked = len(models.two.requests)
    chat.plan_merge("export", model="scripted/two", budget=90)
    assert len(models.two.requests) == asked
    talk(chat.checkout("export"), "And the log level?", "Decision: the log level is WARNING.")
    new = chat.checkout("export").path()[-1]
    entry = {
        "type": "decision",
        "key": "log level",
        "value": "WARNING",
        "text": "The log level is WARNING.",
        "cites": [new.id[3:9]],
        "quote": "the log level is WARNING",
    }
    models.two.enqueue(json.dumps({"claims": [entry]}))
    plan = chat.plan_merge("export", model="scripted/two", budget=400)
    assert len(models.two.requests) == asked + 1
    prompt = models.two.requests[-1].messages[0]["content"]
    assert "And the log level?" in prompt and "times out" not in prompt
    assert "batch size" in prompt.split("</transcript>")[1]
    assert "log level is WARNING" in plan.payload and "batches of 5000 rows" in plan.payload


def test_another_focus_or_a_wish_to_read_again_asks_anew() -> None:
    chat, models = recorded()
    for _ in range(3):
        sound(models)
    chat.plan_merge("export", model="scripted/two")
    chat.plan_merge("export", model="scripted/two", focus="limits")
    chat.plan_merge("export", model="scripted/two", reread=True)
    assert models.two.waiting == 0


def test_planning_again_after_a_race_asks_no_model_again() -> None:
    chat, models = recorded()
    sound(models)
    plan = chat.plan_merge("export", model="scripted/two")
    talk(chat, "Quick one?", "Yes.")
    asked = len(models.two.requests)
    again = chat.replan(plan)
    assert len(models.two.requests) == asked
    assert again.payload.splitlines()[1:] == plan.payload.splitlines()[1:]
    chat.merge(again)


def test_a_model_reads_both_sides_and_code_finds_the_conflict() -> None:
    chat, models = recorded()
    talk(chat, "Let us write 200 lines a batch.", "Fine: 200 lines a batch.")
    mine = chat.path()[-1]
    own = {
        "type": "decision",
        "key": "batch size",
        "value": "200 lines",
        "text": "A batch has 200 lines.",
        "cites": [mine.id[3:9]],
        "quote": "200 lines a batch",
    }
    models.two.enqueue(json.dumps({"claims": [own]}))
    sound(models)
    plan = chat.plan_merge("export", strategy="three-way", model="scripted/two")
    assert isinstance(plan, ThreeWayPlan)
    assert [clash.key for clash in plan.clashes] == ["batch size"]
    assert "batch size" in models.two.requests[-1].messages[0]["content"].split("</transcript>")[1]
    assert plan.block is not None and plan.block.made_by == "scripted/two" and "by a model" in plan.header
    before = chat.context().tokens
    chat.merge(plan)
    assert chat.context().tokens == before + plan.tokens
    assert [clash.key for clash in chat.unresolved] == ["batch size"]


def test_a_contradiction_that_only_the_model_sees_is_said_and_decides_nothing() -> None:
    chat, models = recorded()
    answer = json.loads(case("a_sound_summary")["answers"][0])
    answer["conflicts_with_target"] = [{"key": "queue", "why": "It bypasses Redis."}]
    mine = chat.path()[-1]
    own = {
        "type": "todo",
        "text": "Write the worker.",
        "cites": [mine.id[3:9]],
        "quote": "we write the worker",
    }
    models.two.enqueue(json.dumps({"claims": [own]}))
    models.two.enqueue(json.dumps(answer))
    plan = chat.plan_merge("export", strategy="three-way", model="scripted/two")
    assert isinstance(plan, ThreeWayPlan) and plan.clashes == ()
    assert any("queue" in warning for warning in plan.warnings)


def test_a_side_with_nothing_to_tell_is_read_as_that() -> None:
    chat, models = recorded()
    mine = chat.path()[-1]
    nothing = {"claims": [], "dropped": [{"cites": [mine.id[3:9]], "why": "Small talk."}]}
    models.two.enqueue(json.dumps(nothing))
    sound(models)
    plan = chat.plan_merge("export", strategy="three-way", model="scripted/two")
    assert isinstance(plan, ThreeWayPlan) and "batches of 5000 rows" in plan.payload
    models.two.enqueue(json.dumps({"claims": [], "dropped": [{"cites": [plan.turns[0][3:9]], "why": "No."}]}))
    with pytest.raises(SquashRejected, match="nothing worth telling"):
        chat.plan_merge("export", model="scripted/two", reread=True)


def test_what_a_model_read_is_no_part_of_the_history() -> None:
    chat, models = recorded()
    sound(models)
    before = (chat.view, len(chat.operations), len(chat.visible.messages))
    chat.plan_merge("export", model="scripted/two")
    assert (chat.view, len(chat.operations), len(chat.visible.messages)) == before
    assert chat.verify().clean
