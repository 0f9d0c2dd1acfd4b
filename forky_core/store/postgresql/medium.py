"""What carries messages between processes: PostgreSQL's own LISTEN and NOTIFY, or a Redis beside it.

Redis is for a database that cannot tell its clients anything: a cluster of another maker that speaks PostgreSQL's
protocol. Where neither can, or Redis is away, whoever wants to hear looks by itself from time to time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, cast

from psycopg import errors

from forky_core.store.postgresql.connection import Connection

if TYPE_CHECKING:
    from redis import Redis

_ANSWER = 5.0
"""Seconds that Redis may take to answer."""


class MediumLost(Exception):
    """Messages cannot be carried now; the connection to PostgreSQL is another matter."""


class Medium(Protocol):
    """Carries messages about topics, which are names that need no quotes in SQL.

    Its methods raise MediumLost where it is away, and psycopg.Error where the connection to PostgreSQL is cut.
    """

    def listen(self, topic: str) -> bool:
        """Hear what is told about a topic from now on; False where nothing can be heard."""
        ...

    def unlisten(self, topic: str) -> None:
        """Hear of it no more."""
        ...

    def tell(self, topic: str, message: str) -> None:
        """Tell whoever listens, this process too. It is lost where that is not possible."""
        ...

    def heard(self) -> Iterator[tuple[str, str]]:
        """The topic and the text of each message that has come, without waiting for more."""
        ...

    def close(self) -> None: ...


class PostgresMedium:
    """Over a connection that is the caller's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def listen(self, topic: str) -> bool:
        try:
            self._connection.execute(f"LISTEN {topic}")
        except (errors.FeatureNotSupported, errors.SyntaxError):
            return False  # Some clusters cannot.
        return True

    def unlisten(self, topic: str) -> None:
        self._connection.execute(f"UNLISTEN {topic}")

    def tell(self, topic: str, message: str) -> None:
        with suppress(errors.FeatureNotSupported, errors.UndefinedFunction):
            self._connection.execute("SELECT pg_notify(%s, %s)", (topic, message))

    def heard(self) -> Iterator[tuple[str, str]]:
        for one in self._connection.notifies(timeout=0):
            yield one.channel, one.payload

    def close(self) -> None: ...


class RedisMedium:
    """Over two connections of its own to a Redis, and a thread that waits for what comes."""

    def __init__(self, url: str, database: str, wake: Callable[[], None]) -> None:
        """`database` keeps the topics of several databases apart; `wake` is called when something came.

        Raises:
            MediumLost: Redis cannot be reached.
        """
        import redis  # noqa: PLC0415 - few have it
        from redis.backoff import NoBackoff  # noqa: PLC0415 - as above
        from redis.retry import Retry  # noqa: PLC0415 - as above

        self._faults: tuple[type[Exception], ...] = (redis.RedisError, OSError)
        self._prefix = f"forky/{database}/"
        self._wake = wake
        self._came: deque[tuple[str, str] | None] = deque()
        """None at the end says that the connection was cut."""
        # Connected again by itself, it would not say what was missed meanwhile.
        common: dict[str, Any] = {
            "decode_responses": True,
            "socket_connect_timeout": _ANSWER,
            "retry": Retry(NoBackoff(), 0),
        }
        client: Redis = redis.Redis.from_url(url, socket_timeout=_ANSWER, **common)
        self._client = client
        # What waits for messages may wait for ever.
        self._hearing = cast(
            "Any", redis.Redis.from_url(url, socket_timeout=None, socket_keepalive=True, **common)
        )
        self._ear = self._hearing.pubsub(ignore_subscribe_messages=True)
        self._thread: Thread | None = None
        self._saying(client.ping)

    def listen(self, topic: str) -> bool:
        self._saying(lambda: self._ear.subscribe(self._prefix + topic))
        if self._thread is None:
            self._thread = Thread(target=self._wait, name="forky-redis", daemon=True)
            self._thread.start()
        return True

    def unlisten(self, topic: str) -> None:
        self._saying(lambda: self._ear.unsubscribe(self._prefix + topic))

    def tell(self, topic: str, message: str) -> None:
        self._saying(lambda: self._client.publish(self._prefix + topic, message))

    def heard(self) -> Iterator[tuple[str, str]]:
        while self._came:
            found = self._came.popleft()
            if found is None:
                raise MediumLost("The connection to Redis was cut.")
            yield found

    def close(self) -> None:
        for one in (self._ear, self._hearing, self._client):
            with suppress(Exception):
                one.close()

    def _wait(self) -> None:
        """On a thread of its own, until the connection is closed or cut."""
        with suppress(Exception):  # Whatever it was: nothing is heard any more, and the channel begins anew.
            for one in self._ear.listen():
                if one.get("type") == "message":
                    self._came.append((str(one["channel"]).removeprefix(self._prefix), str(one["data"])))
                    self._wake()
        self._came.append(None)
        with suppress(OSError):
            self._wake()

    def _saying(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except self._faults as error:
            raise MediumLost(str(error)) from error


def medium_over(connection: Connection, herald: str | None, wake: Callable[[], None]) -> Medium:
    """What carries messages for a process: the Redis at this address, or PostgreSQL where there is none.

    Raises:
        MediumLost: Redis cannot be reached.
    """
    if herald is None:
        return PostgresMedium(connection)
    return RedisMedium(herald, connection.info.dbname, wake)
