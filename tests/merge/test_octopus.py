"""Several branches at once: the row “criss-cross, octopus”, and what an octopus is on the whole."""

from __future__ import annotations

from itertools import permutations

import pytest

from forky_core.merge.octopus import WITH_ANOTHER
from forky_core.model.errors import BadContent, NotFound, RequestError
from forky_core.model.graph import ancestors
from tests.merge.conversations import Talk, forked, texts


def three() -> Talk:
    """`debug`, `other` (which begins with a turn of `debug`) and `flags` stand beside `main`."""
    talk = forked()
    talk.say("other", "user: What about CI?", at=talk.heads["debug"])
    talk.say("other", "assistant: CI reads CI_BASE=32.")
    talk.say("debug", "user: And macOS?", "assistant: Set MAC_BASE=64.")
    talk.say("flags", "user: And flags?", at=talk.path("main")[1].id)
    talk.say("flags", "assistant: A bit each, FLAG_WIDTH=8.")
    return talk


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_an_octopus_is_one_message_with_a_payload_for_each_source(strategy: str) -> None:
    talk = three()
    heads = [talk.heads[name] for name in ("main", "debug", "other", "flags")]
    plan = talk.octopus(strategy, "debug", "other", "flags")
    (message,) = talk.land(plan)
    assert list(message.parents) == heads
    assert [merge.source for merge in message.merges] == ["debug", "other", "flags"]
    for fact in ("ENUM_BASE=16", "CI_BASE=32", "MAC_BASE=64", "FLAG_WIDTH=8"):
        assert talk.sent("main").count(fact) == 1


def test_octopus_each_delta_is_less_the_earlier_delta() -> None:
    talk = three()
    plan = talk.octopus("full", "debug", "other", "flags")
    assert [[talk.messages[id].text.split("?")[0] for id in side.delta[::2]] for side in plan.sides] == [
        ["Why does codegen fail on enums", "And macOS"],
        ["What about CI"],
        ["And flags"],
    ]
    shared = [one for one in plan.omitted if one.why == WITH_ANOTHER.format("debug")]
    assert [talk.messages[one.message].text[:3] for one in shared] == ["Why", "Bec"]
    assert set(plan.delta) == ancestors(
        [head for head in talk.heads.values() if head], talk.parents_of
    ) - ancestors([plan.target] if plan.target else [], talk.parents_of)


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_octopus_order_changes_the_display_only(strategy: str) -> None:
    plans = [three().octopus(strategy, *names) for names in permutations(("debug", "other", "flags"))]
    assert len({frozenset(plan.delta) for plan in plans}) == 1
    assert len({frozenset(plan.turns) for plan in plans}) == 1
    assert len({frozenset(plan.drafts[0].parents) for plan in plans}) == 1
    assert len({plan.payload for plan in plans}) == len(plans)


def test_in_full_the_turns_of_each_source_stand_between_its_own_header_and_footer() -> None:
    talk = three()
    talk.land(talk.octopus("full", "flags", "debug"))
    sent = talk.sent("main")
    places = [
        sent.index(text)
        for text in (
            'Merged branch "flags"',
            "FLAG_WIDTH=8",
            'End of the merged branch "flags"',
            'Merged branch "debug"',
            "MAC_BASE=64",
            'End of the merged branch "debug"',
        )
    ]
    assert places == sorted(places)


def test_a_source_within_another_comes_with_it_in_either_order() -> None:
    talk = three()
    talk.heads["part"] = talk.path("debug")[3].id
    for names in (("part", "debug", "flags"), ("flags", "debug", "part")):
        plan = talk.octopus("full", *names)
        assert "part" not in [side.source_name for side in plan.sides]
        assert "“part” is part of “debug”: it comes with that." in plan.warnings


def test_a_source_that_is_there_already_is_left_out_and_told() -> None:
    talk = three()
    talk.land(talk.plan("full"))
    plan = talk.octopus("full", "debug", "flags")
    assert [side.source_name for side in plan.sides] == ["flags"]
    assert "“main” has all of “debug” already." in plan.warnings
    talk.land(plan)
    again = talk.octopus("full", "debug", "flags")
    assert again.relation == "up_to_date" and not again.lands


def test_merged_again_an_octopus_brings_only_what_is_new() -> None:
    talk = three()
    talk.land(talk.octopus("squash", "debug", "flags"))
    talk.say("flags", "user: Signed?", "assistant: Never signed.")
    plan = talk.plan("full", source="flags")
    assert texts(talk.messages[id] for id in plan.turns) == ["Signed?", "Never signed."]
    assert any("continues merge" in warning for warning in plan.warnings)


def test_an_octopus_of_another_branch_brings_its_turns_along() -> None:
    talk = three()
    talk.land(talk.octopus("full", "debug", "flags"))
    talk.say("far", "user: Elsewhere", "assistant: Yes.")
    plan = talk.plan("full", target="far", source="main")
    assert "FLAG_WIDTH=8" in plan.payload and "MAC_BASE=64" in plan.payload
    talk.land(plan)


def test_the_text_of_each_source_can_be_edited() -> None:
    talk = three()
    plan = talk.octopus("squash", "debug", "flags", budget=200)
    edited = plan.edited_side("flags", "Flags are never signed.")
    assert "Flags are never signed." in edited.payload and "ENUM_BASE=16" in edited.payload
    talk.land(edited)
    with pytest.raises(RequestError, match="for each branch"):
        plan.edited("All of it")
    with pytest.raises(NotFound):
        plan.edited_side("nobody", "x")


def test_what_an_octopus_cannot_be_is_refused() -> None:
    with pytest.raises(BadContent, match="several"):
        three().octopus("full", "debug")
    with pytest.raises(BadContent, match="at once by cherry-pick"):
        three().octopus("cherry-pick", "debug", "flags")
