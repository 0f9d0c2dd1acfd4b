"""Who sends a request, as the gate has found out: headers that only the gate sets."""

from __future__ import annotations

from forky_core.gateway.asgi import Scope, header

PERSON = b"x-forky-person"
"""The id of the member of the team. One that comes along with a request is removed before anybody reads it."""
HANDLE = b"x-forky-handle"
"""Their handle, likewise."""
SESSION = b"x-forky-session"
"""The id of the session by which they are signed in, likewise. It opens nothing."""
FROM_THE_GATE = frozenset({PERSON, HANDLE, SESSION})


def person_of(scope: Scope) -> str:
    """The id of the member of the team who sends a request; "" on the server of one person."""
    return header(scope, PERSON)
