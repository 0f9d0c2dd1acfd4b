"""Merge requests: proposed, talked about, changed, accepted or declined, and all of it in the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.workspace import Workspace
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.options import MergeOptionFields, MergeOptions
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model.errors import BadContent, InTheWay, NotFound, NothingToDo, Outdated
from tests.builders import begun, debugged, talk, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return debugged(forky)


def as_(chat: Conversation, actor: str) -> Conversation:
    """The same conversation in another person's hands."""
    return Conversation(replace(chat._session, actor=actor), chat.branch_name)


def test_a_branch_is_proposed_with_a_note_and_seen_by_everybody(chat: Conversation) -> None:
    made = as_(chat, "ann").requests.open("debug", note="Enums work now.")
    (seen,) = as_(chat, "bob").requests.all
    assert seen == made
    assert (seen.source, seen.into, seen.by, seen.note, seen.state) == (
        "debug",
        "main",
        "ann",
        "Enums work now.",
        "open",
    )
    assert seen.source_head == chat.checkout("debug").path()[-1].id
    assert (chat.history.operations[-1].verb, chat.history.operations[-1].actor) == ("request", "ann")


def test_accepting_lands_the_merge_and_closes_the_request_as_one_operation(chat: Conversation) -> None:
    chat.requests.open("debug")
    count = len(chat.history.operations)
    bob = as_(chat, "bob")
    bob.merge(bob.requests.accepting(1, bob.plan_merge("debug")))
    assert len(chat.history.operations) == count + 1
    assert "request 1" in chat.history.operations[-1].summary and chat.history.operations[-1].actor == "bob"
    assert (chat.requests.get(1).state, chat.requests.get(1).answered_by) == ("accepted", "bob")
    assert chat.head is not None and chat.head.merge is not None
    chat.undo()
    assert chat.requests.get(1).state == "open"
    assert chat.path()[-1].merge is None


def test_who_did_what_is_in_the_log_and_comments_keep_their_order(chat: Conversation) -> None:
    as_(chat, "ann").requests.open("debug", note="Please.")
    as_(chat, "bob").requests.comment(1, "Why lazily?")
    as_(chat, "ann").requests.comment(1, "It is cheaper.")
    as_(chat, "ann").requests.change(1, note="Please, it is cheaper.", strategy="three-way")
    as_(chat, "bob").requests.decline(1, "Not now.")
    request = chat.requests.get(1)
    assert [(one.by, one.text) for one in request.comments] == [
        ("bob", "Why lazily?"),
        ("ann", "It is cheaper."),
        ("bob", "Not now."),
    ]
    assert (request.state, request.answered_by, request.strategy) == ("declined", "bob", "three-way")
    assert [(o.verb, o.actor) for o in chat.history.operations[-5:]] == [
        ("request", "ann"),
        ("comment", "bob"),
        ("comment", "ann"),
        ("request", "ann"),
        ("decline", "bob"),
    ]


def test_declining_leaves_both_branches_as_they_are(chat: Conversation) -> None:
    heads = {name: branch.head for name, branch in chat.branches.items()}
    chat.requests.open("debug")
    chat.requests.decline(1)
    assert {name: branch.head for name, branch in chat.branches.items()} == heads


def test_a_request_that_was_answered_cannot_be_answered_again(chat: Conversation) -> None:
    chat.requests.open("debug")
    plan = chat.requests.accepting(1, chat.plan_merge("debug"))
    chat.requests.decline(1)
    for act in (
        lambda: chat.merge(plan),
        lambda: chat.requests.decline(1),
        lambda: chat.requests.change(1, note="x"),
        lambda: chat.requests.accepting(1, chat.plan_merge("debug")),
    ):
        with pytest.raises(InTheWay, match="declined"):
            act()
    assert chat.head is not None and chat.head.merge is None


def test_a_comment_made_while_the_plan_was_read_is_kept_when_it_lands(chat: Conversation) -> None:
    chat.requests.open("debug")
    plan = chat.requests.accepting(1, chat.plan_merge("debug"))
    as_(chat, "ann").requests.comment(1, "Wait for me?")
    chat.merge(plan)
    assert [one.text for one in chat.requests.get(1).comments] == ["Wait for me?"]
    assert chat.requests.get(1).state == "accepted"


