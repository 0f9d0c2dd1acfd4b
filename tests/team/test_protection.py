"""A protected branch changes only by a merge request with the reviews that its rule requires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.recording.recording import Reply
from forky_core.experiments.experiments import Experiments
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.matching import chat_call
from forky_core.model import Change, Operation
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound, NothingToDo, Outdated
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow
from forky_core.model.parts import TextPart
from forky_core.store.contract import Commit, Store
from forky_core.team.access import Access
from forky_core.team.branch_protection import BranchProtection
from forky_core.team.guarded_store import GuardedStore
from forky_core.team.members import Member
from forky_core.team.protection import BranchRule, rule_for
from forky_core.team.roles import Role
from tests.builders import talk
from tests.formats.sources import written
from tests.formats.test_landing import chat as exported
from tests.store.talk import generation, said
from tests.team.people import Office


class Desk:
    """Ada's conversation, of which `main` and `release/*` are protected; Bob and Cleo edit it, Dan comments."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = here.join("Ada", Role.OWNER)
        self.bob, self.cleo = here.join("Bob"), here.join("Cleo")
        self.dan = here.join("Dan", Role.COMMENTER)
        chat = talk(here.seen_by(self.ada).create("Boats", model="scripted/one"), "Why?", "Because.")
        self.id = chat.id
        talk(chat.fork("before the rule"), "And before?", "Nothing.")
        here.team.sharing.share_with_everyone(chat.id, shared=True, by=self.ada.id)
        self.protect(self.ada, BranchRule("main"))
        self.protect(self.ada, BranchRule("release/*"))

    def of(self, member: Member, branch: str = "main") -> Conversation:
        """Their handle on the conversation."""
        return self.here.seen_by(member).conversation(self.id, branch)

    def rules(self, member: Member) -> BranchProtection:
        return BranchProtection(self.here.team, self.access(member), self.of(member, "before the rule"))

    def access(self, member: Member) -> Access:
        store = self.here.seen_by(member).store
        assert isinstance(store, GuardedStore)
        return store.access

    def protect(self, member: Member, rule: BranchRule) -> None:
        self.rules(member).protect(rule)

    def ask(self, member: Member, name: str = "idea") -> MergeRequest:
        """A branch of theirs with an answer, and their request to merge it into `main`."""
        chat = self.of(member)
        branch = talk(chat.fork(f"{member.handle}/{name}"), f"What of {name}?", f"It is {name}.")
        return chat.requests.open(branch)

    def approve(self, member: Member, number: int = 1) -> None:
        self.of(member).requests.approve(number)

    def land(self, member: Member, number: int = 1) -> None:
        chat = self.of(member)
        chat.merge(chat.requests.accepting(number, chat.requests.plan(number)))

    @property
    def head(self) -> object:
        return self.here.whole.store.view(self.id).branches["main"].head


@pytest.fixture
def desk(here: Office) -> Desk:
    return Desk(here)


def refused(work: Callable[[], object]) -> str:
    """The sentence by which a change of a protected branch is refused."""
    with pytest.raises(NotAllowed) as error:
        work()
    return f"{error.value} {error.value.hint}"


# The way that is meant.


def test_a_request_that_somebody_else_approved_lands(desk: Desk) -> None:
    desk.ask(desk.bob)
    assert "0 of 1 approval" in refused(lambda: desk.land(desk.bob))
    desk.approve(desk.cleo)
    desk.land(desk.bob)
    request = desk.of(desk.ada).requests.get(1)
    assert request.state == "accepted"
    assert [review.by for review in desk.of(desk.ada).requests.reviews(1)] == [desk.cleo.id]


def test_what_is_refused_offers_the_way(desk: Desk) -> None:
    sentence = refused(lambda: desk.of(desk.bob).say("Directly."))
    assert "“main” is protected" in sentence and "bob/idea" in sentence and "ask for its merge" in sentence


def test_a_commenters_request_is_landed_by_an_editor(desk: Desk) -> None:
    desk.ask(desk.dan)
    desk.approve(desk.bob)
    refused(lambda: desk.land(desk.dan))
    desk.land(desk.bob)
    assert desk.of(desk.bob).requests.get(1).answered_by == desk.bob.id


