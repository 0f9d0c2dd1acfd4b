"""Processes over one PostgreSQL that tell each other by Redis: while it is there, away, and back again."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.model import Change, ConversationId
from forky_core.model.errors import RequestError
from forky_core.settings import Settings
from forky_core.store.postgresql import channel
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG, eventually
from tests.store.talk import HERE, begin, change, said

redis = pytest.importorskip("redis")
PROGRAM = shutil.which("redis-server")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="No Redis here.")


class RedisServer:
    """A server of its own; it keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ("--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no")
        assert PROGRAM is not None
        self._process = subprocess.Popen(
            [PROGRAM, *options], cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        eventually(self._answers)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(HANG)
        self._process = None

    def topics(self) -> list[str]:
        """What somebody listens to."""
        with redis.Redis.from_url(self.url, decode_responses=True) as client:
            found: list[str] = client.pubsub_channels()
            return found

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False


@pytest.fixture
def server_of_redis(tmp_path: Path) -> Iterator[RedisServer]:
    made = RedisServer(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def two(url: str, server_of_redis: RedisServer) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    herald = server_of_redis.url
    with (
        PostgresStore.open(url, process="ours", herald=herald) as ours,
        PostgresStore.open(url, process="theirs", herald=herald) as theirs,
    ):
        yield ours, theirs


def test_what_one_process_writes_the_other_hears_by_redis(
    two: tuple[PostgresStore, PostgresStore], server_of_redis: RedisServer
) -> None:
    ours, theirs = two
    begin(ours, said("hello"))
    heard: list[ConversationId] = []
    theirs.hear(heard.append)
    eventually(lambda: any(topic.startswith("forky/") for topic in server_of_redis.topics()))
    change(ours, Change("note/1", None, 1))
    eventually(lambda: heard == [HERE])
    told: list[str] = []
    talk = theirs.talk("here", told.append, lambda _talk: None)
    other = ours.talk("here", lambda _message: None, lambda _talk: None)
    eventually(lambda: any(topic.endswith("forky_here") for topic in server_of_redis.topics()))
    other.tell("I am here")
    eventually(lambda: told == ["I am here"])
    other.end()
    talk.end()


def test_while_redis_is_away_processes_look_by_themselves_and_hear_again_when_it_is_back(
    two: tuple[PostgresStore, PostgresStore], server_of_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "SIGN_EVERY", 0.1)
    ours, theirs = two
    begin(ours, said("hello"))
    heard: list[ConversationId] = []
    theirs.hear(heard.append)
    eventually(server_of_redis.topics)
    server_of_redis.stop()
    change(ours, Change("note/1", None, 1))
    eventually(lambda: heard)
    assert theirs.view(HERE).version == 2
    server_of_redis.start()
    eventually(server_of_redis.topics)
    heard.clear()
    change(ours, Change("note/2", None, 2))
    eventually(lambda: heard)


def test_a_redis_that_was_never_there_keeps_nobody_from_working(
    url: str, server_of_redis: RedisServer
) -> None:
    server_of_redis.stop()
    with PostgresStore.open(url, herald=server_of_redis.url) as store:
        begin(store, said("hello"))
        assert store.view(HERE).version == 1


def test_what_is_no_address_of_a_redis_is_refused_in_a_sentence() -> None:
    with pytest.raises(RequestError, match="FORKY_HERALD is no address of a Redis"):
        Settings.from_environment({"FORKY_HERALD": "localhost:6379"})
    assert Settings.from_environment({"FORKY_HERALD": "rediss://a:6380/0"}).herald == "rediss://a:6380/0"
