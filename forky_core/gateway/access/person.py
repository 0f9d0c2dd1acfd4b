"""Who sends a request, and to which workspace, as the gate has found out: headers that only the gate sets."""

from __future__ import annotations

from forky_core.gateway.asgi import Scope, header
from forky_core.team.team_workspaces import WORKSPACE as FIRST

PERSON = b"x-forky-person"
"""The id of the member of the team. One that comes along with a request is removed before anybody reads it."""
HANDLE = b"x-forky-handle"
"""Their handle, likewise."""
SESSION = b"x-forky-session"
"""The id of the session by which they are signed in, likewise. It opens nothing."""
WORKSPACE = b"x-forky-workspace"
"""The id of the workspace that the request is for, likewise; without it the first one."""
FROM_THE_GATE = frozenset({PERSON, HANDLE, SESSION, WORKSPACE})
_AT = "@"


def person_of(scope: Scope) -> str:
    """The id of the member of the team who sends a request; "" on the server of one person."""
    return header(scope, PERSON)


def workspace_of(scope: Scope) -> str:
    """The id of the workspace that a request is for."""
    return header(scope, WORKSPACE) or FIRST


def viewer_of(scope: Scope) -> str:
    """Who sends a request, and to which workspace, as `viewer` writes it."""
    return viewer(person_of(scope), workspace_of(scope))


def viewer(person: str, workspace: str) -> str:
    """A person in a workspace as one text: their id, and behind an `@` that of the workspace if it is not the first."""
    return person if workspace == FIRST else f"{person}{_AT}{workspace}"


def person_in(viewer: str) -> str:
    """The id of the person whom a `viewer` names."""
    return viewer.partition(_AT)[0]


def workspace_in(viewer: str) -> str:
    """The id of the workspace that a `viewer` names."""
    return viewer.partition(_AT)[2] or FIRST


def within(viewer: str, id: str) -> str:
    """An id, as of a conversation, in a form that the same id in another workspace does not have."""
    workspace = workspace_in(viewer)
    return f"{workspace}/{id}" if workspace != FIRST or "/" in id else id
