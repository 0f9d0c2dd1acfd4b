"""Several workspaces with one people's file: who is a member of which, and what one person may do about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from forky_core.model.errors import BadName, InTheWay, NotAllowed, NotFound
from forky_core.team.access import Access
from forky_core.team.administration import Administration
from forky_core.team.admission import Proof, admit, join
from forky_core.team.members import Identity, Member
from forky_core.team.roles import Role
from forky_core.team.team import Team
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.team.workspace_desk import NOBODY_MAKES, WorkspaceDesk

PROOF = Proof("password", Identity("password", "eve"), "Eve")


@pytest.fixture
def team() -> Iterator[Team]:
    made = Team(None)
    yield made
    made.close()


@pytest.fixture
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


@pytest.fixture
def ben(team: Team) -> Member:
    return team.members.add("Ben", Role.EDITOR)


def titles(team: Team, person: Member) -> list[tuple[str, Role]]:
    return [(one.title, role) for one, role in team.workspaces.of(person.id)]


def administration(team: Team, person: Member) -> Administration:
    return Administration(team, Access(team, person.id, lambda _conversation: ()))


def test_one_person_has_another_role_in_each_workspace(team: Team, ada: Member, ben: Member) -> None:
    club = team.workspaces.make("The boat club", owner=ben.id, by=ben.id)
    team.of(club.id).members.bring_back(ada.id, Role.VIEWER)
    own = team.workspaces.make_personal(ada.id, "My own")
    assert titles(team, ada) == [
        ("First workspace", Role.OWNER),
        ("The boat club", Role.VIEWER),
        ("My own", Role.OWNER),
    ]
    assert titles(team, ben) == [("First workspace", Role.EDITOR), ("The boat club", Role.OWNER)]
    assert team.workspaces.make_personal(ada.id, "Another") == own
    assert [one.name for one in team.of(own.id).members.all()] == ["Ada"]
    assert team.workspaces.role_in(own.id, ben.id) is Role.NONE


def test_whoever_leaves_one_workspace_stays_signed_in_in_the_others(
    team: Team, ada: Member, ben: Member
) -> None:
    club = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    team.of(club).members.bring_back(ben.id, Role.EDITOR)
    token = team.sessions.open(ben.id)
    team.members.remove(ben.id, by=ada.id)
    assert team.sessions.find(token) is not None and titles(team, ben) == [("The boat club", Role.EDITOR)]
    team.of(club).members.remove(ben.id, by=ada.id)
    assert team.sessions.find(token) is None and titles(team, ben) == []


def test_ones_own_workspace_is_no_way_in(team: Team, ada: Member, ben: Member) -> None:
    own = team.workspaces.make_personal(ben.id, "My own").id
    team.members.remove(ben.id, by=ada.id)
    assert titles(team, ben) == [] and team.workspaces.role_in(own, ben.id) is Role.NONE
    assert not team.workspaces.lets_in(ben.id)
    team.members.bring_back(ben.id, Role.VIEWER)
    assert titles(team, ben)[1] == ("My own", Role.OWNER)


def test_shares_of_another_workspace_stay_when_somebody_is_removed_from_one(
    team: Team, ada: Member, ben: Member
) -> None:
    from forky_core.model import ConversationId  # noqa: PLC0415

    club = team.of(team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id)
    club.members.bring_back(ben.id, Role.VIEWER)
    id = ConversationId("01890000-0000-7000-8000-000000000001")
    for one in (team, club):
        one.sharing.adopt([(id, ada.id)])
        one.sharing.share(id, ben.id, Role.EDITOR, by=ada.id)
    team.members.remove(ben.id, by=ada.id)
    assert team.sharing.role_in(id, ben.id) is Role.NONE
    assert club.sharing.role_in(id, ben.id) is Role.EDITOR


def test_an_invitation_leads_into_its_own_workspace_only(team: Team, ada: Member, ben: Member) -> None:
    club = team.of(team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id)
    _, secret = club.invitations.make(Role.COMMENTER, by=ada.id, uses=3)
    assert team.invitations.open(secret) is None and team.invitations.all() == []
    eve = admit(team, PROOF, secret)
    assert titles(team, eve) == [("The boat club", Role.COMMENTER)]
    assert team.members.role_of(eve.id) is Role.NONE
    assert admit(team, PROOF).id == eve.id, "she comes in without an invitation from then on"
    assert join(team, ben.id, secret) == club.workspace
    assert club.members.role_of(ben.id) is Role.COMMENTER and team.members.role_of(ben.id) is Role.EDITOR
    assert join(team, ben.id, secret) == club.workspace, "nothing is used up by whoever is a member"
    (left,) = club.invitations.all()
    assert left.used == 2
    with pytest.raises(NotFound):
        join(team, ben.id, "forged")


def test_an_owner_of_another_workspace_takes_back_no_invitation_of_this_one(team: Team, ada: Member) -> None:
    club = team.of(team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id)
    invitation, _ = team.invitations.make(Role.EDITOR)
    with pytest.raises(NotFound):
        club.invitations.revoke(invitation.id, by=ada.id)
    assert [one.id for one in team.invitations.all()] == [invitation.id]


def test_an_owner_reads_the_audit_log_of_their_workspace_and_signs_nobody_out_of_the_server(
    team: Team, ada: Member, ben: Member
) -> None:
    club = team.of(team.workspaces.make("The boat club", owner=ben.id, by=ben.id).id)
    club.members.bring_back(ada.id, Role.EDITOR)
    team.members.rename(ada.id, "Ada Lovelace")
    bens = administration(club, ben)
    assert {entry.event for entry in bens.page_of_audit(1, 100)} == {"workspace made", "member added"}
    assert bens.events() == 2 and len(bens.export_audit()) == 3
    assert administration(team, ada).events() == team.audit.count() > 3
    assert team.audit.first_broken() is None
    with pytest.raises(NotAllowed):
        bens.sign_out(ada.id)
    with pytest.raises(NotAllowed):
        administration(team, ben).page_of_audit(1, 100)


REACHES_THE_SERVER: dict[str, Callable[[Administration, str], object]] = {
    "another password": lambda people, somebody: people.reset_password(somebody),
    "forget": lambda people, somebody: people.may_forget(somebody),
    "add": lambda people, somebody: people.bring_in(somebody, Role.OWNER),
    "see who could be added": lambda people, _somebody: people.acquainted(),
    "sign out": lambda people, somebody: people.sign_out(somebody),
}


@pytest.mark.parametrize("personal", [False, True], ids=["shared", "their own"])
@pytest.mark.parametrize("what", REACHES_THE_SERVER)
def test_an_owner_of_another_workspace_has_no_hold_on_a_person(
    team: Team, ada: Member, ben: Member, what: str, personal: bool
) -> None:
    if personal:
        club = team.workspaces.make_personal(ben.id, "My own").id
    else:
        club = team.workspaces.make("The boat club", owner=ben.id, by=ben.id).id
        team.of(club).members.bring_back(ada.id, Role.OWNER)
    eve = team.members.add("Eve", Role.VIEWER)
    team.sessions.open(ada.id)
    before = team.audit.count()
    for whom in (ada, eve):
        with pytest.raises(NotAllowed, match="Only an owner of the first workspace may"):
            REACHES_THE_SERVER[what](administration(team.of(club), ben), whom.id)
    assert team.audit.count() == before and team.sessions.of(ada.id)
    assert team.of(club).members.role_of(eve.id) is Role.NONE
    administration(team.of(club), ben).may_forget(ben.id)


def test_who_may_make_workspaces_is_the_operators_to_say(team: Team, ada: Member, ben: Member) -> None:
    assert WorkspaceDesk(team, ada.id).may_make and not WorkspaceDesk(team, ben.id).may_make
    assert WorkspaceDesk(team, ben.id, makes="editor").may_make
    assert not WorkspaceDesk(team, ada.id, makes=NOBODY_MAKES).may_make
    with pytest.raises(NotAllowed):
        WorkspaceDesk(team, ben.id).make("The boat club")
    with pytest.raises(NotAllowed):
        WorkspaceDesk(team, ben.id, personal=False).make_own()
    made = WorkspaceDesk(team, ben.id, makes="editor").make("  The boat\nclub ")
    assert made.title == "The boat club" and titles(team, ben)[1] == ("The boat club", Role.OWNER)
    for title in ("", " ", "x" * 1_000):
        with pytest.raises(BadName):
            WorkspaceDesk(team, ada.id).make(title)


def test_only_an_owner_renames_archives_and_hands_over(team: Team, ada: Member, ben: Member) -> None:
    adas, bens = WorkspaceDesk(team, ada.id), WorkspaceDesk(team, ben.id)
    club = adas.make("The boat club").id
    for change in (bens.leave, bens.archive, lambda id: bens.rename(id, "Mine"), bens.open_again):
        with pytest.raises(NotFound):
            change(club)
    team.of(club).members.bring_back(ben.id, Role.EDITOR)
    for change in (bens.archive, lambda id: bens.rename(id, "Mine"), lambda id: bens.hand_over(id, ben.id)):
        with pytest.raises(NotAllowed):
            change(club)
    adas.rename(club, "The rowing club")
    with pytest.raises(InTheWay):
        adas.leave(club)
    adas.hand_over(club, ben.id)
    assert team.of(club).members.role_of(ada.id) is Role.EDITOR
    adas.leave(club)
    bens.archive(club)
    assert bens.mine[-1][0].id == WORKSPACE and [one.title for one in bens.archived] == ["The rowing club"]
    assert adas.archived == []
    with pytest.raises(NotFound):
        team.of(club)
    bens.open_again(club)
    assert team.workspaces.role_in(club, ben.id) is Role.OWNER
    with pytest.raises(InTheWay):
        adas.archive(WORKSPACE)


def test_a_forgotten_person_leaves_every_workspace_and_their_own_is_archived(
    team: Team, ada: Member, ben: Member
) -> None:
    club = WorkspaceDesk(team, ada.id).make("The boat club").id
    team.of(club).members.bring_back(ben.id, Role.EDITOR)
    own = WorkspaceDesk(team, ben.id).make_own().id
    WorkspaceDesk(team, ben.id).make_own()
    team.members.forget(ben.id, by=ada.id)
    assert [one.name for one in team.of(club).members.all()] == ["Ada"]
    assert not team.workspaces.is_open(own)
    with pytest.raises(InTheWay):
        team.members.forget(ada.id, by=ada.id)
    assert team.of(club).members.role_of(ada.id) is Role.OWNER, "nothing was half done"


def test_an_owner_adds_whom_they_know_from_another_workspace(team: Team, ada: Member, ben: Member) -> None:
    club = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    there = team.of(club)
    eve = team.members.add("Eve", Role.VIEWER)
    stranger = team.of(team.workspaces.make("Chess", owner=ben.id, by=ben.id).id).members.add(
        "Zoe", Role.VIEWER
    )
    people = administration(there, ada)
    assert [one.name for one in people.acquainted()] == ["Ben", "Eve"]
    assert people.bring_in(ben.id, Role.EDITOR).role is Role.EDITOR
    assert [one.name for one in people.acquainted()] == ["Eve"]
    assert titles(team, ben)[-1] == ("The boat club", Role.EDITOR)
    (notice,) = there.inbox.of(ben.id)
    assert notice.sentence == "Ada added you to this workspace; you are an editor of it."
    assert notice.address == f"/w/{club}/people"
    (entry,) = there.audit.page(1, 1)
    assert (entry.event, entry.person) == ("member added", ada.id) and ben.id in entry.about
    for unknown in (ben.id, stranger.id, "person:nobody"):
        with pytest.raises(NotFound, match="Invite them"):
            people.bring_in(unknown, Role.VIEWER)
    with pytest.raises(NotAllowed, match="Only an owner of this workspace may add somebody"):
        administration(there, ben).bring_in(eve.id, Role.VIEWER)
    own = team.workspaces.make_personal(ada.id, "My own").id
    with pytest.raises(NotAllowed, match="Nobody else"):
        administration(team.of(own), ada).bring_in(ben.id, Role.VIEWER)
