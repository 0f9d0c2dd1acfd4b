"""What contradicts is shown before it lands, by every strategy; what a later merge corrects is marked (law 9)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.corrections import CorrectedLine, corrected_lines, corrections_in
from forky_core.merge.plan import MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model.errors import BadContent
from forky_core.model.parts import Draft, RevertPart
from tests.merge.conversations import Talk


def parted(main: str, side: str, *more: str) -> Talk:
    """`main` and `side` (and `side2` …) share a plan with port 8080, and each says something after the fork."""
    talk = Talk()
    shared = talk.say("main", "user: Plan the server.", "assistant: The port is 8080.")
    for number, said in enumerate((side, *more), 1):
        name = "side" if number == 1 else f"side{number}"
        talk.say(name, f"user: {said}", "assistant: Done.", at=shared.id)
    talk.say("main", f"user: {main}", "assistant: Noted.")
    return talk


def warned(plan: MergePlan) -> list[str]:
    return [warning for warning in plan.warnings if "three-way merge settles" in warning]


def picked(talk: Talk) -> MergePlan:
    return talk.plan("cherry-pick", source="side", picks=tuple(m.id for m in talk.path("side")[2:]))


def three_way(talk: Talk, *sources: str, **more: Any) -> ThreeWayPlan:
    names = sources or ("side",)
    plan = (
        talk.octopus("three-way", *names, **more)
        if len(names) > 1
        else talk.plan("three-way", source=names[0], **more)
    )
    assert isinstance(plan, ThreeWayPlan)
    return plan


def said(plan: MergePlan) -> list[dict[str, str]]:
    return [
        {name: " / ".join(said.text for said in words) for name, words in one.by_side.items()}
        for one in plan.conflicts
    ]


@pytest.mark.parametrize("strategy", ["squash", "full", "cherry-pick"])
def test_a_merge_warns_of_what_contradicts_the_target_and_offers_three_way(strategy: str) -> None:
    talk = parted("The port is 7070.", "No, use port 9090.")
    plan = picked(talk) if strategy == "cherry-pick" else talk.plan(strategy, source="side")
    assert said(plan) == [{"main": "The port is 7070.", "side": "No, use port 9090."}]
    assert warned(plan) == [
        "Possibly a conflict: “main” says “The port is 7070”; “side” says “No, use port 9090”. A three-way merge settles it."
    ]


@pytest.mark.parametrize("strategy", ["squash", "full", "cherry-pick"])
def test_a_value_that_only_the_branch_changed_is_no_contradiction(strategy: str) -> None:
    talk = parted("And the host?", "No, use port 9090.")
    plan = picked(talk) if strategy == "cherry-pick" else talk.plan(strategy, source="side")
    assert plan.conflicts == () and warned(plan) == []


def test_a_branch_that_goes_on_where_the_target_stands_contradicts_nothing() -> None:
    talk = Talk()
    shared = talk.say("main", "user: Plan.", "assistant: The port is 8080.")
    talk.say("side", "user: No, use port 9090.", "assistant: Done.", at=shared.id)
    for plan in (talk.plan("squash", source="side"), talk.plan("full", source="side")):
        assert plan.conflicts == () and warned(plan) == []


def test_histories_that_share_nothing_are_compared_whole() -> None:
    talk = Talk()
    talk.say("main", "user: The port is 1111.", "assistant: Fine.")
    talk.say("side", "user: The port is 2222.", "assistant: Good.")
    assert said(talk.plan("squash", source="side")) == [
        {"main": "The port is 1111.", "side": "The port is 2222."}
    ]


@pytest.mark.parametrize("strategy", ["squash", "full"])
def test_an_octopus_warns_of_sources_that_contradict_each_other(strategy: str) -> None:
    talk = parted("And the host?", "No, use port 9090.", "No, use port 7070.")
    plan = talk.octopus(strategy, "side", "side2")
    assert said(plan) == [{"side": "No, use port 9090.", "side2": "No, use port 7070."}]
    assert len(warned(plan)) == 1 and "“side2” says “No, use port 7070”" in warned(plan)[0]
    edited = plan.edited_side("side", "Nothing.") if strategy == "squash" else plan
    assert edited.conflicts == plan.conflicts and warned(edited) == warned(plan)


def test_a_source_that_changed_what_another_one_said_before_it_does_not_contradict_it() -> None:
    talk = parted("And the host?", "No, use port 9090.")
    talk.say("other", "user: No, use port 7070.", "assistant: Done.", at=talk.heads["side"])
    talk.say("side", "user: And logs?", "assistant: As JSON.")
    assert talk.octopus("full", "side", "other").conflicts == ()
    assert three_way(talk, "side", "other").conflicts == ()


@pytest.mark.parametrize(
    "again",
    ["The port stays 8080.", "The port is still 8080.", "Keep port 8080.", "The port is 8080."],
)
def test_what_main_says_again_after_the_fork_stands_against_the_branch(again: str) -> None:
    talk = parted(again, "No, use port 9090.")
    (clash,) = three_way(talk).conflicts
    assert [said.text for said in clash.mine] == [again]
    assert [said.text for said in clash.theirs] == ["No, use port 9090."]
    assert len(warned(talk.plan("squash", source="side"))) == 1
    landed = three_way(talk)
    talk.land(landed)
    row = next(line for line in talk.sent("main").splitlines() if line.startswith(f"- {clash.about}:"))
    assert "8080" in row and "9090" in row


@pytest.mark.parametrize("fresh", [False, True], ids=["the branch goes on", "a branch made afterwards"])
def test_a_settled_conflict_that_is_contradicted_again_opens_again(*, fresh: bool) -> None:
    talk = parted("The port is 7070.", "No, use port 9090.")
    settled = three_way(talk).resolved({"port": Choice("mine")})
    remembered = {key.removeprefix("resolutions/"): entry for key, entry in settled.entries.items()}
    talk.land(settled)
    name = "later" if fresh else "side"
    if fresh:
        talk.heads[name] = talk.heads["main"]
        talk.say(name, "assistant: Merged.")
    talk.say(name, "user: I tested it: the port is 9090.", "assistant: Thanks.")
    talk.say("main", "assistant: Merged.", "user: And the host?", "assistant: It is localhost.")
    (clash,) = three_way(talk, name, resolutions=remembered).conflicts
    assert clash.choice is None
    assert "7070" in clash.mine[0].text and "9090" in clash.theirs[0].text
    assert len(warned(talk.plan("squash", source=name, resolutions=remembered))) == 1
    talk.land(three_way(talk, name, resolutions=remembered).resolved({"port": Choice("theirs")}))
    talk.say(name, "user: And logs?", "assistant: As JSON.")
    assert three_way(talk, name, resolutions=remembered).conflicts == ()


def test_what_was_settled_stays_settled_while_nobody_says_otherwise() -> None:
    talk = parted("The port is 7070.", "No, use port 9090.")
    talk.land(three_way(talk).resolved({"port": Choice("mine")}))
    talk.say("side", "user: And logs?", "assistant: As JSON. The port is 7070, as settled.")
    assert three_way(talk).conflicts == ()
    assert warned(talk.plan("squash", source="side")) == []


# Three-way with several branches.


def test_three_way_takes_several_branches_and_meets_each_conflict_once() -> None:
    talk = parted("The port is 1111.", "No, use port 2222.", "No, use port 3333.", "And the host?")
    plan = three_way(talk, "side", "side2", "side3")
    (clash,) = plan.conflicts
    assert [(name, [said.text for said in words]) for name, words in clash.by_side.items()] == [
        ("main", ["The port is 1111."]),
        ("side", ["No, use port 2222."]),
        ("side2", ["No, use port 3333."]),
    ]
    heads = [talk.heads[name] for name in ("main", "side", "side2", "side3")]
    (message,) = talk.land(plan)
    assert list(message.parents) == heads and len(message.merges) == 1
    row = next(line for line in talk.sent("main").splitlines() if line.startswith("- port:"))
    for name, value in (("main", "1111"), ("side", "2222"), ("side2", "3333")):
        assert re.search(rf'"{name}" says “[^”]*{value}\.” \[[0-9a-f]+\]', row)


def test_a_conflict_of_several_branches_is_settled_by_naming_one() -> None:
    talk = parted("The port is 1111.", "No, use port 2222.", "No, use port 3333.")
    plan = three_way(talk, "side", "side2")
    with pytest.raises(BadContent, match="“side2”"):
        plan.resolved({"port": Choice("theirs")})
    with pytest.raises(BadContent, match="Nothing is said"):
        plan.resolved({"port": Choice("theirs", source="nobody")})
    settled = plan.resolved({"port": Choice("theirs", source="side2")})
    assert settled.unresolved == ()
    assert "port: No, use port 3333. (instead of: The port is 1111. / No, use port 2222.)" in settled.payload
    talk.land(settled)
    talk.say("main", "assistant: Merged.", "user: And logs?", "assistant: As JSON.")
    for name in ("side", "side2"):
        talk.say(name, "user: And CI?", "assistant: On every push.")
        assert three_way(talk, name).conflicts == ()


@pytest.mark.parametrize("policy", ["theirs", "mine"])
def test_a_policy_takes_no_side_among_several_sources_that_differ(policy: str) -> None:
    talk = parted("And the host?", "No, use port 2222.", "No, use port 3333.")
    assert len(three_way(talk, "side", "side2", policy=policy).unresolved) == 1
    both = parted("The port is 1111.", "No, use port 2222.", "No, use port 2222.")
    assert three_way(both, "side", "side2", policy=policy).unresolved == ()


def test_the_order_of_the_sources_changes_no_conflict_and_no_message() -> None:
    talk = parted("The port is 1111.", "No, use port 2222.", "No, use port 3333.")
    one, other = three_way(talk, "side", "side2"), three_way(talk, "side2", "side")
    assert [conflict.hash for conflict in one.conflicts] == [conflict.hash for conflict in other.conflicts]
    assert set(one.turns) == set(other.turns) and set(one.delta) == set(other.delta)


def test_a_source_without_news_is_left_out_of_a_three_way_merge_and_told() -> None:
    talk = parted("The port is 1111.", "No, use port 2222.", "No, use port 3333.")
    talk.land(three_way(talk, "side").resolved({"port": Choice("mine")}))
    plan = three_way(talk, "side", "side2")
    assert plan.sources == ("side2",)
    assert any("has all of “side” already" in warning for warning in plan.warnings)


def test_the_words_of_a_three_way_merge_of_several_can_be_edited() -> None:
    talk = parted("The port is 1111.", "No, use port 2222.", "No, use port 3333.")
    edited = three_way(talk, "side", "side2").edited("Ports are open.")
    assert edited.by_hand and edited.payload == "Ports are open."
    assert set(edited.expected_heads) == {"main", "side", "side2"}


# Corrections of earlier merges.


def corrected(strategy: str = "squash") -> Talk:
    """`side` was merged with a prefetch of 50, and then says 20."""
    talk = Talk()
    shared = talk.say("main", "user: Tune the queue.", "assistant: Fine.")
    talk.say("side", "user: Decision: the prefetch is 50.", "assistant: Done.", at=shared.id)
    talk.say("main", "user: And the host?", "assistant: It is localhost.")
    talk.land(talk.plan(strategy, source="side", force=True))
    talk.say("main", "assistant: Merged.", "user: And logs?", "assistant: As JSON.")
    talk.say("side", "user: No, the prefetch is 20.", "assistant: Changed.")
    return talk


@pytest.mark.parametrize("first", ["squash", "full", "three-way"])
@pytest.mark.parametrize("second", ["squash", "three-way"])
def test_a_merge_that_corrects_an_earlier_one_says_so_and_marks_it(first: str, second: str) -> None:
    talk = corrected(first)
    earlier = next(message for message in talk.path("main") if message.merges)
    plan = talk.plan(second, source="side")
    (one,) = plan.corrects
    assert one.merge == earlier.id and "50" in one.line and "20" in one.now
    assert plan.conflicts == () and warned(plan) == []
    (landed,) = talk.land(plan)
    assert corrections_in(landed) == plan.corrects
    assert corrected_lines(talk.path("main")) == {earlier.id: (CorrectedLine(one.line, one.now, landed.id),)}
    sent = talk.sent("main")
    assert f"- Merge [{earlier.id[3:9]}] said “{one.line}”; said later: “{one.now}” [{one.by[3:9]}]" in sent
    assert earlier in talk.path("main")


def test_turns_that_come_whole_keep_what_they_correct_without_further_words() -> None:
    talk = corrected()
    plan = talk.plan("full", source="side")
    (landed,) = talk.land(plan)
    assert corrections_in(landed) == plan.corrects != ()
    assert "Corrects" not in talk.sent("main")


def test_a_budget_holds_for_what_is_corrected_too() -> None:
    talk = corrected()
    talk.say(
        "side", "user: And why?", "assistant: Because of memory. " + "It grows and grows in tests. " * 40
    )
    plan = talk.plan("squash", source="side", budget=120)
    assert plan.corrects and plan.tokens <= 120


def test_a_correction_that_a_person_strikes_is_not_kept() -> None:
    talk = corrected()
    edited = talk.plan("squash", source="side").edited("The prefetch is 20.")
    (landed,) = talk.land(edited)
    assert corrections_in(landed) == ()


def test_two_merges_that_correct_each_other_are_read_as_the_later_one_left_it() -> None:
    talk = corrected()
    talk.land(talk.plan("squash", source="side"))
    talk.say("main", "assistant: Merged.", "user: Next?", "assistant: Next.")
    talk.say("side", "user: No, the prefetch is 50.", "assistant: Changed.")
    plan = talk.plan("squash", source="side")
    first, second = (message for message in talk.path("main") if message.merges)
    assert [one.merge for one in plan.corrects] == [second.id]
    (third,) = talk.land(plan)
    marks = corrected_lines(talk.path("main"))
    assert {merge: [one.by for one in lines] for merge, lines in marks.items()} == {
        first.id: [second.id],
        second.id: [third.id],
    }


def test_a_branch_that_takes_main_in_and_corrects_it_is_corrected_the_same_way() -> None:
    talk = corrected()
    talk.land(talk.plan("squash", source="side"))
    talk.say("main", "assistant: Merged.")
    talk.land(talk.plan("squash", target="side", source="main"))
    talk.say("side", "assistant: Merged.", "user: No, the prefetch is 30.", "assistant: Changed.")
    plan = talk.plan("squash", source="side")
    assert ["20" in one.line and "30" in one.now for one in plan.corrects] == [True]


def test_what_a_reverted_merge_said_is_not_corrected() -> None:
    talk = corrected()
    assert talk.plan("squash", source="side").corrects
    merge = next(message for message in talk.path("main") if message.merges)
    talk.add("main", Draft("user", (RevertPart((merge.id,)),)))
    assert talk.plan("squash", source="side").corrects == ()


def test_a_later_squash_of_main_does_not_quote_what_was_said_about_other_merges() -> None:
    talk = corrected()
    talk.land(talk.plan("squash", source="side"))
    talk.say("main", "assistant: Merged.")
    talk.heads["far"] = talk.path("main")[1].id
    assert "said “" not in talk.plan("squash", target="far", source="main", force=True).payload


def test_a_contradiction_is_found_among_two_thousand_messages() -> None:
    talk = Talk()
    shared = talk.say("main", "user: Plan.", "assistant: The port is 8080.")
    talk.heads["side"] = shared.id
    for number in range(500):
        talk.say(
            "main",
            f"user: Step {number} of the plan is done in module_{number}.",
            "assistant: The host is up.",
        )
        talk.say(
            "side",
            f"user: Part {number} uses file_{number}.py.",
            f"assistant: The limit of item {number} is {number}.",
        )
    talk.say("main", "user: The port stays 8080.", "assistant: Yes.")
    talk.say("side", "user: No, use port 9090.", "assistant: Done.")
    assert len(warned(talk.plan("squash", source="side"))) == 1
