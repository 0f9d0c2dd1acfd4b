"""The messages between this process and the others that use the same workspace, over its channel.

It tells that it lives, from the first thing on that it writes: whoever finds a reply of a process that was not heard
from for ten seconds, by the clock of the server, may take it over. And it tells which conversations
it has changed, after the commit and gathered, so that pages of another process show them.

News that were missed while the connection was cut are found by the versions of the conversations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from threading import Lock

from forky_core.model import ConversationId
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.channel import Channel, Party
from forky_core.store.postgresql.connection import Connection, enter
from forky_core.store.postgresql.database import Database

_MOST_NAMED = 150
"""Conversations that one message names, so that it is not too long for the channel."""

_Versions = Mapping[ConversationId, tuple[int, int]]


class OtherProcesses(Party):
    """Tells other processes which conversations changed here, and learns which changed there: a `Party` of the channel.
    Close it.
    """

    def __init__(self, database: Database, changed: Callable[[Iterable[ConversationId]], None]) -> None:
        """`changed` is called with conversations that another process has changed, on the channel's thread."""
        self.topic = topic_of(database.workspace)
        self._database = database
        self._channel = database.connections.channel
        self._changed = changed
        self._lock = Lock()
        self._news: set[ConversationId] = set()
        self._known: _Versions | None = None
        """What the conversations were at when somebody began to listen, or at the latest look; None: nobody does."""
        self._lives = False

    def live(self, connection: Connection) -> None:
        """Record that this process is alive: now over this connection, and from then on regularly."""
        if not self._lives:
            connection.rows(sql.LIVE, process=self._database.process)
            connection.rows(sql.FORGET_GONE)
            self._lives = True
            self._channel.join(self)

    def listen(self) -> None:
        """Begin to receive what other processes change. Raises StoreError if the server cannot be asked."""
        if self._known is None:
            self._known = self._versions()
            self._channel.join(self)

    def tell(self, conversations: Iterable[ConversationId]) -> None:
        """Send the ids of these changed conversations to the other processes, soon."""
        with self._lock:
            is_first = not self._news
            self._news.update(conversations)
        if is_first:
            self._channel.join(self)

    def close(self) -> None:
        """Send the messages that are waiting, then stop."""
        self._channel.leave(self)

    # As a party of the channel.

    @property
    def listens(self) -> bool:
        return self._known is not None

    def meet(self) -> None:
        self._catch_up()

    def give_sign(self, connection: Connection, *, hears: bool) -> None:
        if self._lives:
            enter(connection, self._database.workspace)
            connection.rows(sql.LIVE, process=self._database.process)
        if self.listens and not hears:
            self._catch_up()

    def take(self) -> Sequence[str]:
        with self._lock:
            news, self._news = sorted(self._news), set()
        return [
            json.dumps({"by": self._channel.name, "changed": news[at : at + _MOST_NAMED]})
            for at in range(0, len(news), _MOST_NAMED)
        ]

    def take_back(self, messages: Sequence[str]) -> None:
        with self._lock:
            for message in messages:
                self._news.update(map(ConversationId, json.loads(message)["changed"]))

    def hear(self, message: str) -> None:
        if changed := _told_by_others(message, self._channel):
            self._changed(changed)

    def _catch_up(self) -> None:
        """Tell listeners of everything that is not as it was at the latest look."""
        known, now = self._known, self._versions()
        self._known = now
        if known is not None:
            changed = [id for id in known.keys() | now.keys() if known.get(id) != now.get(id)]
            if changed:
                self._changed(changed)

    def _versions(self) -> _Versions:
        rows = self._database.rows(sql.VERSIONS)
        return {ConversationId(id): (version, erasures) for id, version, erasures in rows}


def topic_of(workspace: str) -> str:
    """The topic under which the processes of a workspace exchange messages."""
    return f"forky_{sha256(workspace.encode()).hexdigest()[:24]}"


def _told_by_others(message: str, channel: Channel) -> list[ConversationId]:
    """The conversations that another process has changed, as a message says."""
    told = json.loads(message)
    return [ConversationId(id) for id in told["changed"]] if told["by"] != channel.name else []
