"""`/readyz`, in front of a real database: what it says, and that it says it whatever hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.health import READY, Readiness
from forky_core.model.errors import StoreDamaged, StoreError, StoreTooNew
from forky_core.store.base.writer import Alone
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.duckdb.write.writer import FileWriter
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels
from tests.gateway.served import listening
from tests.hangs import HANG, eventually


@contextmanager
def asking(
    workspace: Callable[[], Workspace], *, local: bool = True, **given: Any
) -> Iterator[Callable[..., httpx.Response]]:
    """What asks it, with a query if one is given."""
    readiness = Readiness(workspace, lambda _scope: local, **given)
    with listening(Starlette(routes=[Route(READY, readiness)])) as url:
        yield lambda query="": httpx.get(f"{url}{READY}{query}", timeout=HANG, trust_env=False)


def failing(answer: httpx.Response) -> dict[str, str]:
    """What each failing check says."""
    body: dict[str, Any] = answer.json()
    assert answer.status_code == (200 if body["ready"] else 503)
    assert answer.headers["cache-control"] == "no-store"
    return {name: check["says"] for name, check in body["checks"].items() if not check["ok"]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DuckDBStore]:
    with DuckDBStore.open(tmp_path / "forky.duckdb") as opened:
        yield opened


@pytest.fixture
def forky(store: DuckDBStore) -> Workspace:
    return Workspace(store, ScriptedModels())


@contextmanager
def a_writer_that_hangs(store: DuckDBStore) -> Iterator[None]:
    """Its thread is at work on something that does not end until the block does."""
    begun, end = Event(), Event()

    def hang(_cursor: object) -> None:
        begun.set()
        end.wait(HANG)

    store._writer.tell(Alone(hang))
    assert begun.wait(HANG)
    try:
        yield
    finally:
        end.set()


def test_a_forky_that_works_is_ready(forky: Workspace) -> None:
    with asking(lambda: forky) as ask:
        answer = ask()
    assert failing(answer) == {}
    assert answer.json()["checks"]["writer"] == {"ok": True, "says": "The writer answers; 0 requests wait."}


def test_a_forky_in_memory_is_ready() -> None:
    forky = Workspace(MemoryStore(), ScriptedModels())
    with asking(lambda: forky) as ask:
        assert failing(ask()) == {}


def test_a_writer_that_is_only_busy_is_ready(store: DuckDBStore, forky: Workspace) -> None:
    with asking(lambda: forky) as ask, a_writer_that_hangs(store):
        answer = ask()
    assert failing(answer) == {}
    assert "has been at work for" in answer.json()["checks"]["writer"]["says"]


def test_a_writer_that_hangs_is_a_finding_and_no_hang(
    store: DuckDBStore, forky: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileWriter, "hangs", 0.0)
    with asking(lambda: forky) as ask:
        with a_writer_that_hangs(store):
            saying = Thread(target=lambda: forky.create("Waits for the writer"), daemon=True)
            saying.start()
            said = [failing(ask())["writer"] for _ in range(3)]
        saying.join(HANG)
        assert all(sentence.startswith("The writer has hung for ") for sentence in said)
        assert failing(ask()) == {}


def test_a_hanging_writer_is_not_asked_again_and_again(store: DuckDBStore, forky: Workspace) -> None:
    with a_writer_that_hangs(store):
        for _ in range(5):
            assert not store.status(0.01).answered
        assert store.status().waiting == 1


def test_a_store_that_is_closed_can_still_be_asked(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "closed.duckdb")
    store.close()
    status = store.status(1.0)
    assert not (status.writes or status.answered) and status.size > 0


def test_a_writer_that_has_ended_is_a_finding(store: DuckDBStore, forky: Workspace) -> None:
    store._writer.close()
    with asking(lambda: forky) as ask:
        assert failing(ask())["writer"].startswith("The writer has ended")


@pytest.mark.parametrize("local", [True, False])
def test_a_database_that_cannot_be_opened_is_named_on_this_machine_only(local: bool) -> None:
    def damaged() -> Workspace:
        raise StoreDamaged("/home/ada/forky.duckdb is damaged.", "Restore a backup.")

    with asking(damaged, local=local) as ask:
        found = failing(ask())
    assert found["writer"] == "The database is not open yet."
    assert ("/home/ada" in found["database"]) is local
    assert found["database"].endswith("." if not local else "backup.")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError("The server does not answer.", "Is it running?"), 200),
        (StoreTooNew("A later version of Forky changed the tables.", "Update Forky."), 503),
    ],
)
def test_a_proxy_turns_from_a_server_where_another_would_do_better(error: StoreError, status: int) -> None:
    def fails() -> Workspace:
        raise error

    with asking(fails) as ask:
        assert ask("?for=proxy").status_code == status
        assert ask().status_code == 503 and ask("?for=proxyx").status_code == 503


def test_a_proxy_turns_from_a_server_whose_writer_hangs(
    store: DuckDBStore, forky: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileWriter, "hangs", 0.0)
    with asking(lambda: forky) as ask, a_writer_that_hangs(store):
        eventually(lambda: ask("?for=proxy").status_code == 503)


def test_a_database_that_hangs_is_opened_by_one_thread_only() -> None:
    calls: list[int] = []
    opened, forky = Event(), Workspace(MemoryStore(), ScriptedModels())

    def slow() -> Workspace:
        calls.append(1)
        opened.wait(HANG)
        return forky

    with asking(slow) as ask:
        for _ in range(3):
            assert failing(ask())["database"] == "No answer within 0.9 s."
        assert len(calls) == 1
        opened.set()
        eventually(lambda: not failing(ask()))


def test_while_a_server_that_is_away_is_waited_for_the_last_reason_is_said() -> None:
    gate, looks = Event(), list[int]()

    def away() -> Workspace:
        looks.append(1)
        if len(looks) > 1:
            gate.wait(HANG)
        raise StoreError("The database cannot be reached.", "Is the server running?")

    with asking(away) as ask:
        for _ in range(3):
            assert "cannot be reached" in failing(ask())["database"]
        gate.set()
    assert len(looks) == 2


def test_a_fault_of_a_check_is_a_finding_without_its_words() -> None:
    def faulty() -> Workspace:
        raise RuntimeError("The secret is 4711.")

    with asking(faulty) as ask:
        assert failing(ask())["database"] == "It failed (RuntimeError); the log has the trace."


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "forky.readiness"]


def test_only_a_change_is_logged(
    store: DuckDBStore, forky: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    with asking(lambda: forky) as ask:
        ask()
        store._writer.close()
        for _ in range(3):
            ask()
    assert logged(caplog) == ["readiness.changed check=writer ready=no"]


@pytest.mark.parametrize("starting", [HANG, 0.0])
def test_a_database_that_is_being_opened_is_logged_only_if_it_takes_long(
    starting: float, forky: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    opened = Event()

    def slow() -> Workspace:
        opened.wait(HANG)
        return forky

    with asking(slow, starting=starting) as ask:
        assert set(failing(ask())) == {"database", "writer"}
        failed = {f"readiness.changed check={check} ready=no" for check in ("database", "writer")}
        assert set(logged(caplog)) == (set() if starting else failed)
        opened.set()
        eventually(lambda: not failing(ask()))
    assert len(logged(caplog)) == (0 if starting else 4)


def test_a_database_that_cannot_be_opened_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    def away() -> Workspace:
        raise StoreError("The database cannot be reached.", "Is the server running?")

    with asking(away) as ask:
        failing(ask())
    assert "readiness.changed check=database ready=no" in logged(caplog)
