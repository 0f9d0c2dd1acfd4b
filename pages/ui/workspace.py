"""The open workspace of this server process, and where its keys come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.importing.followed_folders import followed
from forky_core.gateway.access.person import PERSON
from forky_core.gateway.moving import LIBRARY
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError, NotAllowed, NotFound, StoreDamaged
from forky_core.model.parts import Json
from forky_core.people.backup.server_backup import back_up
from forky_core.people.export_audit import noted_in
from forky_core.people.roles import Role
from forky_core.people.team import WORKSPACE
from forky_core.people.viewer import Viewer
from forky_core.people.views import join_team, member_view
from forky_core.store.herald import Heard
from forky_core.welcome import ensure_welcome
from pages.ui.secrets import read_secrets
from pages.ui.sign_in import TEAM

if TYPE_CHECKING:
    from forky_core.formats.importing.folder_follower import FolderFollower
    from forky_core.people.links.link import Link
    from forky_core.people.links.links import Links

_opened: list[Forky] = []
"""The workspace, once it is open."""
_views: dict[str, Forky] = {}
"""The workspace as members of a team see it, by their ids."""
_MOST_VIEWS = 500
_followers: list[FolderFollower] = []
"""What follows folders for the workspace, where one person has it, once it is needed."""
_following = Lock()


def _close(forky: Forky) -> None:
    with _following:
        while _followers:
            _followers.pop().close()
    forky.close()


@st.cache_resource(show_spinner=False, on_release=_close)
def whole_workspace() -> Forky:
    """The workspace, opened at the first visit; every tab shares it. It shows everything: pages use `workspace`.

    Raises:
        StoreError: the database cannot be opened. Nothing is cached then, so that a reload tries again.
    """
    forky = Forky.open(secrets=read_secrets().values, by_app=False)
    with suppress(StoreDamaged):  # What can be read is shown all the same.
        ready = ensure_welcome(forky)
        if TEAM is not None:
            join_team(forky, TEAM, shown_to_all=ready.id if ready is not None else None)
    _opened[:] = [forky]
    if TEAM is None and followed(forky.store):
        Thread(target=follower, name="forky-follower", daemon=True).start()
    return forky


def follower() -> FolderFollower | None:
    """What follows folders of this machine; None on a team's server, whose machine is no member's."""
    from forky_core.formats.importing.folder_follower import FolderFollower  # noqa: PLC0415 - it reads every format

    with _following:
        if TEAM is None and not _followers:
            _followers.append(FolderFollower(opened()))
        return next(iter(_followers), None)


def opened() -> Forky:
    """The whole workspace for a route of the server; waits where it is being opened. StoreError where it cannot be."""
    return _opened[0] if _opened else whole_workspace()


def workspace() -> Forky:
    """The workspace, as whoever looks at the page may see it.

    Raises:
        StoreError: the database cannot be opened.
        NotAllowed: nobody is signed in on a team's server.
    """
    whole = whole_workspace()
    return whole if TEAM is None else seen_by(reader_id())


def workspace_id() -> str:
    """The id of the workspace, under which browsers keep what was not sent yet."""
    return TEAM.workspace if TEAM is not None else WORKSPACE


def reader_id() -> str:
    """The id of the team's member who looks at this page; "" on the server of one person."""
    return st.context.headers.get(PERSON.decode()) or "" if TEAM is not None else ""


def seen_by(person: str) -> Forky:
    """The workspace as a person sees it, by their id; the whole one on the server of one person.

    Raises:
        NotAllowed: they are not a member.
    """
    if TEAM is None:
        return opened()
    if not TEAM.members.role_of(person):
        raise NotAllowed("You are not signed in as a member of this team.", "Sign in again.")
    found = _views.get(person)
    if found is None:
        forky = opened()
        while len(_views) >= _MOST_VIEWS:
            _views.pop(next(iter(_views)), None)
        found = _views[person] = member_view(forky, TEAM, person)
    return found


def at_hand() -> Forky | None:
    """The workspace if it is open. Opens nothing and never waits."""
    return _opened[0] if _opened else None


