"""Reviews of merge requests: who gives one, what it is of, and what becomes of rules that an earlier version stored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.forky import Forky
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model import Change
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NothingToDo
from forky_core.people import team_file
from forky_core.people.former_features import formerly_protected
from forky_core.people.members import Member
from forky_core.people.review_lists import review_lists
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.store.contract import Commit
from tests.builders import ScriptedModels, talk
from tests.people.people import Office


class Desk:
    """Ada's conversation, which Bob and Cleo edit; Dan comments."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = here.join("Ada", Role.OWNER)
        self.bob, self.cleo = here.join("Bob"), here.join("Cleo")
        self.dan = here.join("Dan", Role.COMMENTER)
        chat = talk(here.seen_by(self.ada).create("Boats", model="scripted/one"), "Why?", "Because.")
        self.id = chat.id
        here.team.sharing.share_with_everyone(chat.id, shared=True, by=self.ada.id)

    def of(self, member: Member, branch: str = "main") -> Conversation:
        """Their handle on the conversation."""
        return self.here.seen_by(member).conversation(self.id, branch)

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

    def outdated(self) -> list[str]:
        """Why each review of the first request is of an earlier state; "" for one that still counts."""
        chat = self.of(self.ada)
        request, heads = chat.requests.get(1), chat.requests.heads(1)
        return [review.outdated(request, heads) for review in chat.requests.reviews(1)]


@pytest.fixture
def desk(here: Office) -> Desk:
    return Desk(here)


@pytest.fixture
def asked(desk: Desk) -> Desk:
    """Bob has asked for a merge and Cleo has approved it."""
    desk.ask(desk.bob)
    desk.approve(desk.cleo)
    return desk


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(NotAllowed) as error:
        work()
    return f"{error.value} {error.value.hint}"


def test_a_commenters_request_is_landed_by_an_editor(desk: Desk) -> None:
    desk.ask(desk.dan)
    assert "You are a commenter" in refused(lambda: desk.land(desk.dan))
    desk.approve(desk.cleo)
    desk.land(desk.bob)
    request = desk.of(desk.ada).requests.get(1)
    assert (request.state, request.answered_by) == ("accepted", desk.bob.id)
    assert [review.by for review in desk.of(desk.ada).requests.reviews(1)] == [desk.cleo.id]


def test_an_approval_no_longer_counts_after_the_source_moved(asked: Desk) -> None:
    assert asked.outdated() == [""]
    asked.of(asked.bob, "bob/idea").say("And something nobody has seen.")
    assert asked.outdated() == ["“bob/idea” has moved since"]
    asked.approve(asked.cleo)
    assert asked.outdated() == [""]


def test_an_approval_no_longer_counts_after_the_target_moved(asked: Desk) -> None:
    asked.ask(asked.dan, "stones")
    asked.land(asked.bob, 2)
    assert asked.outdated() == ["“main” has moved since"]


def test_an_approval_no_longer_counts_after_the_request_was_changed(asked: Desk) -> None:
    asked.of(asked.bob).requests.change(1, note="Please.")
    assert asked.outdated() == [""], "a note is no part of what lands"
    asked.of(asked.bob).requests.change(1, focus="stones")
    assert asked.outdated() == ["the request was changed since"]


def test_nobody_approves_their_own(desk: Desk) -> None:
    desk.ask(desk.bob)
    assert "themselves" in refused(lambda: desk.approve(desk.bob))
    desk.here.team.members.rename(desk.bob.id, "Cleo")
    refused(lambda: desk.approve(desk.bob))


def test_whoever_changed_a_request_cannot_approve_it(desk: Desk) -> None:
    desk.ask(desk.bob)
    desk.of(desk.cleo).requests.change(1, focus="stones")
    refused(lambda: desk.approve(desk.cleo))
    desk.of(desk.cleo).undo()
    refused(lambda: desk.approve(desk.cleo))
    desk.approve(desk.ada)


def test_nobody_writes_a_review_in_the_name_of_somebody_else(desk: Desk) -> None:
    desk.ask(desk.bob)
    desk.ask(desk.dan, "other")
    desk.approve(desk.cleo, 2)
    forged = desk.of(desk.bob).view.entries[f"reviews/2/{desk.cleo.id}"]
    store = desk.here.seen_by(desk.bob).store
    others = Change(f"reviews/1/{desk.cleo.id}", None, forged)
    of_a_model = Change(f"reviews/1/{desk.cleo.id}/scripted/one", None, {**forged, "state": "read"})
    for verb in ("review", "undo", "restore"):
        for change in (others, of_a_model):
            commit = Commit(desk.id, verb, "", (change,))
            assert "only by the person" in refused(lambda commit=commit: store.commit(commit))  # type: ignore[misc]
    assert desk.of(desk.ada).requests.reviews(1) == ()


