"""A server that earlier versions gave several workspaces opens one; a server of its own opens each of the others."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.access.ways.password import ISSUER
from forky_core.gateway.unknown_address import FormerWorkspace
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people import team_file
from forky_core.people.access import Access
from forky_core.people.administration import Administration
from forky_core.people.admission import Proof, admit
from forky_core.people.former_workspaces import former_workspaces
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import member_view
from forky_core.store.contract import StoreOnServer
from tests.builders import texts
from tests.people.former_server import CLUB, OWN, FormerServer, former_server, opened
from tests.store.postgresql.conftest import server, url  # noqa: F401 - fixtures of these tests, too


@pytest.fixture
def files(database: Path) -> FormerServer:
    return former_server(database, database.with_name("workspaces"))


def sums(folder: Path) -> dict[str, str]:
    """What every file in a folder has."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_first_one_is_opened_and_the_files_of_the_others_are_named_and_left_alone(
    files: FormerServer, database: Path
) -> None:
    before = sums(files.folder)
    with opened(database, team_file(database), "main") as (forky, team):
        told = former_workspaces(team, database, {})
        assert [one.title for one in member_view(forky, team, files.ada.id).conversations()] == ["In main"]
        assert [member.name for member in team.members.all()] == ["Ada"]
        assert team.members.member(files.ben.id).name == "Ben", (
            "the account of whoever was only in another one stays"
        )
    assert told is not None
    said, own, club = told.splitlines()
    assert said.startswith(f"2 other workspaces are in {files.folder}, where nothing was done with them")
    assert club == (
        f"“The boat club”: cp {team_file(database)} {files.folder}/{CLUB}.people.sqlite && "
        f"FORKY_TEAM=on forky --database {files.folder}/{CLUB}.duckdb serve"
    )
    assert "“My own”" in own and OWN in own
    assert sums(files.folder) == before