def test_a_rule_without_approvals_needs_the_request_alone(desk: Desk) -> None:
    desk.protect(desk.ada, BranchRule("main", 0))
    desk.ask(desk.bob)
    refused(lambda: desk.of(desk.bob).merge(desk.of(desk.bob).plan_merge("bob/idea")))
    desk.land(desk.bob)


def test_a_branch_that_only_continues_moves_forward_by_a_request(desk: Desk) -> None:
    chat = desk.of(desk.bob)
    talk(chat.fork("bob/idea"), "More?", "Yes.")
    chat.requests.open("bob/idea", strategy="full")
    assert chat.requests.plan(1).fast_forward is not None
    desk.approve(desk.cleo)
    desk.land(desk.cleo)
    assert desk.head == desk.of(desk.bob, "bob/idea").branch.head


# Each kind of change that could move a protected branch.


def _prune(chat: Conversation) -> object:
    return chat.branches.prune(chat.branches.plan_prune(chat.path()[0].id))


def _rename_onto(chat: Conversation) -> object:
    return chat.checkout("before the rule").branches.rename("release/1")


def _raw(chat: Conversation, **more: object) -> object:
    at = chat.view.entries["heads/main"]
    message = said("Raw.", chat.path()[-1])
    change = Change("heads/main", at, {"at": message.id})
    return chat._session.store.commit(Commit(chat.id, "import", "", (change,), (message,), **more))  # type: ignore[arg-type]


DIRECT: dict[str, Callable[[Conversation], object]] = {
    "say": lambda chat: chat.say("Directly."),
    "ask": lambda chat: chat.ask("Directly?"),
    "send": lambda chat: chat.send("Directly?"),
    "post": lambda chat: chat.people.post("Directly."),
    "append": lambda chat: chat.branches.empty(),
    "regenerate": lambda chat: chat.regenerate(),
    "merge": lambda chat: chat.merge(chat.plan_merge("before the rule")),
    "full merge": lambda chat: chat.merge(chat.plan_merge("before the rule", strategy="full")),
    "promote": lambda chat: chat.branches.promote(chat.path()[0].id),
    "delete": lambda chat: chat.branches.delete(),
    "rename away": lambda chat: chat.branches.rename("old"),
    "rename onto": _rename_onto,
    "fork onto": lambda chat: chat.fork("release/2"),
    "prune": _prune,
    "system prompt": lambda chat: chat.rules.set(system="Lie."),
    "model": lambda chat: chat.rules.set(model="scripted/two"),
    "raw commit": _raw,
    "raw commit that claims to be an undo": lambda chat: _raw(chat, reverts=(1,)),
    "several commits": lambda chat: chat._session.store.commit_all(
        [Commit(chat.id, "delete", "", (Change("heads/main", chat.view.entries["heads/main"], None),))]
    ),
}


@pytest.mark.parametrize("kind", DIRECT)
def test_no_direct_change_reaches_a_protected_branch(desk: Desk, kind: str) -> None:
    entries = dict(desk.of(desk.bob).view.entries)
    for member in (desk.bob, desk.ada):  # Its owner may bypass only if the rule says so.
        if member is desk.ada and kind in {"rename onto", "fork onto", "system prompt", "model"}:
            continue
        assert "protected" in refused(lambda member=member: DIRECT[kind](desk.of(member)))  # type: ignore[misc]
    assert dict(desk.of(desk.bob).view.entries) == entries


def test_the_owner_makes_protected_names_and_sets_their_rules(desk: Desk) -> None:
    chat = desk.of(desk.ada)
    release = chat.fork("release/2")
    refused(lambda: release.say("Directly."))
    chat.rules.set(system="Be brief.")
    assert chat.branch.rules.system == "Be brief."


# What an approval is of.


@pytest.fixture
def asked(desk: Desk) -> Desk:
    """Bob has asked for a merge and Cleo has approved it."""
    desk.ask(desk.bob)
    desk.approve(desk.cleo)
    return desk


