"""Contradictions and corrections as a person meets them: in merges, grafts and requests, landed and undone."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.corrections import corrected_lines, corrections_in
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.merge.written.plan import SquashRejected
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, begun, land, talk

OFFER = "A three-way merge settles it."


@pytest.fixture
def chat() -> Conversation:
    """`main` says 1111, `one` 2222, `two` 3333."""
    chat, _ = begun("Plan the server.", "The port is 8080.", title="Server")
    talk(chat.fork("one"), "No, use port 2222.", "Done.")
    talk(chat.fork("two"), "No, use port 3333.", "Done.")
    return talk(chat, "The port is 1111.", "Noted.")


def of_two(chat: Conversation, **more: object) -> ThreeWayPlan:
    plan = chat.plan_merge(["one", "two"], strategy="three-way", **more)  # type: ignore[arg-type]
    assert isinstance(plan, ThreeWayPlan)
    return plan


def test_a_graft_warns_of_what_contradicts(forky: Workspace) -> None:
    chat = talk(forky.create("Here"), "Plan the server.", "The port is 8080.")
    other = talk(forky.create("Other"), "Plan it.", "The port is 4444.")
    strategies: tuple[str, ...] = ("squash", "full")
    for strategy in strategies:
        plan = chat.merges.plan_graft(other, strategy=strategy)
        (clash,) = plan.conflicts
        assert list(clash.by_side) == ["main", "main of Other"]
        assert any(warning.endswith(OFFER) for warning in plan.warnings)


def test_an_octopus_warns_of_all_sides_at_once(chat: Conversation) -> None:
    plan = chat.plan_merge(["one", "two"], strategy="full")
    (clash,) = plan.conflicts
    assert list(clash.by_side) == ["main", "one", "two"]
    assert sum(warning.endswith(OFFER) for warning in plan.warnings) == 1


def test_three_branches_land_open_and_are_settled_later_by_name(chat: Conversation) -> None:
    chat.merge(of_two(chat))
    assert chat.history.operations[-1].summary == "Merged “one”, “two” into “main” (three-way, 1 unresolved)"
    (clash,) = chat.merges.unresolved
    assert list(clash.by_side) == ["main", "one", "two"]
    chat.merge(chat.merges.plan_resolution({"port": Choice("theirs", source="two")}))
    assert "No, use port 3333." in chat.path()[-1].merges[0].text
    assert chat.merges.unresolved == ()
    chat.undo()
    assert len(chat.merges.unresolved) == 1


def test_a_three_way_merge_of_several_is_planned_again_with_its_choices(chat: Conversation) -> None:
    plan = of_two(chat).resolved({"port": Choice("theirs", source="one")})
    talk(chat, "And the host?", "It is localhost.")
    again = chat.merges.replan(plan)
    assert isinstance(again, ThreeWayPlan) and again.unresolved == () and again.sources == ("one", "two")
    chat.merge(again)
    assert "port: No, use port 2222. (instead of: " in chat.path()[-1].merges[0].text


def test_a_request_proposes_several_branches_three_way_and_follows_their_names(chat: Conversation) -> None:
    chat.requests.open(["one", "two"], strategy="three-way", choices={"port": Choice("theirs", source="two")})
    chat.checkout("two").branches.rename("second")
    plan = chat.requests.plan(1)
    assert isinstance(plan, ThreeWayPlan) and plan.unresolved == () and plan.sources == ("one", "second")
    chat.merge(chat.requests.accepting(1, plan))
    assert chat.requests.get(1).state == "accepted"
    assert "port: No, use port 3333. (instead of: " in chat.path()[-1].merges[0].text


def test_words_for_several_branches_in_one_payload_are_proposed(chat: Conversation) -> None:
    chat.requests.open_plan(of_two(chat).edited("Ports are open."))
    chat.checkout("two").branches.rename("second")
    assert chat.requests.plan(1).payload == "Ports are open."


def two_said(models: ScriptedModels) -> Conversation:
    """`main` says 1111, `one` 2222, `two` 3333, and each of these says who tested something."""
    forky = Workspace(MemoryStore(), models)
    chat = talk(forky.create("Server"), "Plan the server.", "The port is 8080.")
    for name, port, what in (("one", "2222", "Ana tested Caddy."), ("two", "3333", "Ben tested Nginx.")):
        talk(chat.fork(name, at=chat.path()[1].id), f"No, use port {port}.", what)
    return talk(chat, "The port is 1111.", "Noted.")


def test_a_model_writes_the_note_of_each_branch_below_the_conflicts_of_all() -> None:
    models = ScriptedModels()
    chat = two_said(models)
    for answer in ("Ana tested Caddy.", "1: supported", "Ben tested Nginx.", "1: supported"):
        models.two.enqueue(answer)
    plan = of_two(chat, model="scripted/two")
    assert plan.block is not None and plan.block.made_by == "scripted/two"
    assert list(plan.conflicts[0].by_side) == ["main", "one", "two"]
    _, heading, conflict, *note = plan.payload.splitlines()
    assert heading.startswith("UNRESOLVED") and conflict.startswith("- port: ")
    assert note == ["Note:", "Ana tested Caddy.", "", "Ben tested Nginx."]
    for request, ours, other in zip(
        models.two.requests, ("2222", "2222", "3333", "3333"), ("3333", "3333", "2222", "2222"), strict=True
    ):
        assert ours in str(request.messages) and other not in str(request.messages)
    settled = plan.resolved({"port": Choice("mine")})
    assert settled.block is not None and settled.block.made_by == "scripted/two"
    assert settled.payload.splitlines()[3:] == note
    land(chat, plan)
    assert len(chat.merges.unresolved) == 1


def test_where_the_note_of_one_branch_fails_the_quoted_lines_of_all_stand() -> None:
    models = ScriptedModels()
    chat = two_said(models)
    strategies: tuple[str, ...] = ("squash", "three-way")
    for strategy in strategies:
        for answer in ("Ana tested Caddy.", "1: supported", "No."):
            models.two.enqueue(answer)
        with pytest.raises(SquashRejected) as refused:
            chat.plan_merge(["one", "two"], strategy=strategy, model="scripted/two", reread=True)
        plan = refused.value.plan
        assert plan.payload == chat.plan_merge(["one", "two"], strategy=strategy).payload
        assert "scripted/two" in plan.badge


def test_what_a_merge_corrects_lands_and_is_undone_with_it(chat: Conversation) -> None:
    side = talk(chat.fork("side"), "Decision: the prefetch is 50.", "Done.")
    talk(chat, "And the host?", "It is localhost.")
    chat.merge(chat.plan_merge(side))
    first = chat.path()[-1]
    talk(chat, "Merged.")
    talk(side, "No, the prefetch is 20.", "Changed.")
    plan = chat.plan_merge(side)
    assert [one.merge for one in plan.corrects] == [first.id]
    land(chat, plan)
    assert corrections_in(chat.path()[-1]) == plan.corrects
    assert list(corrected_lines(chat.path())) == [first.id]
    assert chat._session.store.verify().clean
    chat.undo()
    assert corrected_lines(chat.path()) == {}