def test_accepting_after_the_branch_has_moved_goes_on_from_there(chat: Conversation) -> None:
    chat.requests.open("debug")
    plan = chat.requests.accepting(1, chat.plan_merge("debug").edited("What we found out."))
    talk(chat, "Quick?", "Yes.")
    with pytest.raises(Outdated):
        chat.merge(plan)
    assert chat.requests.get(1).state == "open"
    chat.merge(chat.merges.replan(plan))
    assert chat.requests.get(1).state == "accepted"
    assert chat.head is not None and chat.head.text == "What we found out."


def test_words_are_not_lost_where_somebody_merged_the_same_meanwhile(chat: Conversation) -> None:
    plan = chat.plan_merge("debug").edited("What we found out.")
    chat.merge(chat.plan_merge("debug", strategy="full"))
    with pytest.raises(Outdated):
        chat.merge(plan)
    again = chat.merges.replan(plan)
    assert again.lands and again.payload == "What we found out."
    assert again.warnings[0] == "“main” has all of “debug” meanwhile: this would say it once more."
    plain = chat.merges.replan(chat.plan_merge("debug"))
    assert not plain.lands


def test_the_same_is_not_proposed_twice_at_once(chat: Conversation) -> None:
    chat.requests.open("debug")
    with pytest.raises(InTheWay, match="Request 1"):
        chat.requests.open("debug")
    chat.requests.decline(1)
    assert chat.requests.open("debug").number == 2


def test_a_plan_of_something_else_accepts_nothing(chat: Conversation) -> None:
    chat.requests.open("debug")
    other = talk(chat.fork("other"), "More?", "More.")
    with pytest.raises(BadContent, match="not of"):
        chat.requests.accepting(1, chat.plan_merge(other))
    chat.merge(chat.plan_merge("debug"))
    with pytest.raises(NothingToDo):
        chat.requests.accepting(1, chat.plan_merge("debug"))


def test_requests_follow_a_renamed_branch_and_outlive_a_deleted_one(chat: Conversation) -> None:
    chat.requests.open("debug")
    chat.checkout("debug").branches.rename("enums")
    assert chat.requests.get(1).source == "enums"
    chat.branches.delete("enums")
    assert chat.requests.get(1).state == "open"
    with pytest.raises(NotFound):
        chat.plan_merge(chat.requests.get(1).source)
    chat.requests.decline(1, "The branch is gone.")


def picks_of(chat: Conversation, source: str, *at: int) -> list[str]:
    path = chat.checkout(source).path()
    return [path[one].id for one in at]