def test_an_approval_no_longer_counts_after_the_source_moved(asked: Desk) -> None:
    asked.of(asked.bob, "bob/idea").say("And something nobody has seen.")
    sentence = refused(lambda: asked.land(asked.bob))
    assert "The approval of Cleo does not count: “bob/idea” has moved since." in sentence
    asked.approve(asked.cleo)
    asked.land(asked.bob)


def test_an_approval_no_longer_counts_after_the_target_moved(asked: Desk) -> None:
    asked.ask(asked.dan, "stones")
    asked.approve(asked.cleo, 2)
    asked.land(asked.bob, 2)
    assert "“main” has moved since" in refused(lambda: asked.land(asked.bob))


def test_an_approval_no_longer_counts_after_the_request_was_changed(asked: Desk) -> None:
    asked.of(asked.bob).requests.change(1, note="Please.")
    found = asked.rules(asked.ada).standing(asked.of(asked.ada).requests.get(1))
    assert found is not None and found.ready, "a note is no part of what lands"
    asked.of(asked.bob).requests.change(1, focus="stones")
    assert "the request was changed since" in refused(lambda: asked.land(asked.bob))


def test_nothing_lands_but_the_text_that_was_approved(asked: Desk) -> None:
    chat = asked.of(asked.bob)
    plan = chat.requests.plan(1)
    edited = chat.requests.accepting(1, plan.edited(f"{plan.payload}\n- Give Bob the money."))
    assert "something else would land" in refused(lambda: chat.merge(edited))
    full = chat.requests.accepting(1, chat.requests.plan(1, strategy="full"))
    assert "something else would land" in refused(lambda: chat.merge(full))
    assert asked.of(asked.ada).requests.get(1).state == "open"


def test_an_approval_for_one_request_lands_no_other(asked: Desk) -> None:
    asked.ask(asked.bob, "scheme")
    chat = asked.of(asked.bob)
    plan = chat.requests.accepting(2, chat.requests.plan(2))
    assert "0 of 1" in refused(lambda: chat.merge(plan))


def test_a_request_for_another_branch_opens_no_protected_one(asked: Desk) -> None:
    chat = asked.of(asked.bob)
    entry = dict(chat.view.entries["requests/1"])
    at, target = chat.view.entries["heads/main"], asked.of(asked.bob, "bob/idea").head
    assert target is not None
    asked.of(asked.bob).requests.change(1, into="before the rule")
    before = dict(asked.of(asked.bob).view.entries["requests/1"])
    changes = (
        Change("heads/main", at, {"at": target.id}),
        Change("requests/1", before, {**before, "state": "accepted", "answered_by": asked.bob.id}),
    )
    refused(lambda: chat._session.store.commit(Commit(chat.id, "merge", "", changes)))
    assert entry["into"] == "main"


def test_an_accepted_request_takes_a_branch_only_forward(asked: Desk) -> None:
    asked.protect(asked.ada, BranchRule("main", 0))
    chat = asked.of(asked.bob)
    first, before = chat.path()[0], chat.view.entries["requests/1"]
    assert isinstance(before, dict)
    changes = (
        Change("heads/main", chat.view.entries["heads/main"], {"at": first.id}),
        Change("requests/1", before, {**before, "state": "accepted", "answered_by": asked.bob.id}),
    )
    refused(lambda: chat._session.store.commit(Commit(chat.id, "merge", "", changes)))


# Who may approve.


def test_nobody_approves_their_own(desk: Desk) -> None:
    desk.ask(desk.bob)
    assert "themselves" in refused(lambda: desk.approve(desk.bob))
    desk.here.team.members.rename(desk.bob.id, "Cleo")
    refused(lambda: desk.approve(desk.bob))
    refused(lambda: desk.land(desk.bob))


def test_whoever_changed_a_request_cannot_approve_it(desk: Desk) -> None:
    desk.ask(desk.bob)
    desk.of(desk.cleo).requests.change(1, focus="stones")
    refused(lambda: desk.approve(desk.cleo))
    desk.of(desk.cleo).undo()
    refused(lambda: desk.approve(desk.cleo))
    desk.approve(desk.ada)
    desk.land(desk.cleo)


