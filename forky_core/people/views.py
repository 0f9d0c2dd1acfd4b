"""The workspace of a team as a member of it sees it, and as the command line does."""

from __future__ import annotations

from typing import Any, TypeVar, cast
from weakref import ref

from forky_core.conversation.recording.scopes import ensure_salt
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError
from forky_core.people.former_features import formerly_protected
from forky_core.people.guarded_models import GuardedModels
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.sharing import OWNERS
from forky_core.people.team import Team
from forky_core.process import events
from forky_core.store.contract import Store

AnyWorkspace = TypeVar("AnyWorkspace", bound=Workspace)


def join_team(forky: Workspace, team: Team, *, shown_to_all: ConversationId | None = None) -> None:
    """Put the conversations of a workspace under the rules of its team. Call it each time the workspace is opened.

    Those that were begun without the team belong to its owners. `shown_to_all` is one that every member sees.
    """
    held = ref(forky)  # A workspace that nobody uses any more is let go of.
    team.inbox.title_of = lambda conversation: _title_in(held(), conversation)
    everything = (*forky.store.conversations(), *forky.store.conversations(trashed=True))
    team.sharing.forget_others(summary.id for summary in everything)
    team.sharing.adopt((summary.id, OWNERS) for summary in everything)
    ensure_salt(forky.store)
    if unprotected := formerly_protected(team.database, team.workspace):
        events.protection_gone(conversations=len(unprotected))
    if shown_to_all is not None:
        team.sharing.share_with_everyone(shown_to_all, shared=True, by="")


def member_view(forky: AnyWorkspace, team: Team, member: str) -> AnyWorkspace:
    """The open workspace as a person sees it: their operations carry their id, and the guards check everything else."""
    store = GuardedStore(forky.store, team, member)
    models = GuardedModels(forky.models, store.access, forky.book)
    return forky.through(
        store,
        member,
        name_of=team.members.names_in,
        models=models,
        handle=f"{store.access.member.handle}/",
        owner=member,
    )


def operator_view(forky: AnyWorkspace, team: Team) -> AnyWorkspace:
    """The open workspace with people's names and without guards, whose store knows the team: whoever runs a command
    beside the database reads the file anyway.
    """
    store = cast("Store", OperatorStore(forky.store, team))
    return forky.through(store, forky.actor, name_of=team.members.names_in)


class OperatorStore:
    """A store that also knows its team, so that exports get into the audit log. All else is passed on."""

    def __init__(self, store: Store, team: Team) -> None:
        self.team = team
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def _title_in(forky: Workspace | None, conversation: ConversationId) -> str:
    """The title of a conversation; "" if it cannot be read."""
    try:
        return forky.store.view(conversation).title if forky is not None else ""
    except ForkyError:
        return ""
