"""The open workspaces of this server process, and where their keys come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.gateway.access.person import PERSON, SESSION, WORKSPACE, person_in, viewer, workspace_in
from forky_core.gateway.moving import INBOX, LIBRARY
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError, NotAllowed, NotFound, StoreDamaged
from forky_core.model.parts import Json
from forky_core.settings import Settings
from forky_core.store.herald import Heard
from forky_core.team.access import Access
from forky_core.team.guarded_store import GuardedStore
from forky_core.team.link_audit import noted_in
from forky_core.team.roles import Role
from forky_core.team.team import Team
from forky_core.team.team_workspaces import NO_WORKSPACE, base_path
from forky_core.team.team_workspaces import WORKSPACE as FIRST
from forky_core.team.views import join_team, member_view
from forky_core.welcome import ensure_welcome
from forky_core.workspaces.copies import ServerFiles, back_up
from forky_core.workspaces.open_workspaces import OpenWorkspaces
from forky_core.workspaces.places import WorkspaceFolder, WorkspacesOnServer
from pages.ui.secrets import read_secrets
from pages.ui.sign_in import TEAM

if TYPE_CHECKING:
    from forky_core.publishing.links.link import Link
    from forky_core.publishing.links.links import Links
    from forky_core.store.postgresql.store import PostgresStore

_opened: list[Forky] = []
"""The first one, once it is open."""
_others: list[OpenWorkspaces] = []
"""The others, once one was asked for, where the operator wants several."""
_views: dict[str, Forky] = {}
"""Workspaces as members of a team see them, by `viewer`."""
_MOST_VIEWS = 500
_versions: dict[tuple[str, str], int] = {}
"""The versions of conversations of further workspaces as each `viewer` was told them last. One stays true while the
workspace is closed and nobody else changes it, so that streams which only wait do not open it."""
_MOST_VERSIONS = 10_000


@st.cache_resource(show_spinner=False, on_release=Forky.close)
def whole_workspace() -> Forky:
    """The first workspace, opened at the first visit; every tab shares it. It shows everything: pages use `workspace`.

    Raises:
        StoreError: the database cannot be opened. Nothing is cached then, so that a reload tries again.
    """
    forky = Forky.open(secrets=read_secrets().values)
    with suppress(StoreDamaged):  # What can be read is shown all the same.
        ready = ensure_welcome(forky)
        if TEAM is not None:
            join_team(forky, TEAM, shown_to_all=ready.id if ready is not None else None)
    _opened[:] = [forky]
    return forky


def opened() -> Forky:
    """The first workspace for a route of the server; waits where it is being opened. StoreError where it cannot be."""
    return _opened[0] if _opened else whole_workspace()


def other_workspaces() -> OpenWorkspaces | None:
    """The workspaces beside the first one; None where the operator wants one alone."""
    settings = Settings.from_environment()
    if TEAM is None or settings.workspaces is None:
        return None
    if not _others:
        secrets = read_secrets().values
        made = OpenWorkspaces(
            WorkspaceFolder(settings.workspaces)
            if isinstance(settings.workspaces, Path)
            else WorkspacesOnServer(_first_on_server),
            TEAM,
            lambda store: Forky.over(store, secrets=secrets),
            most=settings.open_workspaces,
        )
        made.rested, made.changed_elsewhere = _forget_views, _forget_versions
        _others.append(made)
    return _others[0]


def whole(workspace: str) -> Forky:
    """A workspace with all that is in it, by its id; for routes and for what is the operator's.

    Raises:
        NotFound: there is no such workspace.
        StoreError: it cannot be opened.
    """
    if workspace == FIRST:
        return opened()
    others = other_workspaces()
    if others is None:
        raise NotFound(NO_WORKSPACE)
    return others.whole(workspace)


def whole_here() -> Forky:
    """The workspace of this page with all that is in it. Raises as `whole` does."""
    return whole_workspace() if workspace_id() == FIRST else whole(workspace_id())


def workspace() -> Forky:
    """The workspace of this page's address, as whoever looks at the page may see it.

    Raises:
        StoreError: the database cannot be opened.
        NotAllowed: nobody is signed in on a team's server, or they may not enter it.
    """
    if TEAM is None:
        return whole_workspace()
    if workspace_id() == FIRST:
        whole_workspace()
    return seen_by(reader_id(), workspace_id())


def workspace_id() -> str:
    """The id of the workspace of this page's address."""
    return st.context.headers.get(WORKSPACE.decode()) or FIRST if TEAM is not None else FIRST


def workspace_path() -> str:
    """What the paths of this page's workspace begin with; "" for the first one."""
    return base_path(workspace_id())


def kept_as(conversation: ConversationId) -> str:
    """The key under which something about a conversation of this page is kept for later pages: one that was moved has
    the same id in two workspaces.
    """
    return f"{workspace_id()}/{conversation}"