def test_a_folder_that_was_named_is_named_and_files_that_are_gone_are_not(
    files: FormerServer, database: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "else where"
    files.folder.rename(elsewhere)
    (elsewhere / f"{OWN}.duckdb").unlink()
    with closing(Team(team_file(database))) as team:
        assert former_workspaces(team, database, {}) is None
        told = former_workspaces(team, database, {"FORKY_WORKSPACES": str(elsewhere)})
        assert (
            told is not None
            and told.startswith("Another workspace is in ")
            and f"'{elsewhere}/{CLUB}.duckdb'" in told
        )


def test_a_server_of_its_own_has_its_people_and_keeps_what_is_private(
    files: FormerServer, database: Path
) -> None:
    club = files.folder / f"{CLUB}.duckdb"
    shutil.copy(team_file(database), team_file(club))  # As the command says.
    with opened(club, team_file(club), CLUB) as (forky, team):
        assert [member.name for member in team.members.all()] == ["Ada", "Ben"]
        hers, his = (member_view(forky, team, one.id) for one in (files.ada, files.ben))
        assert texts(his.conversation(files.bens)) == ["private"]
        assert [one.comments[0].text for one in team.threads.of(files.bens)] == ["A note of mine"]
        with pytest.raises(NotFound):
            hers.conversation(files.bens)
        assert former_workspaces(team, club, {}) is None


def test_of_a_database_of_a_server_each_is_opened_by_its_name(url: str, tmp_path: Path) -> None:  # noqa: F811 - a fixture
    made = former_server(url, tmp_path / "none")
    with opened(url, url, "main") as (forky, team):
        assert [one.title for one in forky.conversations()] == ["In main"]
        told = former_workspaces(team, url)
        assert told is not None and told.splitlines()[1:] == [
            f"“My own”: FORKY_TEAM=on FORKY_DATABASE=… forky --workspace {OWN} serve",
            f"“The boat club”: FORKY_TEAM=on FORKY_DATABASE=… forky --workspace {CLUB} serve",
        ]
        with opened(url, url, CLUB) as (club, its):
            assert isinstance(club.store, StoreOnServer)
            assert texts(member_view(club, its, made.ben.id).conversation(made.bens)) == ["private"]
            with pytest.raises(NotFound):
                member_view(club, its, made.ada.id).conversation(made.bens)
            with pytest.raises(NotFound):
                forky.conversation(made.bens)
            assert len(team.database.rows("SELECT * FROM workspaces")) == 3, "what is known of them stays"


def test_whoever_was_only_in_another_one_is_told_and_comes_in_by_an_invitation(
    files: FormerServer, database: Path
) -> None:
    with closing(Team(team_file(database))) as team:
        identity = Identity(ISSUER, "ben", hashed("a long password"))
        team.members.keep_identity(files.ben.id, identity)
        proof = Proof("password", identity)
        with pytest.raises(NotAllowed, match="You are not a member here"):
            admit(team, proof)
        _, secret = team.invitations.make(Role.VIEWER, by=files.ada.id)
        assert admit(team, proof, secret).role is Role.VIEWER


def test_what_reaches_a_person_everywhere_is_for_owners_of_main_where_they_are_in_another_one_too(
    url: str,  # noqa: F811 - a fixture
    tmp_path: Path,
) -> None:
    files = former_server(url, tmp_path / "none")
    with closing(Team(url, workspace=CLUB)) as club, closing(Team(url)) as main:
        club.members.set_role(files.ben.id, Role.OWNER, by=files.ada.id)
        by_ben = Administration(Access(club, files.ben.id, lambda _conversation: ()))
        for act in (by_ben.sign_out, by_ben.reset_password, by_ben.may_forget):
            with pytest.raises(NotAllowed, match="in another workspace, too"):
                act(files.ada.id)
        carol = club.members.add("Carol", Role.EDITOR)
        by_ben.sign_out(carol.id)
        main.database.look_again()
        main.members.bring_back(carol.id, Role.EDITOR)
        by_ada = Administration(Access(main, files.ada.id, lambda _conversation: ()))
        by_ada.sign_out(carol.id)
        assert by_ada.may_reach(carol.id)


def test_in_a_file_a_membership_of_another_workspace_keeps_nothing_from_the_owners(
    files: FormerServer, database: Path
) -> None:
    with closing(Team(team_file(database), workspace=CLUB)) as team:
        team.members.set_role(files.ben.id, Role.OWNER, by="")
        by_ben = Administration(Access(team, files.ben.id, lambda _conversation: ()))
        by_ben.sign_out(files.ada.id)
        team.members.forget(files.ada.id, by=files.ben.id)
        assert team.members.find(files.ada.id) is None


def test_a_copy_of_the_people_is_made_once(files: FormerServer, tmp_path: Path) -> None:
    database, club = tmp_path / "forky.duckdb", files.folder / f"{CLUB}.duckdb"
    shutil.copy(team_file(database), team_file(club))
    with closing(Team(team_file(database))) as team:
        told = former_workspaces(team, database, {})
    assert told is not None
    assert told.splitlines()[-1] == f"“The boat club”: FORKY_TEAM=on forky --database {club} serve"


def test_somebody_with_a_workspace_of_their_own_can_be_forgotten(files: FormerServer, database: Path) -> None:
    """They are its last owner, which nobody else would be missing."""
    with closing(Team(team_file(database))) as team:
        team.members.set_role(team.members.add("Eve", Role.EDITOR).id, Role.OWNER, by="")
        with closing(Team(team_file(database), workspace=CLUB)) as club:
            club.members.set_role(files.ben.id, Role.OWNER, by="")
        team.database.look_again()
        team.members.forget(files.ada.id, by="")
        assert team.members.find(files.ada.id) is None and not team.members.is_elsewhere(files.ada.id)


def test_an_address_of_another_workspace_is_told_in_a_sentence() -> None:
    answer = TestClient(FormerWorkspace()).get(f"/w/{CLUB}/library?c=1")
    assert answer.status_code == 410 and "This address is of another workspace." in answer.text
