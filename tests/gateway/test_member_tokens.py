"""Each member of a team has tokens of their own; owners see and revoke everybody's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.gateway.member_tokens import MemberTokens
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.access import Access
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.store.memory.store import MemoryStore


@pytest.fixture
def team() -> Iterator[Team]:
    opened = Team(None)
    yield opened
    opened.close()


@pytest.fixture
def tokens() -> Tokens:
    return Tokens(MemoryStore())


@pytest.fixture
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


def of(team: Team, tokens: Tokens, member: Member) -> MemberTokens:
    return MemberTokens(tokens, Access(team, member.id, lambda _conversation: ()))


def test_a_token_is_seen_and_revoked_by_its_owner_and_owners(team: Team, tokens: Tokens, ada: Member) -> None:
    bob, carol = (team.members.add(name, Role.COMMENTER) for name in ("Bob", "Carol"))
    token = of(team, tokens, bob).make("aider").token
    assert token.person == bob.id
    assert of(team, tokens, bob).all() == of(team, tokens, ada).all() == (token,)
    theirs = of(team, tokens, carol)
    assert theirs.all() == ()
    with pytest.raises(NotFound, match="no such token of yours"):
        theirs.revoke(token.id)
    with pytest.raises(NotFound, match="no such token of yours"):
        theirs.change(token.id, records=False)
    assert not of(team, tokens, bob).change(token.id, records=False).records
    assert of(team, tokens, ada).revoke(token.id).revoked
    assert [(entry.event, entry.person) for entry in team.audit.page(1, 2)] == [
        ("token revoked", ada.id),
        ("token made", bob.id),
    ]


def test_a_viewer_makes_none_and_only_an_owner_one_that_reads_metrics(
    team: Team, tokens: Tokens, ada: Member
) -> None:
    viewer, editor = (team.members.add(role.word, role) for role in (Role.VIEWER, Role.EDITOR))
    with pytest.raises(
        NotAllowed, match="Only commenters, editors and owners of this workspace may make tokens"
    ):
        of(team, tokens, viewer).make("aider")
    with pytest.raises(NotAllowed, match="Only an owner"):
        of(team, tokens, editor).make("prometheus", metrics=True)
    assert of(team, tokens, ada).make("prometheus", metrics=True).token.metrics


def test_whoever_left_sees_none(team: Team, tokens: Tokens, ada: Member) -> None:
    bob = team.members.add("Bob", Role.EDITOR)
    of(team, tokens, bob).make("aider")
    team.members.remove(bob.id, by=ada.id)
    assert of(team, tokens, bob).all() == ()
