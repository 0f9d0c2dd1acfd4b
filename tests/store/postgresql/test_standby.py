"""A standby takes over while a store and a team are open on the addresses of both servers; neither is opened again."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable

import psycopg
import psycopg_pool.base
import pytest

from forky_core.model import Change, Message, MessageId
from forky_core.model.errors import StoreError
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.store.postgresql import connections, database, writer
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG, eventually
from tests.store.postgresql.server import TEMPLATE, running_server, running_standby
from tests.store.talk import HERE, begin, change, said

SENTENCES = r"cannot be reached|is starting or stopping|can only be read|was cut|is in use|standby"


class Chatter:
    """Writes messages one after the other, and notes which were confirmed, and what was said where one was not."""

    def __init__(self, store: PostgresStore, name: str) -> None:
        self.confirmed: list[MessageId] = []
        self.errors: list[Exception] = []
        self._store = store
        self._name = name
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._stop.set()
        self._thread.join(HANG)

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            message: Message = said(f"{self._name} {number}", None)
            try:
                change(self._store, Change(f"kept/{message.id}", None, True), messages=[message])
            except Exception as error:  # noqa: BLE001 - the test looks at what it is
                self.errors.append(error)
            else:
                self.confirmed.append(message.id)
            self._stop.wait(0.01)


def failure(call: Callable[[], object]) -> StoreError:
    with pytest.raises(StoreError, match=SENTENCES) as found:
        call()
    return found.value


@pytest.mark.long
def test_a_store_and_a_team_go_on_with_the_standby_and_with_all_that_was_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Waits that end in a sentence need not be as long as for people.
    monkeypatch.setattr(writer, "_CUT_FOR", 0.5)
    monkeypatch.setattr(database, "_CUT_FOR", 0.5)
    monkeypatch.setattr(connections, "PATIENCE", 2.0)
    # As if the pool had tried in vain for so long that it does not try again for minutes.
    monkeypatch.setattr(psycopg_pool.base.AttemptWithBackoff, "INITIAL_DELAY", 300.0)
    with running_server() as primary, running_standby(primary) as standby:
        name = primary.database(TEMPLATE).partition("@/")[2].partition("?")[0]
        primary.execute(f"ALTER DATABASE {name} SET synchronous_commit = on")
        url = f"postgresql://postgres@/{name}?host={primary.folder},{standby.folder}&target_session_attrs=read-write"
        with PostgresStore.open(url) as store:
            team = Team(url)
            ada = team.members.add("Ada", Role.OWNER)
            begin(store, said("hello"))
            heard: list[str] = []
            store.hear(heard.append)
            chatters = [Chatter(store, f"c{at}") for at in range(4)]
            try:
                eventually(lambda: all(len(one.confirmed) > 10 for one in chatters))
                team.members.rename(ada.id, "Ada King")
                primary.stop(signal.SIGKILL)
                eventually(lambda: all(one.errors for one in chatters))
                said_by = [
                    failure(lambda: store.view(HERE)),
                    failure(lambda: store.set_setting("key", "value")),
                    failure(team.members.all),
                    failure(lambda: team.members.rename(ada.id, "Nobody")),
                ]
                assert all(one.hint for one in said_by)
                before = [len(one.confirmed) for one in chatters]
                standby.execute("SELECT pg_promote()")
                eventually(
                    lambda: all(
                        len(one.confirmed) > at + 10 for one, at in zip(chatters, before, strict=True)
                    )
                )
            finally:
                for one in chatters:
                    one.end()
            for one in chatters:
                assert all(isinstance(error, StoreError) for error in one.errors)
            store.set_setting("key", "value")
            assert store.setting("key") == "value"
            assert team.members.member(ada.id).name == "Ada King"
            team.members.rename(ada.id, "Ada Lovelace")
            assert team.members.member(ada.id).name == "Ada Lovelace" and team.audit.first_broken() is None
            confirmed = [id for one in chatters for id in one.confirmed]
            assert set(confirmed) <= set(store.messages(HERE))
            keys = Counter(one.key for operation in store.operations(HERE) for one in operation.changes)
            assert {keys[f"kept/{id}"] for id in confirmed} == {1}
            assert store.verify().clean
            heard.clear()
            with PostgresStore.open(url, process="another") as other:
                change(other, Change("title", "A talk", "B"))
                eventually(lambda: HERE in heard)
            team.close()
        with psycopg.connect(standby.url(name), options="-c forky.workspace=main") as connection:
            found = connection.execute("SELECT count(DISTINCT id), count(*) FROM forky.messages").fetchone()
            assert found is not None and found[0] == found[1] >= len(confirmed)
