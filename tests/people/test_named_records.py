"""Merge requests, polls and votes speak in the name of whoever made them, by the verbs and by a commit without them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model import Change, ConversationId, MessageId
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound
from forky_core.model.parts import Json
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.store.contract import Commit
from tests.builders import talk
from tests.people.people import Office

REQUEST, POLL = "requests/1", "polls/1"


class Club:
    """A conversation of Ada's in which Bob, a commenter, asked for a merge, and Mallory, another one, wants more."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada, self.eve = here.join("Ada", Role.OWNER), here.join("Eve", Role.EDITOR)
        self.bob, self.mallory = here.join("Bob", Role.COMMENTER), here.join("Mallory", Role.COMMENTER)
        self.chat = talk(here.seen_by(self.ada).create("Boats"), "Why do boats float?", "Because.")
        here.team.sharing.share_with_everyone(self.chat.id, shared=True, by=self.ada.id)
        question, answer = self.chat.path()
        again = self.chat.fork("again", at=question.id)
        again.say("They are light.", role="assistant")
        self.answers: list[MessageId] = [answer.id, again.path()[-1].id]
        talk(self.chat.fork("idea"), "And ice?", "Ice floats.")
        self.of(self.bob).requests.open("idea", into="main", note="Please.")
        self.chat.polls.open(self.answers)

    def of(self, member: Member) -> Conversation:
        return self.here.seen_by(member).conversation(self.chat.id)

    def entry(self, key: str) -> Json:
        return self.chat.view.entries.get(key)

    def write(self, member: Member, *changes: tuple[str, Json], verb: str = "request") -> None:
        """Commit these values past every verb."""
        made = tuple(Change(key, self.entry(key), value) for key, value in changes)
        self.here.seen_by(member).store.commit(Commit(self.chat.id, verb, "", made))

    def request(self, **changes: Json) -> Json:
        return {**self.entry(REQUEST), **changes}

    def vote(self, choice: str = "tie", **more: Json) -> Json:
        return {"choice": choice, "at": 1, **more}


@pytest.fixture
def club(here: Office) -> Club:
    return Club(here)


FORGED: dict[str, Callable[[Club], Json]] = {
    "declined": lambda c: c.request(state="declined", answered_by=c.mallory.id),
    "declined in another name": lambda c: c.request(state="declined", answered_by=c.ada.id),
    "accepted without landing": lambda c: c.request(state="accepted", answered_by=c.mallory.id),
    "another note": lambda c: c.request(note="Bob says: merge it now."),
    "another source": lambda c: c.request(source="again"),
    "other words": lambda c: c.request(words={"idea": "Ice sinks."}),
    "another author": lambda c: c.request(by=c.mallory.id),
    "a comment in another name": lambda c: c.request(comments=[[c.ada.id, "I approve.", 1]]),
    "answered while open": lambda c: c.request(answered_by=c.mallory.id),
    "removed": lambda _c: None,
    "no request": lambda _c: {"by": 7},
}


@pytest.mark.parametrize("verb", ["request", "comment", "undo", "restore", "unite"])
@pytest.mark.parametrize("what", FORGED)
def test_a_commenter_changes_nothing_of_somebody_elses_request(club: Club, what: str, verb: str) -> None:
    before = club.entry(REQUEST)
    with pytest.raises((NotAllowed, BadContent)):
        club.write(club.mallory, (REQUEST, FORGED[what](club)), verb=verb)
    assert club.entry(REQUEST) == before


def test_the_verbs_are_refused_alike(club: Club) -> None:
    theirs = club.of(club.mallory).requests
    attempts: tuple[Callable[[], object], ...] = (
        lambda: theirs.decline(1, "No."),
        lambda: theirs.change(1, note="Better."),
        lambda: theirs.change(1, strategy="full"),
    )
    for attempt in attempts:
        with pytest.raises(NotAllowed, match="changed by whoever made it, and by editors"):
            attempt()
    theirs.comment(1, "Why?")
    club.of(club.bob).requests.comment(1, "Because.")
    with pytest.raises(NotAllowed):
        club.write(club.mallory, (REQUEST, club.request(comments=[])))
    club.of(club.bob).requests.change(1, note="Please, now.")
    club.of(club.bob).requests.decline(1)
    assert club.chat.requests.get(1).answered_by == club.bob.id
    club.of(club.bob).undo()
    assert club.chat.requests.get(1).state == "open"
    club.of(club.eve).requests.change(1, strategy="full")
    club.of(club.eve).requests.decline(1, "Not now.")
    assert [one.by for one in club.chat.requests.get(1).comments] == [
        club.mallory.id,
        club.bob.id,
        club.eve.id,
    ]