def test_an_approval_that_is_written_past_the_verb_is_no_approval(desk: Desk) -> None:
    """Neither one's own of one's own request, nor one in somebody else's name."""
    desk.ask(desk.bob)
    desk.ask(desk.dan, "other")
    desk.approve(desk.cleo, 2)
    stored = desk.of(desk.bob).view.entries[f"reviews/2/{desk.cleo.id}"]
    plan = desk.of(desk.bob).requests.plan(1)
    assert isinstance(stored, dict)
    forged = {**stored, "lands": plan.fast_forward or None}
    store = desk.here.seen_by(desk.bob).store
    own = Change(f"reviews/1/{desk.bob.id}", None, forged)
    store.commit(Commit(desk.id, "review", "", (own,)))
    for verb in ("review", "undo", "restore"):
        others = Change(f"reviews/1/{desk.cleo.id}", None, forged)
        assert "only by the person" in refused(
            lambda verb=verb, others=others: store.commit(Commit(desk.id, verb, "", (others,)))  # type: ignore[misc]
        )
    assert "own" in refused(lambda: desk.land(desk.bob))


@pytest.mark.parametrize("how", ["removed", "commenter", "viewer", "no longer shared"])
def test_a_revoked_reviewers_approval_does_not_count(desk: Desk, how: str) -> None:
    team = desk.here.team
    team.sharing.share_with_everyone(desk.id, shared=False, by=desk.ada.id)
    for member in (desk.bob, desk.cleo):
        team.sharing.share(desk.id, member.id, Role.EDITOR, by=desk.ada.id)
    desk.ask(desk.bob)
    desk.approve(desk.cleo)
    if how == "removed":
        team.members.remove(desk.cleo.id, by=desk.ada.id)
    else:
        role = {"commenter": Role.COMMENTER, "viewer": Role.VIEWER}.get(how, Role.NONE)
        team.sharing.share(desk.id, desk.cleo.id, role, by=desk.ada.id)
    assert "The approval of Cleo does not count" in refused(lambda: desk.land(desk.bob))


def test_a_commenter_may_review_and_counts_only_where_named(desk: Desk) -> None:
    desk.ask(desk.bob)
    desk.approve(desk.dan)
    assert "they may not edit this conversation" in refused(lambda: desk.land(desk.bob))
    desk.protect(desk.ada, BranchRule("main", 1, (desk.dan.id,)))
    desk.land(desk.bob)


def test_a_named_reviewer_has_to_approve(desk: Desk) -> None:
    desk.protect(desk.ada, BranchRule("main", 1, (desk.cleo.id,)))
    desk.ask(desk.bob)
    desk.approve(desk.ada)
    assert "It waits for the approval of Cleo." in refused(lambda: desk.land(desk.bob))
    desk.approve(desk.cleo)
    desk.land(desk.bob)


def test_a_named_reviewer_who_left_is_waited_for_until_the_rule_is_changed(desk: Desk) -> None:
    desk.protect(desk.ada, BranchRule("main", 1, (desk.cleo.id,)))
    desk.ask(desk.bob)
    desk.approve(desk.cleo)
    desk.here.team.members.remove(desk.cleo.id, by=desk.ada.id)
    desk.approve(desk.ada)
    assert "waits for the approval of Cleo" in refused(lambda: desk.land(desk.bob))
    desk.protect(desk.ada, BranchRule("main"))
    desk.land(desk.bob)


def test_whoever_asks_for_changes_holds_it_up_until_they_say_otherwise(asked: Desk) -> None:
    chat = asked.of(asked.ada)
    with pytest.raises(BadContent):
        chat.requests.ask_for_changes(1, " ")
    chat.requests.ask_for_changes(1, "Say where the stones are.")
    assert "Ada asks for changes" in refused(lambda: asked.land(asked.bob))
    asked.of(asked.bob, "bob/idea").say("They are at the lake.", role="assistant")
    asked.approve(asked.cleo)
    assert "Ada asks for changes" in refused(lambda: asked.land(asked.bob))
    chat.requests.withdraw_review(1)
    with pytest.raises(NothingToDo):
        chat.requests.withdraw_review(1)
    asked.land(asked.bob)


