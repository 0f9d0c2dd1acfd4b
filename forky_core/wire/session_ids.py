"""Which headers and fields of a request name the session that it belongs to, one value for each program.

Programs of agents name their session, and the thread or agent within it, beside the messages that they send. Such an id
says more than the messages, which these programs rewrite as they like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forky_core.model.parts import json_object

_LONGEST = 200
"""Characters of an id; a longer one is none."""


@dataclass(frozen=True, slots=True)
class SessionIds:
    """The ids by which a program names where a call belongs."""

    own: str
    """The session, or the thread or agent within it."""
    above: tuple[str, ...] = ()
    """Those that it may be a part of, the nearest first."""

    @property
    def all(self) -> tuple[str, ...]:
        return (self.own, *self.above)


@dataclass(frozen=True, slots=True)
class ClientHeaders:
    """The headers by which one program names its sessions."""

    program: str
    session: str
    thread: str = ""
    """Names a thread or an agent within the session."""
    parent: str = ""
    """Names the session or thread that began this one."""


CLIENTS = (
    ClientHeaders("forky", "x-forky-thread", parent="x-forky-parent"),
    ClientHeaders("claude-code", "x-claude-code-session-id", "x-claude-code-agent-id"),
    ClientHeaders("codex", "session-id", "thread-id", "x-codex-parent-thread-id"),
    ClientHeaders("opencode", "x-session-id", parent="x-parent-session-id"),
)
"""Any program may use the first."""
_USER_ID = re.compile(r"session_([\w-]{8,64})\Z")


def session_ids(headers: Mapping[str, str], body: Mapping[str, Any]) -> SessionIds | None:
    """Return the ids that a request carries; None if it names no session. Names of headers are in lower case."""
    for client in CLIENTS:
        if session := _id(headers.get(client.session)):
            thread, parent = _id(headers.get(client.thread)), _id(headers.get(client.parent))
            return _ids(client.program, session, thread, parent)
    if session := _of_anthropic(body):
        return _ids("claude-code", session)
    if headers.get("originator", "").startswith("codex") and (session := _id(body.get("prompt_cache_key"))):
        return _ids("codex", session)
    return None


def named_session(name: str) -> SessionIds | None:
    """Return the ids of a session that a program names outside of headers, as `x-forky-thread` would; None for ""."""
    return SessionIds(f"{CLIENTS[0].program}:{_id(name)}") if _id(name) else None


def _ids(program: str, session: str, thread: str = "", parent: str = "") -> SessionIds:
    own = session if thread in ("", session) else f"{session}/{thread}"
    above = [f"{session}/{parent}", parent] if parent else []
    others = [id for id in dict.fromkeys((*above, session)) if id != own]
    return SessionIds(f"{program}:{own}", tuple(f"{program}:{id}" for id in others))


def _id(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else ""


def _of_anthropic(body: Mapping[str, Any]) -> str:
    """The session in Claude Code's `metadata.user_id`, of its earlier versions too."""
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    if not isinstance(user, str) or len(user) > 1_000:
        return ""
    named = json_object(user)
    if named is not None:
        return _id(named.get("session_id"))
    found = _USER_ID.search(user)
    return found[1] if found else ""
