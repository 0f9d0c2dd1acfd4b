"""The store of a running Forky, for a command or a program beside it."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from forky_core.model import ConversationId, Generation, GenerationId, Message, MessageId, Operation
from forky_core.model.erasure import VERB
from forky_core.model.errors import StoreError
from forky_core.store.contract import Commit, NewSetting, Store, StoreIdentity, StoreStatus
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.herald import Heard, Herald
from forky_core.store.remote.codec import Codec, read_error
from forky_core.store.remote.methods import DOCUMENTS, methods, parameters
from forky_core.store.remote.path import HEAR, PATH, PROCESS

_PATIENCE = 60.0
"""Seconds without a byte after which the server is taken to be gone."""
_PIECE = 5_000
"""Messages of a conversation that are asked for at once."""
_BREAK = 1.0
"""Seconds after which a stream of changes that has ended is opened again."""
_TRIES = 200
"""How often a setting is set again that somebody else changed in between."""
_PAUSE = 0.02
"""The most seconds between two of these."""


class RemoteStore:
    """A store that keeps nothing itself; safe from any thread.

    Each call is one request. What was read is not remembered, but for whole conversations' messages, which never
    change: of these, new ones are asked for.
    """

    def __init__(self, address: str, secret: str) -> None:
        """`address` is that of the server, such as `http://127.0.0.1:8501`; `secret` is a token, or what the server
        wrote into its private file.
        """
        split = urlsplit(address if "://" in address else f"http://{address}")
        self._secure, self._host = split.scheme == "https", split.netloc
        self._below = split.path.rstrip("/")
        self.address = f"{split.scheme}://{self._host}{self._below}"
        """Where browsers find the same conversations."""
        self.process = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._headers = {
            "authorization": f"Bearer {secret}",
            "content-type": "application/json",
            PROCESS: self.process,
        }
        self._idle: list[http.client.HTTPConnection] = []
        self._closed = threading.Event()
        self._herald = Herald()
        self._lock = threading.Lock()
        self._follows = threading.Lock()
        self._teller: threading.Thread | None = None
        self._told_by: socket.socket | None = None
        """By which the server says what changes."""
        self._messages: dict[ConversationId, tuple[int, dict[MessageId, Message]]] = {}
        self.identity = StoreIdentity()
        self.is_exclusive = False
        self.server = self._host
        """What people call what keeps the conversations."""
        self.documents = cast("DocumentKeeper", _RemoteDocuments(self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in methods():
            raise AttributeError(name)
        return partial(self.call, name)

    def call(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Call a method of the contract. Raises what the method raises, and StoreError if nobody answers."""
        method = methods()[name]
        given = parameters(name).bind(*values, **named).arguments if name not in _FREE else named
        taken = {key: _written(method.takes[key], value) for key, value in given.items()}
        answer = self._ask(name, json.dumps(taken).encode("ascii"))
        if "error" in answer:
            raise read_error(answer["error"])
        returned = answer["value"]
        return returned if method.returns.read is None else method.returns.read(returned)

    def commit(self, commit: Commit) -> Operation:
        return self.commit_all([commit])[0]

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        self._follow_if_written(call for commit in commits for call in commit.generations)
        try:
            return cast("tuple[Operation, ...]", self.call("commit_all", commits))
        finally:
            self._herald.tell(dict.fromkeys(commit.conversation for commit in commits))

    def purge(self, conversation: ConversationId) -> None:
        self.call("purge", conversation)
        self._herald.tell([conversation])

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._follow_if_written((generation,))
        self.call("record", conversation, generation)

    def running(self, *, abandoned: bool = False) -> tuple[tuple[ConversationId, GenerationId], ...]:
        """As the contract says; the server itself ends the replies that nobody writes any more."""
        return () if abandoned else self.call("running")

    def hear(self, heard: Heard) -> Callable[[], None]:
        self._follow()
        return self._herald.hear(heard)

    def _follow_if_written(self, calls: Iterable[Generation]) -> None:
        """Follow the server if this process writes a reply, which the server ends if the process dies."""
        if any(call.status == "running" for call in calls):
            self._follow()

    def _follow(self) -> None:
        """Learn what changes from the server, which knows by that, too, that this process lives."""
        with self._follows:
            if self._teller is None:
                connection, lines = self._changes()
                self._teller = threading.Thread(
                    target=self._pass_on, args=(connection, lines), name="changes", daemon=True
                )
                self._teller.start()

    def _changes(self) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Open the stream of changes. Raises StoreError if the server does not offer it."""
        connection = self._made_connection()
        try:
            connection.request("GET", f"{self._below}{PATH}/{HEAR}", headers=self._headers)
            self._told_by = connection.sock
            answer = connection.getresponse()
            if answer.status == http.client.OK:
                return connection, answer
            why: Exception = OSError(f"it answered {answer.status}")
        except (OSError, http.client.HTTPException) as error:
            why = error
        connection.close()
        raise self._gone(why) from why

    def _pass_on(self, connection: http.client.HTTPConnection, lines: http.client.HTTPResponse) -> None:
        """Tell listeners of each change until the store is closed; after a break, of all conversations."""
        while True:
            # ValueError: nobody answered the last time, so that there is nothing to read.
            with suppress(OSError, http.client.HTTPException, StoreError, ValueError):
                with closing(connection), lines:
                    for line in lines:
                        self._herald.tell(ConversationId(id) for id in line.decode("ascii").split())
                if self._closed.wait(_BREAK):
                    return
                connection, lines = self._changes()
                self._herald.tell(one.id for one in self.call("conversations"))

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        with self._lock:
            mark, found = self._messages.get(conversation, (0, {}))
        new = self.call("operations", conversation, **({"after": mark} if mark else {"limit": 1}))
        mark = new[-1].number if new else mark
        found = {} if any(one.verb == VERB for one in new) else dict(found)
        while piece := self.call("stretch", conversation, after=len(found), most=_PIECE):
            found.update((message.id, message) for message in piece)
            if len(piece) < _PIECE:
                break
        with self._lock:
            self._messages[conversation] = (mark, found)
        return found

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        if not callable(value):
            return cast("str | None", self.call("set_setting", key=key, value=value))
        for _ in range(_TRIES):
            before = cast("str | None", self.call("setting", key))
            after = value(before)
            if self.call("replace_setting", key=key, before=before, after=after):
                return after
            time.sleep(random.uniform(0, _PAUSE))  # noqa: S311 - so that two do not meet again
        raise StoreError(f"“{key}” is changed by others all the time.", "Try again.")

    def status(self, patience: float = 0.0) -> StoreStatus:
        """How the server is doing, as far as it answers at all."""
        try:
            self.call("setting", "")
        except StoreError:
            return StoreStatus(writes=False, answered=False)
        return StoreStatus(writes=True, answered=patience > 0)

    def is_alive(self, process: str) -> bool:
        return process == self.process or bool(self.call("is_alive", process))

    def close(self) -> None:
        with self._lock:
            self._closed.set()
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if self._teller is not None and self._told_by is not None:
            with suppress(OSError):
                self._told_by.shutdown(socket.SHUT_RDWR)
            self._teller.join(_BREAK)

    def _ask(self, name: str, body: bytes) -> dict[str, Any]:
        try:
            status, content = self._sent(name, body)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            # One that was idle for so long that the server has closed it.
            if not _is_harmless(name):
                raise self._gone(error) from error
            status, content = self._sent_again(name, body)
        try:
            read = json.loads(content)
        except ValueError:
            read = {}
        if status == http.client.OK and isinstance(read, dict):
            return read
        sentence = read.get("error", {}).get("message", "") if isinstance(read, dict) else ""
        raise StoreError(f"Forky at {self._host} refused the call: {sentence or f'it answered {status}.'}")

    def _sent_again(self, name: str, body: bytes) -> tuple[int, bytes]:
        try:
            return self._sent(name, body)
        except (OSError, http.client.HTTPException) as error:
            raise self._gone(error) from error

    def _sent(self, name: str, body: bytes) -> tuple[int, bytes]:
        """Send a request and read its answer. Raises the errors of a connection that has been closed."""
        connection = self._connection()
        try:
            connection.request("POST", f"{self._below}{PATH}/{name}", body, self._headers)
            answer = connection.getresponse()
            content = answer.read()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            connection.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._gone(error) from error
        self._give_back(connection)
        return answer.status, content

    def _connection(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._closed.is_set():
                raise StoreError("The connection to the running Forky is closed.")
            if self._idle:
                return self._idle.pop()
        return self._made_connection()

    def _made_connection(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        return kind(self._host, timeout=_PATIENCE)

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed.is_set():
                self._idle.append(connection)
                return
        connection.close()

    def _gone(self, error: Exception) -> StoreError:
        why = getattr(error, "strerror", None) or "the connection broke off"
        return StoreError(
            f"Forky at {self._host} does not answer: {why}.",
            "If it was stopped in between, try again: what it had stored is kept.",
        )


_FREE = frozenset({"set_setting", "replace_setting"})
"""Methods whose values are not those of the contract."""


def _is_harmless(name: str) -> bool:
    """Whether asking twice does what asking once does."""
    return not name.startswith(("commit", "documents.take_in", "erase", "purge", "replace_setting"))


def _written(how: Codec, value: Any) -> Any:
    return value if how.write is None else how.write(value)


class _RemoteDocuments:
    """The documents of a running Forky."""

    def __init__(self, store: RemoteStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if DOCUMENTS + name not in methods():
            raise AttributeError(name)
        return partial(self._store.call, DOCUMENTS + name)

    def vectors(self, *values: Any, **named: Any) -> Iterator[Any]:
        return iter(self._store.call(f"{DOCUMENTS}vectors", *values, **named))


def remote_store(address: str, secret: str) -> Store:
    """The store of the Forky at an address, for whoever has a token of it."""
    return cast("Store", RemoteStore(address, secret))