def test_an_answered_request_is_reviewed_no_more(asked: Desk) -> None:
    plan = asked.of(asked.ada).requests.plan(1)
    asked.land(asked.bob)
    with pytest.raises(InTheWay):
        asked.of(asked.ada).requests.approve(1, plan)
    assert len(asked.of(asked.ada).requests.reviews(1)) == 1


# What goes back.


def test_undo_does_not_pass_the_protection(asked: Desk) -> None:
    asked.land(asked.bob)
    head = asked.head
    for member in (asked.bob, asked.ada):
        assert "protected" in refused(asked.of(member).undo)
    assert asked.head == head


def test_undo_and_restore_do_not_reach_what_was_before_the_protection(desk: Desk) -> None:
    """Everything since the conversation began was done before there was a rule."""
    desk.rules(desk.ada).lift("main")
    chat = desk.of(desk.bob)
    chat.say("Later.")
    desk.protect(desk.ada, BranchRule("main"))
    head = desk.head
    for number in (1, 2, chat.view.version - 1):
        assert "protected" in refused(lambda number=number: chat.history.restore(number))  # type: ignore[misc]
    assert "protected" in refused(chat.undo)
    assert desk.head == head


def test_reviews_outlive_undo_and_restore(asked: Desk) -> None:
    """The last thing that can be undone is the request, not Cleo's review of it."""
    number = asked.of(asked.bob).view.version
    asked.of(asked.bob).undo()
    assert asked.of(asked.bob).requests.all == ()
    assert [one.by for one in asked.of(asked.bob).requests.reviews(1)] == [asked.cleo.id]
    asked.of(asked.bob).redo()
    asked.of(asked.cleo).requests.withdraw_review(1)
    asked.of(asked.bob).rename("Ships")
    asked.of(asked.bob).history.restore(number)
    assert asked.of(asked.bob).requests.reviews(1) == ()
    refused(lambda: asked.land(asked.bob))


def test_a_number_that_is_given_again_has_no_approval(asked: Desk) -> None:
    asked.of(asked.bob).undo()
    talk(asked.of(asked.bob, "bob/idea").fork("bob/scheme"), "And then?", "Pay Bob.")
    asked.of(asked.bob).requests.open("bob/scheme")
    assert asked.of(asked.bob).requests.get(1).source == "bob/scheme"
    assert "the request was changed since" in refused(lambda: asked.land(asked.bob))
    refused(lambda: asked.approve(asked.bob))


def test_a_review_that_is_withdrawn_at_the_same_second_stops_the_landing(asked: Desk) -> None:
    chat = asked.of(asked.bob)
    seen = asked.here.seen_by(asked.bob).store
    assert isinstance(seen, GuardedStore)
    guarded: GuardedStore = seen
    whole: Store = guarded._store

    class Slow:
        """The store, in which Cleo withdraws between the check and the write."""

        def __getattr__(self, name: str) -> object:
            return getattr(whole, name)

        def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
            guarded._store = whole
            asked.of(asked.cleo).requests.withdraw_review(1)
            return whole.commit_all(commits)

    plan = chat.requests.accepting(1, chat.requests.plan(1))
    guarded._store = cast("Store", Slow())
    with pytest.raises(Outdated):
        chat.merge(plan)
    assert asked.of(asked.ada).requests.get(1).state == "open"


# The trash.


def test_a_conversation_with_a_protected_branch_is_trashed_by_its_owners_alone(desk: Desk) -> None:
    sentence = refused(desk.of(desk.bob).trash)
    assert "a protected branch, “main”: only Ada, whom it belongs to" in sentence
    assert not desk.of(desk.bob).view.trashed
    desk.of(desk.ada).trash()
    desk.of(desk.bob).take_back()
    assert "only Ada" in refused(desk.of(desk.bob).undo), "undoing that would trash it again"
    olga = desk.here.join("Olga", Role.OWNER)
    desk.of(olga).trash()
    for member in (desk.bob, desk.dan):
        refused(lambda member=member: desk.here.seen_by(member).purge(desk.id))  # type: ignore[misc]
    desk.here.seen_by(desk.ada).purge(desk.id)


