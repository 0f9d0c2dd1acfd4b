"""Contradictions and corrections as a person meets them: in merges, grafts and requests, landed and undone."""

from __future__ import annotations

import json

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.merge.claims.conflict_resolution import Choice
from forky_core.merge.corrections import corrected_lines, corrections_in
from forky_core.merge.three_way import ThreeWayPlan
from tests.builders import talk, workspace

OFFER = "A three-way merge settles it."


@pytest.fixture
def chat() -> Conversation:
    """`main` says 1111, `one` 2222, `two` 3333."""
    forky, _ = workspace()
    chat = talk(forky.create("Server"), "Plan the server.", "The port is 8080.")
    talk(chat.fork("one"), "No, use port 2222.", "Done.")
    talk(chat.fork("two"), "No, use port 3333.", "Done.")
    return talk(chat, "The port is 1111.", "Noted.")


def of_two(chat: Conversation, **more: object) -> ThreeWayPlan:
    plan = chat.plan_merge(["one", "two"], strategy="three-way", **more)  # type: ignore[arg-type]
    assert isinstance(plan, ThreeWayPlan)
    return plan


def test_a_graft_warns_of_what_contradicts() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Here"), "Plan the server.", "The port is 8080.")
    other = talk(forky.create("Other"), "Plan it.", "The port is 4444.")
    strategies: tuple[str, ...] = ("squash", "full")
    for strategy in strategies:
        plan = chat.merges.plan_graft(other, strategy=strategy)
        (clash,) = plan.contradictions
        assert [one.name for one in clash.claims_by_source] == ["main", "main of Other"]
        assert any(warning.endswith(OFFER) for warning in plan.warnings)


def test_an_octopus_warns_of_all_sides_at_once(chat: Conversation) -> None:
    plan = chat.plan_merge(["one", "two"], strategy="full")
    (clash,) = plan.contradictions
    assert [one.name for one in clash.claims_by_source] == ["main", "one", "two"]
    assert sum(warning.endswith(OFFER) for warning in plan.warnings) == 1


def test_three_branches_land_open_and_are_settled_later_by_name(chat: Conversation) -> None:
    chat.merge(of_two(chat))
    assert chat.history.operations[-1].summary == "Merged “one”, “two” into “main” (three-way, 1 unresolved)"
    (clash,) = chat.merges.unresolved
    assert [one.name for one in clash.claims_by_source] == ["main", "one", "two"]
    chat.merge(chat.merges.plan_resolution({"port": Choice("theirs", source="two")}))
    assert [claim.value for claim in chat.merges.claims.on("port")] == ["3333"]
    chat.undo()
    assert len(chat.merges.unresolved) == 1


def test_a_three_way_merge_of_several_is_planned_again_with_its_choices(chat: Conversation) -> None:
    plan = of_two(chat).resolved({"port": Choice("theirs", source="one")})
    talk(chat, "And the host?", "It is localhost.")
    again = chat.merges.replan(plan)
    assert isinstance(again, ThreeWayPlan) and again.unresolved == () and again.sources == ("one", "two")
    chat.merge(again)
    assert [claim.value for claim in chat.merges.claims.on("port")] == ["2222"]


def test_a_request_proposes_several_branches_three_way_and_follows_their_names(chat: Conversation) -> None:
    chat.requests.open(["one", "two"], strategy="three-way", choices={"port": Choice("theirs", source="two")})
    chat.checkout("two").branches.rename("second")
    plan = chat.requests.plan(1)
    assert isinstance(plan, ThreeWayPlan) and plan.unresolved == () and plan.sources == ("one", "second")
    chat.merge(chat.requests.accepting(1, plan))
    assert chat.requests.get(1).state == "accepted"
    assert [claim.value for claim in chat.merges.claims.on("port")] == ["3333"]


def test_words_for_several_branches_in_one_payload_are_proposed(chat: Conversation) -> None:
    chat.requests.open_plan(of_two(chat).edited("Ports are open."))
    chat.checkout("two").branches.rename("second")
    assert chat.requests.plan(1).payload == "Ports are open."


def test_a_model_finds_the_claims_of_several_branches() -> None:
    forky, models = workspace()
    chat = talk(forky.create("Server"), "Plan the server.", "Fine.")

    def said(name: str, value: str) -> dict[str, object]:
        text = f"The service listens on port {value}."
        branch = chat if name == "main" else chat.fork(name, at=chat.path()[1].id)
        message = talk(branch, text, "Noted.").path()[2]
        entry = {"type": "decision", "key": "where it listens", "value": value, "text": text}
        return {**entry, "cites": [message.id], "quote": text}

    mine, *both = (said(name, value) for name, value in (("main", "1111"), ("one", "2222"), ("two", "3333")))
    models.two.enqueue(json.dumps({"claims": [mine]}))
    models.two.enqueue(json.dumps({"claims": both}))
    plan = of_two(chat, model="scripted/two")
    assert plan.reader == "scripted/two"
    (clash,) = plan.clashes
    assert clash.key == "where it listens"
    assert [one.name for one in clash.claims_by_source] == ["main", "one", "two"]


def test_what_a_merge_corrects_lands_and_is_undone_with_it(chat: Conversation) -> None:
    side = talk(chat.fork("side"), "Decision: the prefetch is 50.", "Done.")
    talk(chat, "And the host?", "It is localhost.")
    chat.merge(chat.plan_merge(side))
    first = chat.path()[-1]
    talk(chat, "Merged.")
    talk(side, "No, the prefetch is 20.", "Changed.")
    plan = chat.plan_merge(side)
    assert [one.merge for one in plan.corrects] == [first.id]
    before = chat.context().tokens
    chat.merge(plan)
    assert chat.context().tokens == before + plan.tokens
    assert corrections_in(chat.path()[-1]) == plan.corrects
    assert list(corrected_lines(chat.path())) == [first.id]
    assert chat._session.store.verify().clean
    chat.undo()
    assert corrected_lines(chat.path()) == {}