def reader_id() -> str:
    """The id of the team's member who looks at this page; "" on the server of one person."""
    return st.context.headers.get(PERSON.decode()) or "" if TEAM is not None else ""


def viewer_id() -> str:
    """The reader in this page's workspace, as the routes name them (`access.person.viewer`)."""
    return viewer(reader_id(), workspace_id())


@dataclass(frozen=True, slots=True)
class Reader:
    """The member of the team who looks at this page."""

    team: Team
    """That of the workspace of the page."""
    access: Access
    """What they may see and do."""
    session: str
    """The id of the session by which they are signed in."""

    @property
    def owns(self) -> bool:
        """Whether they are an owner of the workspace."""
        return self.access.role is Role.OWNER


def reader() -> Reader | None:
    """Who looks at this page; None on the server of one person.

    Raises:
        StoreError: the database cannot be opened.
        NotAllowed: nobody is signed in.
    """
    if TEAM is None:
        return None
    store = workspace().store
    assert isinstance(store, GuardedStore)
    return Reader(store.access.team, store.access, st.context.headers.get(SESSION.decode()) or "")


def team_here() -> Team | None:
    """The team of this page's workspace; None on the server of one person."""
    return TEAM.of(workspace_id()) if TEAM is not None else None


def may_begin() -> bool:
    """Whether the reader may begin conversations in this workspace, and bring some along."""
    found = reader()
    return found is None or found.access.role >= Role.COMMENTER


def operates() -> bool:
    """Whether the reader may change what is the operator's: models, keys, servers and storage."""
    found = reader()
    return found is None or found.owns


def runs_server() -> bool:
    """Whether the reader may change what is the whole server's: they are an owner of the first workspace."""
    return TEAM is None or TEAM.members.role_of(reader_id()) is Role.OWNER


def seen_by(person: str, workspace: str = "") -> Forky:
    """A workspace as a person sees it; the whole one on the server of one person.

    `person` is their id, or a `viewer`, which names the workspace, too.

    Raises:
        NotAllowed: they may not enter it.
        NotFound: there is no such workspace.
    """
    if TEAM is None:
        return opened()
    workspace, person = workspace or workspace_in(person), person_in(person)
    team = TEAM if workspace == FIRST else TEAM.of(workspace)
    if not TEAM.workspaces.role_in(workspace, person):
        raise NotAllowed("You are not signed in as a member of this team.", "Sign in again.")
    key = viewer(person, workspace)
    found = _views.get(key)
    if found is None:
        forky = whole(workspace)
        while len(_views) >= _MOST_VIEWS:
            _views.pop(next(iter(_views)), None)
        found = _views[key] = member_view(forky, team, person)
    return found


def _first_on_server() -> PostgresStore:
    from forky_core.store.postgresql.store import PostgresStore  # noqa: PLC0415 - few have a server

    store = opened().store
    assert isinstance(store, PostgresStore)
    return store


def _forget_views(workspace: str) -> None:
    """Hold no view of a workspace whose store was closed: it may be let go of."""
    for key in [key for key in list(_views) if workspace_in(key) == workspace]:
        _views.pop(key, None)


def _forget_versions(workspace: str) -> None:
    """Believe nothing that was noted of a workspace before another process has changed it."""
    for asked in [asked for asked in list(_versions) if workspace_in(asked[0]) == workspace]:
        _versions.pop(asked, None)


def at_hand(workspace: str = FIRST) -> Forky | None:
    """A workspace where it is open. Opens nothing and never waits."""
    if workspace == FIRST:
        return _opened[0] if _opened else None
    return _others[0].at_hand(workspace) if _others else None


def awake() -> Sequence[str]:
    """The ids of the workspaces that are open. Opens nothing."""
    first = [FIRST] if _opened else []
    return [*first, *(_others[0].awake if _others else ())]


def others_awake() -> Mapping[str, Forky]:
    """The workspaces beside the first one that are open, by their ids. Opens nothing."""
    found = {id: at_hand(id) for id in (_others[0].awake if _others else ())}
    return {id: forky for id, forky in found.items() if forky is not None}


def links_of(forky: Workspace, workspace: str = "") -> Links:
    """The links of a workspace, by default of this page's; on a team's server, what happens to them is noted in the
    audit log.
    """
    from forky_core.publishing.links.links import Links  # noqa: PLC0415 - the first page does without

    if TEAM is None:
        return Links(forky.store)
    return Links(forky.store, noted=noted_in(TEAM.of(workspace or workspace_id())))


def links_seen_by(person: str | None, workspace: str) -> Links:
    """The links of a workspace that a person sees, by their id or as a `viewer`; all of them for None.

    Raises:
        NotFound: there is no such workspace; NotAllowed if the person may not enter it.
    """
    return links_of(whole(workspace) if person is None else seen_by(person, workspace), workspace)