def test_no_restore_and_no_redo_trashes_it_for_others(desk: Desk) -> None:
    desk.rules(desk.ada).lift("main")
    desk.rules(desk.ada).lift("release/*")
    trashed = desk.of(desk.bob).trash().number
    desk.of(desk.bob).undo()
    desk.protect(desk.ada, BranchRule("main"))
    assert "only Ada" in refused(desk.of(desk.bob).redo)
    assert "only Ada" in refused(lambda: desk.of(desk.bob).history.restore(trashed))
    assert not desk.of(desk.bob).view.trashed


def test_a_rule_that_protects_no_branch_there_is_keeps_nothing_from_the_trash(desk: Desk) -> None:
    desk.rules(desk.ada).lift("main")
    desk.of(desk.bob).trash()
    assert desk.of(desk.bob).view.trashed


def test_an_import_is_not_taken_back_where_that_trashes_a_protected_branch(
    desk: Desk, tmp_path: Path
) -> None:
    """Bob brings two conversations and hands one over to Ada, who protects a branch of it."""
    his = desk.here.seen_by(desk.bob)
    done = import_file(his, written(tmp_path, [exported("a", "Why?", "So."), exported("b", "Who?", "We.")]))
    given, kept = done.conversations
    team = desk.here.team
    team.sharing.hand_over(given, desk.ada.id, by=desk.bob.id)
    [branch] = his.store.view(given).branches
    team.protections.protect(given, BranchRule(branch), by=desk.ada.id)
    assert "only Ada" in refused(lambda: undo_import(his, done.number))
    assert not any(his.store.view(id).trashed for id in (given, kept)), "nothing was undone"
    team.protections.lift(given, branch, by=desk.ada.id)
    assert undo_import(his, done.number) == 2


def test_tidying_an_experiment_leaves_a_protected_branch(desk: Desk) -> None:
    experiments = Experiments(desk.of(desk.bob))
    experiments.save(
        Experiment(
            "tried", rows=(ExperimentRow("Why?"),), columns=(ExperimentColumn("scripted/one", id="one"),)
        )
    )
    experiments.run("tried")
    desk.protect(desk.ada, BranchRule("tried/*"))
    entries = dict(desk.of(desk.bob).view.entries)
    assert "tried/1/one" in desk.of(desk.bob).view.branches
    assert "protected" in refused(lambda: experiments.delete("tried"))
    assert dict(desk.of(desk.bob).view.entries) == entries


# The owner's way past.


def test_the_owner_bypasses_only_where_the_rule_says_so_and_it_is_in_the_audit_log(desk: Desk) -> None:
    def events() -> list[str]:
        return [one.event for one in desk.here.team.audit.entries()]

    refused(lambda: desk.of(desk.ada).say("Directly."))
    desk.protect(desk.ada, BranchRule("main", 1, bypass=True))
    assert "protection bypassed" not in events()
    desk.of(desk.ada).say("Directly.")
    assert events()[-1] == "protection bypassed"
    other = desk.here.join("Olga", Role.OWNER)
    for member in (desk.bob, other):
        refused(lambda member=member: desk.of(member).say("Directly."))  # type: ignore[misc]
    desk.ask(desk.bob)
    desk.approve(desk.cleo)
    desk.land(desk.ada)
    assert events().count("protection bypassed") == 1, "a reviewed request passes by nothing"
    desk.here.team.sharing.hand_over(desk.id, desk.bob.id, by=desk.ada.id)
    refused(lambda: desk.of(desk.ada).say("Directly."))
    desk.of(desk.bob).say("Directly.")


