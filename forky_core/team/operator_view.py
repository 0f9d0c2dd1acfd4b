"""The workspace of a team as the command line opens it: everything is seen, and protected branches stay protected.

Whoever runs a command beside the database is no member and signs in nowhere. They read the file anyway; but what a team
agreed on about its branches should not be passed by a command that somebody types in passing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, Generation, Operation
from forky_core.store.contract import Commit, Store
from forky_core.team.protected_changes import ProtectedChanges
from forky_core.team.protection import BranchRule
from forky_core.team.roles import Role
from forky_core.team.sharing import OWNERS
from forky_core.team.team import Team

AnyWorkspace = TypeVar("AnyWorkspace", bound=Workspace)


def operator_view(forky: AnyWorkspace, team: Team) -> AnyWorkspace:
    """The open workspace with people's names, in which a protected branch changes by a reviewed request only."""
    store = cast("Store", OperatorStore(forky.store, team))
    return forky.through(store, forky.actor, name_of=team.members.names_in)


def team_of(forky: Workspace) -> Team | None:
    """The team of a workspace that `operator_view` opened; None for any other."""
    return forky.store.team if isinstance(forky.store, OperatorStore) else None


class _Operator:
    """Whoever runs a command: no conversation belongs to them (the `Actor` of protected_changes.py)."""

    own_branch = "idea"

    def __init__(self, team: Team) -> None:
        self._team = team

    def rules_of(self, conversation: ConversationId) -> Sequence[BranchRule]:
        return self._team.protections.of(conversation)

    def belongs(self, _conversation: ConversationId) -> bool:
        return False

    def role_of(self, conversation: ConversationId, person: str) -> Role:
        return self._team.sharing.role_in(conversation, person)

    def role_in(self, _conversation: ConversationId) -> Role:
        return Role.NONE

    def owner_of(self, conversation: ConversationId) -> str:
        known = self._team.sharing.known(conversation)
        owner = self._team.sharing.of(conversation).owner if known else OWNERS
        return "" if owner == OWNERS else self._team.members.name_of(owner)

    def name_of(self, person: str) -> str:
        return self._team.members.name_of(person)


class OperatorStore:
    """A store whose commits are checked against protected branches; the rest is that of the store itself."""

    def __init__(self, store: Store, team: Team) -> None:
        self.team = team
        self._store = store
        self._protected = ProtectedChanges(store, _Operator(team))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(self, commit: Commit) -> Operation:
        return self.commit_all([commit])[0]

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        return self._store.commit_all([self._protected.check(commit).commit for commit in commits])

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._protected.refuse_replies(conversation, [generation])
        self._store.record(conversation, generation)

    def purge(self, conversation: ConversationId) -> None:
        self._protected.require_removable(conversation)
        self._store.purge(conversation)
