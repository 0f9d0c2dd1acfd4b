"""What a verb is: the one description from which its tool, its HTTP route and its command are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import NotAllowed
from forky_core.model.parts import Json
from forky_core.people.token_scopes import SCOPES, TokenScope

Result = dict[str, Json]


@dataclass(frozen=True, slots=True)
class VerbCaller:
    """Who calls a verb, and what of the workspace they reach."""

    forky: Workspace
    """The workspace as they see it: its store refuses what they may not do, whatever verb does it."""
    author: str
    """The name that stands beside what they do."""
    id: str
    """What tells callers apart, whose names can be alike."""
    scopes: frozenset[str] = frozenset(SCOPES)
    base: str = ""
    """The address of the app, for links that a person opens; "" if there is none."""

    def require(self, scope: TokenScope) -> None:
        """Raise NotAllowed if they may not do this."""
        if scope not in self.scopes:
            raise NotAllowed(
                f"“{self.author}” may not do that: it needs the scope “{scope}”.",
                "Whoever made the token can make another one with it.",
            )

    def link(self, conversation: str, branch: str = "", message: str = "", request: int = 0) -> str:
        """The address at which a person opens a conversation, a branch of it, a message, or a request."""
        named = {"c": conversation, "b": branch, "m": message, "request": request}
        query = urlencode({name: value for name, value in named.items() if value})
        return f"{self.base}/{'merge' if request else ''}?{query}" if self.base else ""

    def place(self, chat: Conversation, message: str = "") -> Result:
        """The ids of a branch and its link, with which every result begins."""
        ids: Result = {"conversation": chat.id, "title": chat.title[:80], "branch": chat.branch_name}
        return ids | self.linked(chat.id, chat.branch_name, message)

    def linked(self, conversation: str, branch: str = "", message: str = "", request: int = 0) -> Result:
        """The link as a field of a result; {} if there is no app to open it."""
        link = self.link(conversation, branch, message, request)
        return {"link": link} if link else {}


@dataclass(frozen=True, slots=True)
class RegisteredVerb:
    """A thing that people and programs do with conversations."""

    name: str
    summary: str
    """One sentence, which tools, routes and commands show."""
    scope: TokenScope
    params: type
    """A frozen dataclass of `param` fields."""
    run: Callable[[VerbCaller, Any], Result]
    """Does it; raises a ForkyError where it is refused."""
    writes: bool = False
    """Whether it changes anything: then its parameters have an idempotency `key`."""
    is_tool: bool = True
    """Whether agents are offered it by MCP, where few tools are read better than many."""
    a_minute: int = 600
    """The most calls of one caller in a minute, if it writes."""
    again: Callable[[VerbCaller, Mapping[str, Json]], Result] | None = None
    """Completes what `run` returns by what is not stored with the key, such as texts and links; None: that is all."""