def test_only_whom_the_conversation_belongs_to_says_what_is_protected(desk: Desk) -> None:
    olga = desk.here.join("Olga", Role.OWNER)
    for member in (desk.bob, olga):
        assert "belongs to Ada" in refused(lambda member=member: desk.protect(member, BranchRule("x")))  # type: ignore[misc]
        refused(lambda member=member: desk.rules(member).lift("main"))  # type: ignore[misc]
    with pytest.raises(NotFound):
        desk.rules(desk.ada).lift("nothing")
    with pytest.raises(BadContent):
        desk.protect(desk.ada, BranchRule("main", 1, (desk.here.join("Vi", Role.VIEWER).id,)))
    for rule in (BranchRule(" "), BranchRule("a\nb"), BranchRule("main", -1), BranchRule("main", 21)):
        with pytest.raises(BadContent):
            desk.protect(desk.ada, rule)
    desk.rules(desk.ada).lift("main")
    desk.of(desk.bob).say("Directly.")


# Ways around.


def test_an_import_brings_no_approvals(desk: Desk) -> None:
    """Mallory's file says that Cleo approved his request; he hands the conversation over to Ada."""
    mallory = desk.here.join("Mallory")
    whole = desk.here.whole
    chat = talk(whole.create("Ships", model="scripted/one"), "Why?", "Because.")
    branch = talk(chat.fork("scheme"), "What now?", "Pay Mallory.")
    chat.people.as_person(desk.bob.id).requests.open(branch)
    chat.people.as_person(desk.cleo.id).requests.approve(1)
    chat.people.as_person(mallory.id).requests.approve(1)
    file = chat_of(whole.store, chat.id)
    chat.trash()
    whole.purge(chat.id)
    his = desk.here.seen_by(mallory)
    mine = his.conversation(adopt(his, file).conversation, "main")
    team = desk.here.team
    team.sharing.hand_over(mine.id, desk.ada.id, by=mallory.id)
    team.protections.protect(mine.id, BranchRule("main"), by=desk.ada.id)
    sentence = refused(lambda: mine.merge(mine.requests.accepting(1, mine.requests.plan(1))))
    assert "Nobody knows who proposed it" in sentence


def test_a_graft_comes_only_by_a_reviewed_request(desk: Desk) -> None:
    his = desk.here.seen_by(desk.bob)
    away = talk(his.create("Notes"), "What floats?", "Cork.")
    chat = desk.of(desk.bob)
    assert "protected" in refused(lambda: chat.merge(chat.merges.plan_graft(away)))
    chat.requests.open(away)
    desk.here.team.sharing.share(away.id, desk.cleo.id, Role.VIEWER, by=desk.bob.id)
    desk.approve(desk.cleo)
    away.say("And stones.", role="assistant")
    assert "has moved since" in refused(lambda: desk.land(desk.bob))
    desk.approve(desk.cleo)
    desk.land(desk.bob)


def test_a_program_writes_nothing_to_a_protected_branch(desk: Desk) -> None:
    head = desk.head
    turns = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "Because."},
        {"role": "user", "content": "And then?"},
    ]
    call = chat_call({"model": "scripted/one", "messages": turns})
    his = desk.here.seen_by(desk.bob)
    assert "protected" in refused(
        lambda: his.record(call, Reply((TextPart("Nothing."),)), scope="", conversation=desk.id)
    )
    assert desk.head == head


def test_a_reply_that_began_before_the_protection_is_not_added(desk: Desk) -> None:
    desk.rules(desk.ada).lift("main")
    store = desk.here.seen_by(desk.bob).store
    call = generation(7, "running", branch="main")
    store.record(desk.id, call)
    desk.protect(desk.ada, BranchRule("main"))
    store.record(desk.id, call)  # Its progress is kept.
    assert "protected" in refused(lambda: store.record(desk.id, generation(8, "running", branch="main")))
    store.record(desk.id, generation(9, "running", branch="before the rule"))


def test_no_model_is_asked_for_a_reply_that_could_not_land(desk: Desk) -> None:
    chat = desk.of(desk.bob)
    before = len(chat.calls.generations)
    for work in (chat.regenerate, lambda: chat.ask("Now?")):
        refused(work)
    assert len(chat.calls.generations) == before