def links_of(forky: Workspace) -> Links:
    """The links of the workspace; on a team's server, what happens to them is noted in the audit log."""
    from forky_core.people.links.links import Links  # noqa: PLC0415 - the first page does without

    return Links(forky.store) if TEAM is None else Links(forky.store, noted=noted_in(TEAM))


def links_seen_by(person: str | None) -> Links:
    """The links that a person sees, by their id; all of them for None.

    Raises:
        NotAllowed: they are not a member.
    """
    return links_of(opened() if person is None else seen_by(person))


def shown_by(person: str) -> Forky:
    """The workspace as whoever made a link sees it. Raises NotAllowed if they left it."""
    return seen_by(person) if person else opened()


def may_share(link: Link) -> bool:
    """Whether whoever made a link may still share its conversation."""
    return TEAM is None or not link.by or TEAM.sharing.role_in(link.conversation, link.by) >= Role.EDITOR


def reply(id: str, person: str) -> ReplyJob | None:
    """The reply that is being written under this id or was lately, if this person may see it.

    Opens nothing and never waits, since a route of the server asks.
    """
    forky = at_hand()
    job = forky.replies.find(id) if forky is not None else None
    return job if job is not None and version_of(job.place.conversation, person) is not None else None


def version_of(conversation: str, person: str) -> int | None:
    """The number of the last operation of a conversation that this person may see; None where there is none of that id
    (gateway/moving.py).
    """
    if not _opened:  # Pages open it.
        return None
    try:
        forky = seen_by(person)
        if conversation == LIBRARY:
            return forky.moved
        return forky.store.view(ConversationId(conversation)).version
    except ForkyError:
        return None


def hear(heard: Heard) -> Callable[[], None]:
    """Listen to the workspace; `version_of` has found something in it before."""
    forky = opened()
    ends = (forky.store.hear(heard), forky.replies.hear(heard))

    def forget() -> None:
        for end in ends:
            end()

    return forget


def beside(what: str, person: str) -> Mapping[str, Json]:
    """What a person is told of beside the operations of what they watch (gateway/moving.py): what the list of
    conversations shows, how many notices they have not read, the last event of a conversation's threads, and the
    replies that are being written there.
    """
    try:
        forky = seen_by(person)
        told: dict[str, Json] = {"chats": {"at": state_of_list(forky)}}
    except ForkyError:  # They have just left the team, or the database is away for a moment.
        return {}
    unread = TEAM.inbox.unread(person) if TEAM is not None else Viewer().unread(forky)
    told["inbox"] = {"unread": unread}
    if what != LIBRARY:
        running = forky.replies.running(ConversationId(what))
        told["replies"] = {"ids": sorted(str(job.generation.id) for job in running)}
        if TEAM is not None:
            told["threads"] = {"at": TEAM.threads.version(ConversationId(what))}
    return told


def state_of_list(forky: Forky) -> str:
    """Of a person's list of conversations: how many there are, when the newest changed, in which a reply is written."""
    seen = forky.conversations()
    writing = {job.place.conversation for job in forky.replies.running()}
    written = sorted(one.id for one in seen if one.id in writing) if writing else ()
    return " ".join((str(len(seen)), str(seen[0].updated if seen else 0), *written))


def back_up_server(into: Path, *, by: str = "") -> Path:
    """Copy the conversations of a team's server and the people into a new folder below `into`; returns that folder.

    Raises:
        NotFound: the server keeps nothing in files.
        StoreError: there is no room or no permission.
    """
    assert TEAM is not None
    forky = opened()
    if forky.location is None:
        raise NotFound("This server keeps nothing in files; there is nothing to copy.")
    folder = back_up(into, TEAM, forky.location, copied=forky.backup).folder
    TEAM.audit.note("backed up", by)
    return folder


def close_workspace() -> None:
    """At the server's end: replies being written are stopped and kept, and the file is released."""
    whole_workspace.clear()
    _opened.clear()
    _views.clear()
    if TEAM is not None:
        TEAM.close()