def test_a_model_reviews_for_whoever_may_comment_and_approves_nothing(desk: Desk) -> None:
    desk.ask(desk.bob)
    desk.of(desk.dan).requests.review_by(1, "scripted/one")
    (review,) = desk.of(desk.ada).requests.reviews(1)
    assert (review.by, review.asked_by, review.state) == ("scripted/one", desk.dan.id, "read")
    [waiting] = review_lists(desk.here.seen_by(desk.ada), desk.here.guard(desk.ada).access).to_review
    assert (waiting.approved, waiting.asking) == ((), ())


def test_who_asks_for_changes_says_which_and_may_take_it_back(asked: Desk) -> None:
    chat = asked.of(asked.ada)
    with pytest.raises(BadContent):
        chat.requests.ask_for_changes(1, " ")
    chat.requests.ask_for_changes(1, "Say where the stones are.")
    assert [one.state for one in chat.requests.reviews(1) if one.by == asked.ada.id] == ["changes"]
    chat.requests.withdraw_review(1)
    with pytest.raises(NothingToDo):
        chat.requests.withdraw_review(1)
    assert [one.by for one in chat.requests.reviews(1)] == [asked.cleo.id]


def test_an_answered_request_is_reviewed_no_more(asked: Desk) -> None:
    plan = asked.of(asked.ada).requests.plan(1)
    asked.land(asked.bob)
    with pytest.raises(InTheWay):
        asked.of(asked.ada).requests.approve(1, plan)
    assert len(asked.of(asked.ada).requests.reviews(1)) == 1


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


def test_a_number_that_is_given_again_has_no_approval(asked: Desk) -> None:
    asked.of(asked.bob).undo()
    talk(asked.of(asked.bob, "bob/idea").fork("bob/scheme"), "And then?", "Pay Bob.")
    asked.of(asked.bob).requests.open("bob/scheme")
    assert asked.of(asked.bob).requests.get(1).source == "bob/scheme"
    assert asked.outdated() == ["the request was changed since"]
    refused(lambda: asked.approve(asked.bob))


def test_an_import_speaks_for_nobody_of_the_team(desk: Desk) -> None:
    """Mallory's file says that Cleo approved a request of Bob's."""
    mallory = desk.here.join("Mallory")
    whole = desk.here.whole
    chat = talk(whole.create("Ships", model="scripted/one"), "Why?", "Because.")
    branch = talk(chat.fork("scheme"), "What now?", "Pay Mallory.")
    chat.people.as_person(desk.bob.id).requests.open(branch)
    chat.people.as_person(desk.cleo.id).requests.approve(1)
    file = chat_of(whole.store, chat.id)
    chat.trash()
    whole.purge(chat.id)
    his = desk.here.seen_by(mallory)
    mine = his.conversation(adopt(his, file).conversation, "main")
    people = {desk.bob.id, desk.cleo.id}
    assert people.isdisjoint(mine.requests.authors(1))
    assert people.isdisjoint(review.by for review in mine.requests.reviews(1))


def test_a_branch_is_whose_who_made_it(desk: Desk) -> None:
    chat = desk.of(desk.bob).fork("mine")
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


def test_rules_of_an_earlier_version_stay_in_the_file_and_keep_nobody_from_a_branch(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    row = ("main", "*", 2, '["person:01"]', 0)
    with Forky.open(database, models=ScriptedModels()) as whole:
        team = Team(team_file(database))
        join_team(whole, team)
        ada, bob = team.members.add("Ada", Role.OWNER), team.members.add("Bob", Role.EDITOR)
        chat = talk(member_view(whole, team, ada.id).create("Boats"), "Why?", "Because.")
        team.sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
        with team.database.writing() as connection:
            connection.execute(
                "INSERT INTO protected_branches VALUES (?, ?, ?, ?, ?, ?)", (row[0], chat.id, *row[1:])
            )
        team.close()
    with Forky.open(database, models=ScriptedModels()) as whole:
        team = Team(team_file(database))
        with caplog.at_level(logging.WARNING, "forky"):
            join_team(whole, team)
        assert "protection.gone conversations=1" in caplog.text
        assert formerly_protected(team.database, team.workspace) == {chat.id}
        his = member_view(whole, team, bob.id).conversation(chat.id, "main")
        assert his.say("And stones?").text == "And stones?"
        rows = team.database.rows(
            "SELECT workspace, pattern, approvals, reviewers, bypass FROM protected_branches"
        )
        assert [tuple(one) for one in rows] == [row]
        his.trash()
        member_view(whole, team, ada.id).purge(chat.id)
        assert team.database.rows("SELECT * FROM protected_branches") == [], "they go with their conversation"
        team.close()