def test_rules_go_with_their_conversation(desk: Desk) -> None:
    desk.of(desk.ada).trash()
    desk.here.seen_by(desk.ada).purge(desk.id)
    assert desk.here.team.protections.of(desk.id) == ()


def test_what_is_not_seen_is_not_found(desk: Desk) -> None:
    eve = desk.here.join("Eve")
    desk.here.team.sharing.share_with_everyone(desk.id, shared=False, by=desk.ada.id)
    rules = BranchProtection(desk.here.team, desk.access(eve), desk.of(desk.ada))
    for work in (lambda: rules.rules, lambda: rules.lift("main"), lambda: rules.protect(BranchRule("x"))):
        with pytest.raises(NotFound):
            work()
    assert desk.access(eve).rules_of(desk.id) == ()


# Patterns, and whose a branch is.


@pytest.mark.parametrize(
    ("pattern", "covered", "left"),
    [
        ("main", ["main"], ["Main", "main2", "a/main", "main/x"]),
        ("release/*", ["release/1", "release/a/b", "release/"], ["release", "prerelease/1"]),
        ("*-final", ["a-final", "-final"], ["final", "a-final2"]),
        ("a*b*c", ["abc", "a1b2c", "abbc"], ["ab", "acb", "ac"]),
        ("*", ["", "anything"], []),
        ("ab*ba", ["abba", "abxba"], ["aba"]),
        ("[a].?", ["[a].?"], ["a.x"]),
    ],
)
def test_a_star_stands_for_any_characters(pattern: str, covered: list[str], left: list[str]) -> None:
    rule = BranchRule(pattern)
    assert [name for name in covered if not rule.covers(name)] == []
    assert [name for name in left if rule.covers(name)] == []


def test_of_several_rules_the_strictest_holds() -> None:
    rules = [BranchRule("release/*", 2, ("a",), bypass=True), BranchRule("*/1", 1, ("b",)), BranchRule("x")]
    found = rule_for(rules, "release/1")
    assert found is not None
    assert (found.approvals, found.reviewers, found.bypass) == (2, ("a", "b"), False)
    assert rule_for(rules, "main") is None


def test_a_branch_is_whose_who_made_it(desk: Desk) -> None:
    chat = desk.of(desk.bob, "before the rule").fork("mine")
    assert chat.branches.owner() == desk.bob.id and chat.branches.owner("main") == desk.ada.id
    desk.of(desk.cleo, "mine").branches.rename("hers")
    assert desk.of(desk.dan).branches.owner("hers") == desk.bob.id
    desk.of(desk.cleo).undo()
    assert desk.of(desk.dan).branches.owner("mine") == desk.bob.id
    desk.of(desk.cleo, "mine").branches.delete()
    desk.of(desk.dan).checkout("main")
    desk.of(desk.cleo).fork("mine")
    assert desk.of(desk.bob).branches.owner("mine") == desk.cleo.id
    assert desk.of(desk.bob).branches.owner("never") == ""


# What waits for whom.


def test_a_request_waits_for_those_whose_approval_is_missing(desk: Desk) -> None:
    def waits(number: int = 1) -> list[str]:
        members = (desk.ada, desk.bob, desk.cleo, desk.dan)
        request = desk.of(desk.ada).requests.get(number)
        return [one.name for one in members if desk.rules(one).needs_review_of(request)]

    desk.ask(desk.bob)
    assert waits() == ["Ada", "Cleo"]
    desk.protect(desk.ada, BranchRule("main", 1, (desk.dan.id,)))
    assert waits() == ["Dan"]
    desk.protect(desk.ada, BranchRule("main", 2, (desk.dan.id,)))
    assert waits() == ["Ada", "Cleo", "Dan"]
    desk.approve(desk.dan)
    desk.of(desk.cleo).requests.ask_for_changes(1, "More.")
    assert waits() == ["Ada"]
    desk.rules(desk.ada).lift("main")
    assert waits() == ["Ada"], "without a rule it is for whoever the conversation belongs to"
    desk.land(desk.bob)
    assert waits() == []