def with_an_idea(chat: Conversation) -> Conversation:
    """A second branch with something of its own, from where “debug” left."""
    talk(chat.fork("idea", at=chat.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    return chat


def test_proposed_picks_are_kept_and_land_as_they_are(chat: Conversation) -> None:
    picks = picks_of(chat, "debug", -2, -1)
    made = as_(chat, "ann").requests.open(
        "debug", strategy="cherry-pick", picks=[pick[:12] for pick in picks]
    )
    assert list(made.picks) == picks and chat.requests.get(1) == made
    assert chat.history.operations[-1].summary == "Asked to pick 2 of “debug” into “main”"
    plan = chat.plan_merge(made.sources, strategy=made.strategy, picks=made.picks)
    assert list(plan.turns) == picks
    chat.merge(chat.requests.accepting(1, plan))
    assert chat.requests.get(1).state == "accepted" and "request 1" in chat.history.operations[-1].summary
    assert [m.text for m in chat.path()[-2:]] == [chat.message(pick).text for pick in picks]


def test_other_picks_of_the_same_branch_are_another_proposal(chat: Conversation) -> None:
    one, other = picks_of(chat, "debug", -2, -1)
    chat.requests.open("debug", strategy="cherry-pick", picks=[one])
    assert chat.requests.open("debug", strategy="cherry-pick", picks=[one, other]).number == 2
    assert chat.requests.open("debug").number == 3
    with pytest.raises(InTheWay, match="Request 2"):
        chat.requests.open("debug", strategy="cherry-pick", picks=[other, one])


def test_picks_are_changed_and_go_with_the_cherry_pick(chat: Conversation) -> None:
    one, other = picks_of(chat, "debug", -2, -1)
    chat.requests.open("debug")
    with pytest.raises(BadContent, match="picked"):
        chat.requests.change(1, strategy="cherry-pick")
    with pytest.raises(BadContent, match="not picks"):
        chat.requests.change(1, picks=[one])
    chat.requests.change(1, strategy="cherry-pick", picks=[one])
    chat.requests.change(1, picks=[one, other])
    assert chat.requests.get(1).picks == (one, other)
    chat.requests.change(1, strategy="full")
    assert (chat.requests.get(1).strategy, chat.requests.get(1).picks) == ("full", ())


def test_several_branches_are_proposed_at_once_and_land_as_one_message(chat: Conversation) -> None:
    with_an_idea(chat)
    made = chat.requests.open([chat.checkout("debug"), "idea"], note="Both.")
    assert made.sources == ("debug", "idea")
    assert [one.source_head for one in made.others] == [chat.checkout("idea").branch.head]
    for alone in (["debug"], ["idea"]):
        with pytest.raises(BadContent, match="not of"):
            chat.requests.accepting(1, chat.plan_merge(alone))
    with pytest.raises(BadContent, match="not of"):
        chat.requests.accepting(1, chat.plan_merge("debug", strategy="three-way"))
    chat.merge(chat.requests.accepting(1, chat.plan_merge(["idea", "debug"], strategy="full")))
    assert chat.head is not None and len(chat.head.parents) == 3
    assert chat.requests.get(1).state == "accepted"
    with pytest.raises(InTheWay):
        chat.requests.decline(1)


def test_a_source_that_brings_nothing_new_does_not_stand_in_the_way(chat: Conversation) -> None:
    chat = with_an_idea(chat)
    chat.requests.open(["debug", "idea"])
    chat.merge(chat.plan_merge("debug"))
    planned = chat.plan_merge(chat.requests.get(1).sources)
    assert [side.source_name for side in planned.sides] == ["idea"]
    chat.merge(chat.requests.accepting(1, planned))
    assert chat.requests.get(1).state == "accepted"
    assert chat.requests.open(["idea", "debug"]).number == 2
    with pytest.raises(NothingToDo, match="“idea”, “debug”"):
        chat.requests.accepting(2, chat.plan_merge(["debug", "idea"]))


def test_a_request_of_several_follows_each_of_them(chat: Conversation) -> None:
    with_an_idea(chat)
    chat.requests.open(["debug", "idea"])
    chat.checkout("idea").branches.rename("stubs")
    assert chat.requests.get(1).sources == ("debug", "stubs")
    talk(chat.checkout("stubs"), "More?", "More.")
    chat.requests.change(1, note="Look again.")
    assert chat.requests.get(1).others[0].source_head == chat.checkout("stubs").branch.head
    with pytest.raises(NothingToDo, match="“stubs” cannot be merged into “stubs”"):
        chat.requests.change(1, into="stubs")


def test_a_branch_of_another_conversation_is_proposed_changed_and_accepted(forky: Workspace) -> None:
    chat, other = talk(forky.create("Here"), "Hello.", "Hello."), debugged(forky)
    debug = other.checkout("debug")
    made = chat.requests.open(debug, note="They found it.", focus="lazily")
    assert made.graft is not None and made.graft.conversation == other.id
    assert (made.named, made.source_head) == (("debug of Enums",), debug.branch.head)
    assert chat.history.operations[-1].summary == "Asked to graft “debug of Enums” into “main”"
    with pytest.raises(InTheWay, match="Request 1"):
        chat.requests.open(debug)
    chat.fork("debug")
    for wrong in (chat.plan_merge("debug", force=True), chat.merges.plan_graft(other.checkout("main"))):
        with pytest.raises(BadContent, match="not of"):
            chat.requests.accepting(1, wrong)
    chat.checkout("debug").branches.rename("own")
    assert chat.requests.get(1).source == "debug", "the branch of that name here is another one"
    picked = debug.path()[-1].id
    chat.requests.change(1, strategy="cherry-pick", picks=[picked[:14]])
    assert chat.requests.get(1).picks == (picked,)
    plan = chat.requests.plan(1)
    assert plan.graft is not None and plan.turns == (picked,)
    talk(debug, "Thanks.", "Welcome.")
    with pytest.raises(Outdated, match="Welcome"):
        chat.merge(chat.requests.accepting(1, plan))
    chat.merge(chat.merges.replan(chat.requests.accepting(1, plan)))
    assert chat.requests.get(1).state == "accepted"
    assert debug.message(picked).text in chat.path()[-1].text
    assert chat.history.operations[-1].verb == "graft" and "request 1" in chat.history.operations[-1].summary


def test_a_graft_that_nobody_could_accept_is_not_proposed(forky: Workspace) -> None:
    chat, other = debugged(forky), talk(forky.create("There"), "Hm?", "Hm.")
    with pytest.raises(NothingToDo, match="empty"):
        chat.requests.open(forky.create("Empty"))
    with pytest.raises(BadContent, match="alone"):
        chat.requests.open(["debug", other])
    other.merge(other.merges.plan_graft(chat))
    with pytest.raises(InTheWay, match="circle"):
        chat.requests.open(other)
    third = talk(forky.create("Third"), "Yes?", "No.")
    chat.requests.open(third)
    third.trash()
    forky.purge(third.id)
    with pytest.raises(NotFound):
        chat.requests.plan(1)
    chat.requests.decline(1)
    assert chat.requests.get(1).named == ("main of Third",)


def test_a_request_keeps_every_choice_of_its_author(chat: Conversation) -> None:
    chosen: MergeOptionFields = {
        "strategy": "three-way",
        "focus": "lazily",
        "budget": 150,
        "model": "scripted/two",
        "again": True,
        "policy": "newest",
    }
    made = as_(chat, "ann").requests.open("debug", **chosen)
    assert made.options == MergeOptions(
        "three-way", (), "lazily", 150, "scripted/two", again=True, policy="newest"
    )
    assert chat.requests.get(1) == made
    chat.requests.change(1, strategy="squash", model=None, budget=120)
    assert chat.requests.get(1).options == MergeOptions("squash", (), "lazily", 120, again=True)
    plan = chat.requests.plan(1)
    assert plan.options == chat.requests.get(1).options and plan.tokens <= 120
    assert plan == chat.plan_merge("debug", focus="lazily", budget=120, again=True)
    other = chat.requests.plan(1, strategy="full")
    assert other.strategy == "full" and other.options == MergeOptions("full", again=True)


def test_a_plan_is_proposed_as_it_is_shown(chat: Conversation) -> None:
    plan = chat.plan_merge("debug", focus="lazily").edited("We found out: collect lazily.")
    as_(chat, "ann").requests.open_plan(plan, note="Please.")
    request = chat.requests.get(1)
    assert (request.sources, request.options, dict(request.words)) == (
        ("debug",),
        plan.options,
        {"debug": "We found out: collect lazily."},
    )
    assert chat.requests.plan(1) == plan
    talk(chat.checkout("debug"), "And sets?", "The same.")
    assert "2 messages have come that these words say nothing about." in chat.requests.plan(1).warnings
    assert chat.requests.plan(1, own_words=False) == chat.plan_merge("debug", focus="lazily")
    chat.merge(chat.requests.accepting(1, chat.requests.plan(1)))
    assert chat.path()[-1].text == "We found out: collect lazily."
    assert chat.requests.get(1).state == "accepted"
    with pytest.raises(NothingToDo):
        chat.requests.open_plan(chat.plan_merge("debug"))


def test_words_for_one_of_several_branches_are_proposed(chat: Conversation) -> None:
    with_an_idea(chat)
    plan = chat.plan_merge(["debug", "idea"]).edited_side("idea", "Stubs as well.")
    chat.requests.open_plan(plan)
    chat.checkout("idea").branches.rename("stubs")
    assert dict(chat.requests.get(1).words) == {"stubs": "Stubs as well."}
    again = chat.requests.plan(1)
    assert [side.payload for side in again.sides] == [plan.sides[0].payload, "Stubs as well."]


def test_choices_between_conflicting_claims_are_proposed_and_land() -> None:
    chat, _ = begun("Set up the server.", "OK.", title="Server")
    talk(chat.fork("debug"), "No, use port 9090.", "Fine.")
    talk(chat, "Use port 8080.", "Fine.")
    with pytest.raises(BadContent, match="no conflict"):
        chat.requests.open("debug", strategy="three-way", choices={"colour": Choice("mine")})
    with pytest.raises(BadContent, match="no conflict to settle"):
        chat.requests.open("debug", choices={"port": Choice("mine")})
    shown = chat.plan_merge("debug", strategy="three-way")
    assert isinstance(shown, ThreeWayPlan)
    made = chat.requests.open_plan(shown.resolved({"port": Choice("theirs")}))
    assert [choice.take for choice in made.options.choices.values() if choice] == ["theirs"]
    plan = chat.requests.plan(1)
    assert isinstance(plan, ThreeWayPlan) and plan.unresolved == ()
    talk(chat, "Use port 7070.", "Fine.")
    moved = chat.requests.plan(1)
    assert isinstance(moved, ThreeWayPlan) and len(moved.unresolved) == 1
    assert any("1 resolution fits no conflict any more" in warning for warning in moved.warnings)
    chat.requests.change(1, choices={"port": Choice("text", "Ports are given by the system.")})
    chat.merge(chat.requests.accepting(1, chat.requests.plan(1)))
    assert chat.merges.unresolved == () and "given by the system" in chat.path()[-1].text


def test_what_is_stored_of_a_request_of_one_branch_is_as_it_was() -> None:
    """Requests that were made before there were picks read the same, and the same is written."""
    entry = {
        "source": "debug",
        "into": "main",
        "by": "ann",
        "note": "",
        "at": 1,
        "seen": None,
        "strategy": "squash",
        "state": "open",
    }
    request = MergeRequest.from_stored(1, entry)
    assert (request.sources, request.options, request.graft) == (("debug",), MergeOptions(), None)
    assert request.stored() == entry


NONSENSE: dict[str, tuple[Callable[[Conversation], object], type[Exception]]] = {
    "no source": (lambda chat: chat.requests.open("nowhere"), NotFound),
    "itself": (lambda chat: chat.requests.open("main"), NothingToDo),
    "no target": (lambda chat: chat.requests.open("debug", into="nowhere"), NotFound),
    "no such way": (lambda chat: chat.requests.open("debug", strategy="fuse"), BadContent),
    "a book": (lambda chat: chat.requests.open("debug", note="x" * 10_001), BadContent),
    "no picks": (lambda chat: chat.requests.open("debug", strategy="cherry-pick"), BadContent),
    "picks of a squash": (
        lambda chat: chat.requests.open("debug", picks=picks_of(chat, "debug", -1)),
        BadContent,
    ),
    "no such pick": (
        lambda chat: chat.requests.open("debug", strategy="cherry-pick", picks=["ffffffff"]),
        NotFound,
    ),
    "picked already": (
        lambda chat: chat.requests.open("debug", strategy="cherry-pick", picks=picks_of(chat, "main", 0)),
        NothingToDo,
    ),
    "several with itself": (lambda chat: chat.requests.open(["debug", "main"]), NothingToDo),
    "several with none": (lambda chat: chat.requests.open(["debug", "nowhere"]), NotFound),
    "several cherry-picked": (
        lambda chat: chat.requests.open(["debug", "more"], strategy="cherry-pick"),
        BadContent,
    ),
    "none": (lambda chat: chat.requests.open([]), BadContent),
    "no request": (lambda chat: chat.requests.get(7), NotFound),
    "a comment on none": (lambda chat: chat.requests.comment(7, "x"), NotFound),
}


@pytest.mark.parametrize(("act", "error"), NONSENSE.values(), ids=NONSENSE)
def test_a_senseless_request_is_a_sentence(
    chat: Conversation, act: Callable[[Conversation], object], error: type[Exception]
) -> None:
    chat.fork("more", at=chat.path()[0].id)
    count = len(chat.history.operations)
    with pytest.raises(error):
        act(chat)
    assert len(chat.history.operations) == count


def test_an_empty_comment_is_refused_and_nothing_changed_is_said(chat: Conversation) -> None:
    chat.requests.open("debug")
    with pytest.raises(BadContent, match="some words"):
        chat.requests.comment(1, "  ")
    with pytest.raises(NothingToDo):
        chat.requests.change(1, note="")


def test_requests_are_in_the_log_that_verify_replays(chat: Conversation) -> None:
    chat.requests.open("debug")
    chat.requests.comment(1, "Good.")
    chat.merge(chat.requests.accepting(1, chat.plan_merge("debug")))
    chat.undo()
    chat.redo()
    assert chat.requests.get(1).state == "accepted"
    assert chat.history.verify().clean