def shown_by(person: str, workspace: str) -> Forky:
    """A workspace as whoever made a link sees it. Raises NotAllowed if they left it."""
    return seen_by(person, workspace) if person else whole(workspace)


def may_share(link: Link, workspace: str) -> bool:
    """Whether whoever made a link may still share its conversation."""
    if TEAM is None or not link.by:
        return True
    return may_share_as(link.by, link.conversation, workspace)


def may_share_as(person: str, conversation: ConversationId, workspace: str = "") -> bool:
    """Whether a person may make links to a conversation of a workspace, by default of this page's: its editors may, and
    whoever it belongs to.
    """
    if TEAM is None:
        return True
    return TEAM.of(workspace or workspace_id()).sharing.role_in(conversation, person) >= Role.EDITOR


def reply(id: str, person: str) -> ReplyJob | None:
    """The reply that is being written under this id or was lately, if this `viewer` may see it.

    Opens nothing and never waits, since a route of the server asks.
    """
    forky = at_hand(workspace_in(person))
    job = forky.replies.find(id) if forky is not None else None
    return job if job is not None and version_of(job.place.conversation, person) is not None else None


def version_of(conversation: str, person: str) -> int | None:
    """The number of the last operation of a conversation that this `viewer` may see; None where there is none of that
    id (gateway/moving.py).
    """
    workspace, asked = workspace_in(person), (person, conversation)
    if workspace == FIRST and not _opened:  # Pages open it.
        return None
    try:
        known = _versions.get(asked)
        if workspace != FIRST and known is not None and not _is_awake(workspace):
            return known if _sees(conversation, person) else None
        forky = seen_by(person)
        if conversation == INBOX:
            return 0 if TEAM is not None else None
        version = (
            forky.moved if conversation == LIBRARY else forky.store.view(ConversationId(conversation)).version
        )
    except ForkyError:
        return None
    if workspace != FIRST:
        if len(_versions) >= _MOST_VERSIONS:
            _versions.clear()
        _versions[asked] = version
    return version


def _is_awake(workspace: str) -> bool:
    return bool(_others) and workspace in _others[0].awake


def _sees(conversation: str, person: str) -> bool:
    """Whether a `viewer` may see a conversation, or the library, as the people's file has it; opens no workspace."""
    assert TEAM is not None
    team, id = TEAM.of(workspace_in(person)), person_in(person)
    if conversation == LIBRARY:
        return bool(TEAM.workspaces.role_in(team.workspace, id))
    return bool(team.sharing.role_in(ConversationId(conversation), id))


def hear(heard: Heard) -> Callable[[], None]:
    """Listen to every workspace; `version_of` has found something in one before."""
    first, others = at_hand(), other_workspaces()
    ends = [first.store.hear(heard), first.replies.hear(heard)] if first is not None else []
    ends += [others.hear(heard)] if others is not None else []

    def forget() -> None:
        for end in ends:
            end()

    return forget


def beside(what: str, person: str) -> Mapping[str, Json]:
    """What a person is told of beside the operations of what they watch (gateway/moving.py): how many notices they have
    not read, the last event of a conversation's threads, and the replies that are being written there.
    """
    told: dict[str, Json] = {}
    if what not in {INBOX, LIBRARY}:
        forky = at_hand(workspace_in(person))
        running = forky.replies.running(ConversationId(what)) if forky is not None else ()
        told["replies"] = {"ids": sorted(str(job.generation.id) for job in running)}
    if TEAM is None:
        return told
    team = TEAM.of(workspace_in(person))
    told["inbox"] = {"unread": team.inbox.unread(person_in(person))}
    if what not in {INBOX, LIBRARY}:
        told["threads"] = {"at": team.threads.version(ConversationId(what))}
    return told


def back_up_server(into: Path, *, by: str = "") -> Path:
    """Copy every workspace of a team's server, and the people, into a new folder below `into`; returns that folder.

    Raises:
        NotFound: the server keeps nothing in files.
        StoreError: there is no room or no permission.
    """
    assert TEAM is not None
    first, others = opened(), other_workspaces()
    if first.location is None:
        raise NotFound("This server keeps nothing in files; there is nothing to copy.")
    folder = (
        others.places.folder if others is not None and isinstance(others.places, WorkspaceFolder) else None
    )
    files = ServerFiles(first.location, folder)

    def copied(id: str) -> Path:
        if id == FIRST:
            return first.backup()
        assert others is not None
        return others.backup(id)

    folder = back_up(into, TEAM, files, copied=copied).folder
    TEAM.audit.note("backed up", by)
    return folder


def close_workspace() -> None:
    """At the server's end: replies being written are stopped and kept, and the files are released."""
    for others in _others:
        others.close()
    _others.clear()
    whole_workspace.clear()
    _opened.clear()
    _views.clear()
    if TEAM is not None:
        TEAM.close()