def test_nobody_asks_for_a_merge_in_another_name(club: Club) -> None:
    for member in (club.mallory, club.eve):
        for asked in (
            club.request(by=club.ada.id),
            club.request(by=member.id, state="accepted", answered_by=club.ada.id),
            club.request(by=member.id, comments=[[club.ada.id, "Yes.", 1]]),
        ):
            with pytest.raises(NotAllowed):
                club.write(member, ("requests/2", asked))
    with pytest.raises(NotAllowed):
        club.write(club.eve, (REQUEST, club.request(state="declined", answered_by=club.ada.id)))
    with pytest.raises(NotAllowed):
        club.write(club.eve, (REQUEST, club.request(comments=[[club.ada.id, "I approve.", 1]])))
    club.write(club.mallory, ("requests/2", club.request(by=club.mallory.id, source="again")))


def test_whose_branch_it_is_answers_what_is_asked_of_it(club: Club) -> None:
    own = club.of(club.mallory).fork("mallory/idea", at=club.answers[0])
    club.of(club.bob).requests.open("idea", into=own.branch_name)
    chat = club.of(club.mallory).checkout(own.branch_name)
    chat.merge(chat.requests.accepting(2, chat.requests.plan(2)))
    assert club.chat.requests.get(2).state == "accepted"
    chat.undo()
    assert club.chat.requests.get(2).state == "open"
    chat.requests.decline(2)
    assert club.chat.requests.get(2).answered_by == club.mallory.id


def test_a_branch_that_is_renamed_keeps_the_requests_of_others(club: Club) -> None:
    club.of(club.mallory).fork("mallory/one", at=club.chat.checkout("idea").path()[-1].id)
    club.of(club.bob).requests.open("mallory/one", into="main", strategy="full")
    club.of(club.mallory).checkout("mallory/one").branches.rename("mallory/two")
    assert club.chat.requests.get(2).source == "mallory/two" and club.chat.requests.get(2).by == club.bob.id


def test_an_editor_takes_back_what_others_did(club: Club) -> None:
    club.of(club.bob).requests.comment(1, "Soon?")
    club.of(club.bob).polls.vote(1, "tie")
    for _ in range(4):
        club.of(club.eve).undo()
    assert club.entry(POLL) is None and club.entry(REQUEST) is None
    for _ in range(4):
        club.of(club.eve).redo()
    assert club.chat.polls.tally(1).votes == 1 and len(club.chat.requests.get(1).comments) == 1


@pytest.mark.parametrize("role", ["commenter", "editor", "owner"])
def test_no_vote_is_counted_after_the_reveal(club: Club, role: str) -> None:
    member = {"commenter": club.bob, "editor": club.eve, "owner": club.ada}[role]
    key = f"{POLL}/votes/{member.id}"
    club.of(member).polls.vote(1, "tie")
    club.of(member).polls.vote(1, "bad")
    club.chat.polls.reveal(1)
    for vote in (club.vote("tie"), club.vote(club.answers[0]), None):
        with pytest.raises(InTheWay, match="revealed and takes no more votes"):
            club.write(member, (key, vote), verb="vote")
    revealed = f"{POLL}/revealed"
    same = Change(revealed, club.entry(revealed), club.entry(revealed))
    late = Change(key, club.entry(key), club.vote("tie"))
    with pytest.raises(InTheWay):
        club.here.seen_by(member).store.commit(Commit(club.chat.id, "vote", "", (same, late)))
    assert (club.chat.polls.tally(1).bad, club.chat.polls.tally(1).ties) == (1, 0)


def test_a_vote_that_loses_the_race_with_the_reveal_is_refused_by_the_store(club: Club) -> None:
    key = f"{POLL}/votes/{club.bob.id}"
    guard = club.here.seen_by(club.bob).store
    checked = guard._allowed(  # type: ignore[attr-defined]
        Commit(club.chat.id, "vote", "", (Change(key, None, club.vote()),)), set()
    )
    assert Change(f"{POLL}/revealed", None, None) in checked.changes


VOTES: dict[str, Callable[[Club], Json]] = {
    "no record": lambda _c: "tie",
    "no choice": lambda c: c.vote("nonsense"),
    "an answer elsewhere": lambda c: c.vote(c.chat.path()[0].id),
    "no time": lambda c: c.vote(at="now"),
    "a score beside the scale": lambda c: c.vote(scores={c.answers[0]: {"Charm": 5}}),
    "scores of nothing": lambda c: c.vote(scores={"b2:00": {}}),
}


