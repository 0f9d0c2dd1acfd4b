from __future__ import annotations

import threading
from pathlib import Path

import pytest

from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.people.admission import Proof, admit
from forky_core.people.invitations import MOST_DAYS, MOST_USES
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.people.people import DAY, Office


def proof(name: str, email: str = "", role: Role | None = None) -> Proof:
    return Proof("password", Identity("password", name, "hash"), name, email=email, role=role)


def test_an_invitation_lets_one_person_in_and_the_second_is_told(here: Office) -> None:
    _, secret = here.team.invitations.make(Role.COMMENTER)
    ada = admit(here.team, proof("ada"), secret)
    assert ada.role is Role.COMMENTER
    with pytest.raises(NotFound, match="not open"):
        admit(here.team, proof("bob"), secret)
    assert [one.name for one in here.team.members.all()] == ["ada"]
    assert admit(here.team, proof("ada"), secret) == ada, "who is a member already needs none"


def test_an_invitation_expires_and_can_be_taken_back(here: Office) -> None:
    _, old = here.team.invitations.make(Role.VIEWER, days=1)
    here.clock.at += DAY
    assert here.team.invitations.open(old) is None
    made, secret = here.team.invitations.make(Role.VIEWER)
    here.team.invitations.revoke(made.id, by="")
    for closed in (old, secret, "", "\ud800", "x" * 10_000):
        with pytest.raises(NotFound):
            admit(here.team, proof("ada"), closed or "nothing")
    with pytest.raises(NotFound):
        here.team.invitations.revoke(made.id, by="")


def test_an_invitation_to_an_address_is_open_to_that_one_only(here: Office) -> None:
    _, secret = here.team.invitations.make(Role.EDITOR, email="Ada@Example.org")
    for other in ("", "bob@example.org", "ada@example.org.evil"):
        with pytest.raises(NotFound, match="another address"):
            admit(here.team, proof("ada", other), secret)
    assert admit(here.team, proof("ada", "ada@example.ORG"), secret).email == "ada@example.org"


def test_an_invitation_for_many_counts_each(here: Office) -> None:
    made, secret = here.team.invitations.make(Role.VIEWER, uses=MOST_USES)
    for number in range(MOST_USES):
        assert here.team.invitations.accept(secret).used == number
    assert here.team.invitations.open(secret) is None and made.uses == MOST_USES
    with pytest.raises(NotFound):
        here.team.invitations.accept(secret)


@pytest.mark.parametrize(
    "wished",
    [
        {"days": 0},
        {"days": MOST_DAYS + 1},
        {"uses": 0},
        {"uses": MOST_USES + 1},
        {"email": "a@b", "uses": 2},
        {"email": "x"},
    ],
)
def test_an_invitation_that_makes_no_sense_is_refused(here: Office, wished: dict[str, object]) -> None:
    with pytest.raises(BadContent):
        here.team.invitations.make(Role.VIEWER, **wished)  # type: ignore[arg-type]
    assert here.team.invitations.all() == []


def test_of_many_who_come_at_once_one_is_let_in(file: Path) -> None:
    """Each in a thread and with a connection of its own, as in several processes."""
    first = Team(file)
    _, secret = first.invitations.make(Role.VIEWER)
    doors = [Team(file) for _ in range(6)]
    start, results = threading.Barrier(len(doors)), []

    def come(door: Team, name: str) -> None:
        start.wait()
        try:
            results.append(admit(door, proof(name), secret).name)
        except NotFound:
            results.append("")

    threads = [threading.Thread(target=come, args=(door, f"p{at}")) for at, door in enumerate(doors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(doors) and len([one for one in results if one]) == 1
    assert len(first.members.all()) == 1 and first.audit.first_broken() is None
    for door in (first, *doors):
        door.close()


def test_nobody_comes_in_without_an_invitation_and_who_left_needs_a_new_one(here: Office) -> None:
    with pytest.raises(NotAllowed, match="Nobody here knows you"):
        admit(here.team, proof("ada"))
    here.join("Owner", Role.OWNER)
    _, secret = here.team.invitations.make(Role.EDITOR)
    ada = admit(here.team, proof("ada"), secret)
    here.team.members.remove(ada.id, by=ada.id)
    with pytest.raises(NotAllowed, match="You are not a member here"):
        admit(here.team, proof("ada"))
    _, again = here.team.invitations.make(Role.VIEWER)
    back = admit(here.team, proof("ada"), again)
    assert (back.id, back.role) == (ada.id, Role.VIEWER)


def test_only_the_last_printed_code_makes_the_first_owner(here: Office) -> None:
    old, new = here.team.first_owners_invitation(), here.team.first_owners_invitation()
    assert old and new and here.team.invitations.open(old) is None
    assert admit(here.team, proof("ada"), new).role is Role.OWNER
    assert here.team.first_owners_invitation() is None
