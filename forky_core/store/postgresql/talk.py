"""Messages about one topic between the processes that use a database. They are stored in no table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from forky_core.store.contract import Talk
from forky_core.store.postgresql.channel import LONGEST, Channel, Party
from forky_core.store.postgresql.connection import Connection

_MOST_WAITING = 10_000
"""Messages that wait for a server which is away; then the oldest are lost."""


class TopicTalk(Party):
    """The `Talk` of a PostgreSQL database."""

    listens = True

    def __init__(
        self, channel: Channel, topic: str, heard: Callable[[str], None], met: Callable[[Talk], None]
    ) -> None:
        """See `TalkingStore.talk`; a topic is made of small letters and underscores."""
        self.topic = f"forky_{topic}"
        self._channel = channel
        self._heard = heard
        self._met = met
        self._lock = Lock()
        self._messages: list[str] = []
        channel.join(self)

    def tell(self, message: str) -> None:
        whole = f"{self._channel.name} {message}"
        if len(whole.encode("utf-8", "replace")) > LONGEST:
            return
        with self._lock:
            is_first = not self._messages
            self._messages.append(whole)
            del self._messages[:-_MOST_WAITING]
        if is_first:
            self._channel.wake()

    def end(self) -> None:
        self._channel.leave(self)

    def meet(self) -> None:
        self._met(self)

    def give_sign(self, connection: Connection, *, hears: bool) -> None:  # noqa: ARG002 - it has none to give
        if not hears:
            self._met(self)

    def take(self) -> Sequence[str]:
        with self._lock:
            messages, self._messages = self._messages, []
        return messages

    def take_back(self, messages: Sequence[str]) -> None:
        with self._lock:
            self._messages[:0] = messages

    def hear(self, message: str) -> None:
        name, _, told = message.partition(" ")
        if name != self._channel.name:
            self._heard(told)