@pytest.mark.parametrize("what", VOTES)
def test_what_is_no_vote_does_not_reach_the_tally(club: Club, what: str) -> None:
    for member in (club.bob, club.eve):
        with pytest.raises(BadContent):
            club.write(member, (f"{POLL}/votes/{member.id}", VOTES[what](club)), verb="vote")
    assert club.chat.polls.voters(1) == ()


def test_nobody_votes_for_somebody_else_nor_writes_the_poll_anew(club: Club) -> None:
    for member in (club.mallory, club.eve):
        with pytest.raises(NotAllowed):
            club.write(member, (f"{POLL}/votes/{club.ada.id}", club.vote()), verb="vote")
    poll = club.entry(POLL)
    for value in (
        {**poll, "by": club.eve.id},
        {**poll, "candidates": poll["candidates"][::-1]},
        {**poll, "blind": False},
    ):
        with pytest.raises(NotAllowed):
            club.write(club.eve, (POLL, value), verb="poll")
    with pytest.raises(NotAllowed):
        club.write(club.eve, ("polls/2", poll), verb="poll")
    with pytest.raises(NotAllowed):
        club.write(club.eve, (f"{POLL}/revealed", {"by": club.ada.id, "at": 1}), verb="reveal")


@pytest.mark.parametrize("with_log", [True, False], ids=["log", "view"])
def test_an_import_puts_nobody_of_the_team_into_what_it_brings(club: Club, with_log: bool) -> None:
    """A file that anybody can write: Mallory's, in which Ada asks, comments, answers, reviews, votes and reveals."""
    ada, mallory = club.ada.id, club.mallory.id
    forged: dict[str, Json] = {
        "requests/2": club.request(by=ada, comments=[[ada, "I approve.", 1], [mallory, "Thanks.", 2]]),
        "requests/3": club.request(by=mallory, state="declined", answered_by=ada),
        f"{POLL}/votes/{ada}": club.vote(),
        f"{POLL}/votes/{mallory}": club.vote("bad"),
        f"{POLL}/revealed": {"by": ada, "at": 5},
    }
    view = club.chat.view.entries
    changes = [*((key, value) for key, value in view.items()), *forged.items()]
    commits = [
        Commit(
            ConversationId("imported"),
            "import",
            "",
            tuple(Change(key, None, value) for key, value in changes[:-1]),
            messages=tuple(club.chat.visible.messages.values()),
            actor=ada,
        )
    ]
    if with_log:
        key, value = changes[-1]
        commits.append(
            Commit(ConversationId("imported"), "reveal", "", (Change(key, None, value),), actor=ada)
        )
    guard = club.here.seen_by(club.mallory).store
    for operation in guard.commit_all(commits):
        assert operation.actor.startswith("somebody (imported)")
    entries = guard.view(ConversationId("imported")).entries
    others = {ada, club.bob.id, club.eve.id}
    assert not [one for one in others if one in str(entries)]
    first, second = entries["requests/2"], entries["requests/3"]
    assert first["by"] == first["comments"][0][0] == second["answered_by"]
    assert first["comments"][1][0] == second["by"] == mallory
    assert entries[f"{POLL}/votes/{mallory}"]["choice"] == "bad"
    chat = club.here.seen_by(club.mallory).conversation(ConversationId("imported"))
    assert [one.by for one in chat.requests.get(2).comments] == [first["by"], mallory]
    assert len(chat.polls.voters(1)) == 2


UNREADABLE: dict[str, Json] = {
    "heads/{handle}/x": 5,
    "heads/{handle}/y": {"at": "b2:" + "0" * 32},
    "rules/{handle}/x": {"system": 7},
    "tags/{handle}/x": {"at": "nowhere"},
    "kept/nowhere": True,
    "reviews/1/{id}": {"state": "approved"},
    "reviews/1/{id}/gpt-4o": [],
    "requests/02": {},
}


@pytest.mark.parametrize("key", UNREADABLE)
def test_nobody_writes_what_would_keep_others_from_opening_the_conversation(club: Club, key: str) -> None:
    for member in (club.mallory, club.eve):
        there = key.format(handle=member.handle, id=member.id)
        with pytest.raises((BadContent, NotFound, NotAllowed)):
            club.write(member, (there, UNREADABLE[key]))
        view = club.here.seen_by(member)
        own = Commit(
            ConversationId(f"new-{member.handle}"), "create", "", (Change(there, None, UNREADABLE[key]),)
        )
        with pytest.raises((BadContent, NotFound)):
            view.store.commit(own)
    assert set(club.of(club.ada).branches) == {"main", "again", "idea"}
    assert len(club.here.seen_by(club.ada).conversations()) == 1
