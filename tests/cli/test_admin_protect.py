"""`forky admin protect`: what the dialog of the app sets, from the command line, also while the server runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.model import ConversationId
from forky_core.model.errors import NotAllowed
from forky_core.team.members import Member
from forky_core.team.protection import BranchRule
from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from forky_core.team.views import join_team, member_view
from tests.builders import talk
from tests.cli.conftest import Ended

Run = Callable[..., Ended]


@dataclass(frozen=True)
class Server:
    """A server that runs: it has the file of the first workspace open."""

    forky: Forky
    team: Team
    ada: Member
    bob: Member
    chat: ConversationId

    def rules(self) -> list[BranchRule]:
        return list(self.team.protections.of(self.chat))

    def says(self, member: Member, text: str) -> None:
        self.team.database.look_again()  # As it does by itself, within a moment.
        member_view(self.forky, self.team, member.id).conversation(self.chat, "main").say(text)


@pytest.fixture
def server(database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("FORKY_WORKSPACES", str(database.parent / "workspaces"))
    with Forky.open(database) as whole:
        team = Team(team_file(database))
        join_team(whole, team)
        ada, bob = team.members.add("Ada", Role.OWNER), team.members.add("Bob", Role.EDITOR)
        chat = talk(member_view(whole, team, ada.id).create("Boats"), "Why do boats float?", "Because.")
        team.sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
        yield Server(whole, team, ada, bob, chat.id)
        team.close()


def test_a_branch_is_protected_while_the_server_runs_and_the_server_obeys_at_once(
    forky: Run, server: Server
) -> None:
    server.says(server.bob, "Directly.")
    said = forky("admin", "protect", "main", server.chat, "main", "--approvals", "2", "--reviewers", "ada")
    assert said.out == "“main” is protected. By a merge request with 2 approvals, of Ada among others.\n", (
        said.err
    )
    assert server.rules() == [BranchRule("main", 2, (server.ada.id,))]
    with pytest.raises(NotAllowed):
        server.says(server.bob, "Directly.")
    assert forky("admin", "protect", "main", server.chat[:20], "main", "--off").code == 0
    server.says(server.bob, "Directly.")
    events = [(one.event, one.person) for one in server.team.audit.entries()][-2:]
    assert events == [("branch protected", ""), ("protection lifted", "")]
    assert server.team.audit.first_broken() is None


def test_a_rule_is_replaced_and_listed(forky: Run, server: Server) -> None:
    assert (
        forky("admin", "protect", "main", server.chat).out == "No branch of this conversation is protected.\n"
    )
    forky("admin", "protect", "main", server.chat, "release/*", "--approvals", "0")
    forky("admin", "protect", "main", server.chat, "release/*", "--bypass")
    assert server.rules() == [BranchRule("release/*", bypass=True)]
    [listed] = forky("admin", "protect", "main", server.chat).out.splitlines()
    assert listed.startswith(
        "“release/*”: By a merge request with 1 approval. Whom the conversation belongs to"
    )
    [told] = forky("admin", "protect", "main", server.chat, "--json").out.splitlines()
    assert json.loads(told) == {
        "conversation": server.chat,
        "branch": "release/*",
        "protected": True,
        "approvals": 1,
        "reviewers": [],
        "bypass": True,
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("main", "{chat}", "main", "--reviewers", "zoe"), "Nobody here is “zoe”."),
        (("main", "{chat}", "main", "--reviewers", "vi"), "at least comment"),
        (("main", "{chat}", "main", "--approvals", "21"), "0 to 20 approvals"),
        (("main", "{chat}", "a\nb"), "names no branch"),
        (("main", "{chat}", "main", "--off"), "No rule protects “main”."),
        (("main", "{chat}", "main", "--off", "--bypass"), "Leave the other options out."),
        (("main", "{chat}", "--off"), "A branch is missing."),
        (("main", "{chat}", "--approvals", "0"), "A branch is missing."),
        (("Nowhere", "{chat}", "main"), "There is no workspace “Nowhere”."),
        (("main", "Boats", "main"), "titles cannot be read while the server runs"),
        (("main", "", "main"), "titles cannot be read while the server runs"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(
    forky: Run, server: Server, words: tuple[str, ...], sentence: str
) -> None:
    server.team.members.add("Vi", Role.VIEWER)
    entries = server.team.audit.count()
    ended = forky("admin", "protect", *(word.format(chat=server.chat) for word in words))
    assert ended.code and sentence in ended.err and "Traceback" not in ended.err
    assert server.rules() == [] and server.team.audit.count() == entries


def test_a_conversation_is_named_by_its_title_in_a_workspace_that_nobody_has_open(
    forky: Run, server: Server, database: Path
) -> None:
    id = server.team.workspaces.make("The boat club", owner=server.ada.id, by=server.ada.id).id
    club = server.team.of(id)
    refused = forky("admin", "protect", "The boat club", "Keys", "main")
    assert refused.code and "no conversation “Keys”" in refused.err
    file = database.parent / "workspaces" / f"{id}.duckdb"
    assert not file.exists(), "looking makes none"
    with Forky.open(file) as opened:
        keys = talk(opened.create("Keys"), "Where is it?")
        join_team(opened, club)
    assert forky("admin", "protect", "the boat club", "Keys", "main").code == 0
    assert club.protections.of(keys.id) == [BranchRule("main")] and server.rules() == []
    refused = forky("admin", "protect", "The boat club", server.chat, "main")
    assert refused.code, "it is of another workspace"
    assert forky("admin", "protect", id, keys.id[:12], "main", "--off").code == 0
    assert club.protections.of(keys.id) == ()


def test_two_that_begin_alike_are_told_apart(forky: Run, server: Server) -> None:
    talk(member_view(server.forky, server.team, server.ada.id).create("Ships"), "Why?")
    refused = forky("admin", "protect", "main", "0", "main")
    assert refused.code and "2 ids begin with “0”." in refused.err
