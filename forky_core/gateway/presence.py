"""`POST /here`: a tab says which message its reader looks at, so that others in the conversation see who is there.

It says so when the place changes, when it hears of the conversation again, and every `EVERY` seconds. Whoever hears of
the conversation no more (moving.py) has left, and so has a tab that was silent for `GONE` seconds. Nothing of this is
stored. Those who watch the conversation (moving.py) are sent who else is there, once for each person, at the
place of the tab that moved last.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from forky_core.gateway.access.person import person_of
from forky_core.gateway.asgi import Receive, Scope, Send, answer, read_body, refuse
from forky_core.gateway.fair_dict import FairDict
from forky_core.model.parts import json_object

PATH = "/here"
EVERY = 120.0
"""Seconds between two calls of a tab that stays where it is."""
GONE = 270.0
"""Seconds of silence after which a tab has left that never heard of the conversation, as behind a proxy that keeps
streams back."""
LINGERS = 10.0
"""Seconds in which a tab whose connection broke may connect again before its reader has left."""
_LARGEST = 2_000
"""Bytes of a call."""
_MOST_TABS = 2_000


@dataclass(frozen=True, slots=True)
class Here:
    """Where the reader of one tab is."""

    person: str
    """By id."""
    conversation: str
    branch: str
    message: str
    typing: bool
    seen: float
    """When the tab said so, in seconds of a clock that never goes back."""
    moved: float = 0.0
    """When it first said so (`Presence.note`)."""


class Presence:
    """Who looks at what now. Only the event loop uses it."""

    def __init__(self, name_of: Callable[[str], str], *, clock: Callable[[], float] = time.monotonic) -> None:
        """`name_of` returns the name of a person by their id."""
        self._name_of = name_of
        self._clock = clock
        self._tabs: FairDict[str, Here] = FairDict(_MOST_TABS)
        self._connected: set[str] = set()
        """The tabs that this server was told of by themselves, not by another server."""
        self._listening: Counter[tuple[str, str]] = Counter()
        """How many tabs of a person hear of a conversation, by both."""
        self.changed: Callable[[str], None] = lambda _conversation: None
        """Called with the id of a conversation when somebody comes, goes or moves there."""
        self.told: Callable[[str, Here | None], None] = lambda _tab, _here: None
        """Called when a tab of this server says where it is, or with None when it is closed."""

    def put(self, tab: str, here: Here) -> None:
        """Note where the reader of a tab of this server is."""
        self.note(tab, here)
        self._connected.add(tab)
        self.told(tab, here)

    def leave(self, tab: str) -> None:
        """Note that a tab of this server was closed."""
        self.note(tab, None)
        self.told(tab, None)

    def note(self, tab: str, here: Here | None) -> None:
        """Note where the reader of a tab is, or with None that it was closed; it may be one of another server."""
        before = self._tabs.pop(tab)
        self._connected.discard(tab)
        if here is not None:
            stays = before is not None and here == replace(before, seen=here.seen, moved=here.moved)
            here = replace(here, moved=before.moved if before is not None and stays else here.seen)
            dropped = self._tabs.put(tab, here, here.person)
            if dropped is not None:
                self._connected.discard(dropped[0])
            if stays:
                return
        for conversation in {one.conversation for one in (before, here) if one is not None}:
            self.changed(conversation)

    @contextmanager
    def listening(self, conversation: str, person: str) -> Iterator[None]:
        """Within the block, a tab of this person hears of a conversation; both are named as in `Here`.

        When no tab of theirs has done so for `LINGERS` seconds, they have left the conversation.
        """
        both = (conversation, person)
        self._listening[both] += 1
        try:
            yield
        finally:
            self._listening[both] -= 1
            if not self._listening[both]:
                del self._listening[both]
                asyncio.get_running_loop().call_later(LINGERS, self._leave, *both)

    def _leave(self, conversation: str, person: str) -> None:
        """Note that a person has left a conversation, unless a tab of theirs hears of it again."""
        if (conversation, person) in self._listening:
            return
        for tab, here in self.connected().items():
            if (here.conversation, here.person) == (conversation, person):
                self.leave(tab)

    def connected(self) -> Mapping[str, Here]:
        """The tabs of this server, and where their readers are."""
        return {tab: here for tab, here in self._tabs.items() if tab in self._connected}

    def others(self, conversation: str, person: str) -> list[dict[str, str | bool]]:
        """Everybody but this person who is in a conversation, by name, as the browser is told."""
        latest: dict[str, Here] = {}
        moment = self._clock()
        for tab, here in self._tabs.items():
            if moment - here.seen > GONE:
                self._tabs.pop(tab)
                self._connected.discard(tab)
            elif here.conversation == conversation and here.person != person:
                latest[here.person] = max(latest.get(here.person, here), here, key=lambda one: one.moved)
        told: list[dict[str, str | bool]] = [
            {
                "person": here.person,
                "name": self._name_of(here.person),
                "branch": here.branch,
                "message": here.message,
                "typing": here.typing,
            }
            for here in latest.values()
        ]
        return sorted(told, key=lambda one: str(one["name"]))


class PresenceAt:
    """The endpoint: an ASGI app for `PATH`.

    `version` is that of `moving.Moving`: it says whether a person may see a conversation.
    """

    def __init__(self, presence: Presence, version: Callable[[str, str], int | None]) -> None:
        self._presence = presence
        self._version = version

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        person = person_of(scope)
        if scope["method"] != "POST" or not person:
            await refuse(scope, send, 404, "There is nothing at this address.")
            return
        told = await _told(receive)
        if told is None:
            await refuse(scope, send, 400, "Post a small JSON object.")
            return
        tab, conversation = _word(told, "tab"), _word(told, "conversation")
        # A database that is away for a moment must not hold up everybody else's tabs.
        if not tab or await asyncio.to_thread(self._version, conversation, person) is None:
            await refuse(scope, send, 404, "No such conversation.")
            return
        if told.get("gone"):
            self._presence.leave(f"{person} {tab}")
        else:
            branch, message = _word(told, "branch"), _word(told, "message")
            here = Here(
                person,
                conversation,
                branch,
                message,
                told.get("typing") is True,
                time.monotonic(),
            )
            # A tab's name is its own: nobody moves the tab of somebody else by it.
            self._presence.put(f"{person} {tab}", here)
        await answer(scope, send, 204)


async def _told(receive: Receive) -> dict[str, object] | None:
    body = await read_body(receive, _LARGEST)
    return json_object(body) if body is not None else None


def _word(told: dict[str, object], name: str) -> str:
    value = told.get(name)
    return value[:300] if isinstance(value, str) else ""
