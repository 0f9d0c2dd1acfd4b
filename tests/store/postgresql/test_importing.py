"""Several processes that import files into one database at once: nothing is doubled, and nothing is taken for dead."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from forky_core.forky import Forky
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.forky_file.writing import written as as_lines
from forky_core.formats.importing.import_record import broken_off, imports, keep_import, operations_of
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.parts import Json
from forky_core.store.postgresql import store
from forky_core.store.postgresql.store import PostgresStore
from tests.formats.sources import packed, written
from tests.formats.test_landing import chat
from tests.hangs import HANG, eventually
from tests.programs import CHECKOUT
from tests.store.postgresql.test_other_processes import silence

_SCRIPT = """
import json, sys
from pathlib import Path
from forky_core.forky import Forky
from forky_core.formats.importing import batches
from forky_core.formats.importing.landing import import_file
from forky_core.store.postgresql import store
from forky_core.store.postgresql.store import PostgresStore

batches.MOST_MESSAGES = 4
store._AWAKE = 0  # The server of the tests has just been started.
url, path, process, waits_at = sys.argv[1:]

def on_progress(progress):
    if progress.done == int(waits_at):
        print("waits", flush=True)
        input()

with Forky.over(PostgresStore.open(url, process=process)) as forky:
    done = import_file(forky, Path(path), on_progress=on_progress)
    problems = [one.why for one in done.problems]
    print(json.dumps([done.number, list(done.conversations), done.unchanged, problems, done.account.adds_up]))
"""


class Importing:
    """An import in a process of its own, which waits when it has read some conversations."""

    def __init__(self, url: str, path: Path, process: str, *, waits_at: int = 1) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, url, str(path), process, str(waits_at)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def waits(self) -> None:
        assert self._process.stdout is not None and self._process.stdout.readline() == "waits\n"

    def go_on(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> tuple[int, list[str], int, list[str], bool]:
        out, _ = self._process.communicate(timeout=HANG)
        assert self._process.returncode == 0
        number, conversations, unchanged, problems, adds_up = json.loads(out)
        return number, conversations, unchanged, problems, adds_up

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=HANG)


def race(*racers: Importing) -> list[tuple[int, list[str], int, list[str], bool]]:
    """Let all go on at once when each has read something; returns how each ended."""
    for one in racers:
        one.waits()
    for one in racers:
        one.go_on()
    return [one.end() for one in racers]


@pytest.fixture(autouse=True)
def long_awake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server of the tests has just been started."""
    monkeypatch.setattr(store, "_AWAKE", 0)


@pytest.fixture
def here(url: str) -> Iterator[Forky]:
    with Forky.over(PostgresStore.open(url, process="here")) as opened:
        yield opened


def chats(*names: str) -> list[Json]:
    return [chat(name, f"{name} asks", f"{name} answers", title=name) for name in names]


def named(name: str, many: int) -> tuple[str, ...]:
    return tuple(f"{name} {number}" for number in range(many))


def titles(forky: Forky) -> list[str]:
    return sorted(one.title for one in forky.conversations())


@pytest.mark.long
def test_two_processes_import_two_files_at_once(here: Forky, url: str, tmp_path: Path) -> None:
    first = Importing(url, written(tmp_path, chats(*named("a", 20)), "a.json"), "first")
    second = Importing(url, written(tmp_path, chats(*named("b", 20)), "b.json"), "second")
    done = race(first, second)
    assert sorted(number for number, *_ in done) == [1, 2]
    assert titles(here) == sorted((*named("a", 20), *named("b", 20)))
    assert {one.number: (one.state, len(one.conversations)) for one in imports(here.store)} == {
        1: ("finished", 20),
        2: ("finished", 20),
    }
    for number, conversations, *_ in done:
        assert set(operations_of(here.store, number)) == set(conversations)
    assert here.store.setting("imports/unfinished") is None and here.store.setting("imports/files") is None
    assert here.store.verify().clean


def test_two_processes_import_the_same_file_at_once_and_nothing_is_there_twice(
    here: Forky, url: str, tmp_path: Path
) -> None:
    conversations, members = [], {}
    for name in named("a", 20):
        value = chat(name, f"{name} asks", f"{name} answers", title=name)
        assert isinstance(value, dict)
        picture = f"file-{name.replace(' ', '')}"
        mapping = value["mapping"]
        assert isinstance(mapping, dict)
        asked = mapping[f"{name}-0"]
        assert isinstance(asked, dict) and isinstance(asked["message"], dict)
        asked["message"]["content"] = {
            "content_type": "multimodal_text",
            "parts": [{"asset_pointer": f"file-service://{picture}"}, f"{name} asks"],
        }
        conversations.append(value)
        members[f"{picture}-cat.png"] = b"\x89PNG\r\n\x1a\n" + name.encode()
    path = packed(tmp_path, {"conversations.json": json.dumps(conversations), **members})
    (_, mine, here_before, problems, adds_up), (_, theirs, there_before, others, add_up) = race(
        *(Importing(url, path, process) for process in ("first", "second"))
    )
    assert titles(here) == sorted(named("a", 20)), "each is there once"
    assert (problems, others, adds_up, add_up) == ([], [], True, True)
    assert set(mine).isdisjoint(theirs) and len(mine) + len(theirs) == 20, "each is one import's own"
    assert len(mine) + here_before == len(theirs) + there_before == 20
    brought = {one.number: set(one.conversations) for one in imports(here.store)}
    assert sorted(map(sorted, brought.values())) == sorted(sorted(one) for one in (mine, theirs) if one)
    for summary in here.conversations():
        assert here.store.view(summary.id).version == 1
        for message in here.store.messages(summary.id).values():
            for part in message.parts:
                if sha256 := getattr(part, "sha256", ""):
                    assert here.store.blob(sha256).content.startswith(b"\x89PNG")
    assert here.store.verify().clean
    for number, conversations_of in brought.items():
        assert undo_import(here, number) == len(conversations_of)
    assert titles(here) == []


@pytest.mark.long
def test_two_processes_add_to_the_same_conversation_at_once(here: Forky, url: str, tmp_path: Path) -> None:
    import_file(here, written(tmp_path, [chat("a", "one", "two", title="A")], "old.json"))
    longer = chat("a", "one", "two", "three", "four", title="A")
    racers = [
        Importing(url, written(tmp_path, [longer], f"{process}.json"), process)
        for process in ("first", "second")
    ]
    ends = race(*racers)
    assert sorted(len(conversations) for _, conversations, *_ in ends) == [0, 1]
    assert [problems for *_, problems, _ in ends] == [[], []]
    (only,) = here.conversations()
    assert len(here.store.messages(only.id)) == 4 and here.store.view(only.id).version == 2


@pytest.mark.long
def test_two_processes_import_the_same_forky_file_at_once(here: Forky, url: str, tmp_path: Path) -> None:
    with Forky.open(":memory:") as elsewhere:
        talk = elsewhere.create("Boats")
        for number in range(20):
            talk.say(f"Question {number}")
        path = tmp_path / "boats.forky.jsonl"
        path.write_text("".join(as_lines(chat_of(elsewhere.store, talk.id))), "utf-8")
        log = [one.id for one in elsewhere.store.operations(talk.id)]
    other = written(tmp_path, chats("z"), "z.json")
    both = packed(tmp_path, {"a.json": other.read_bytes(), "boats.jsonl": path.read_bytes()})
    racers = [Importing(url, both, process) for process in ("first", "second")]
    ends = race(*racers)
    assert [problems for *_, problems, _ in ends] == [[], []]
    assert titles(here) == ["Boats", "z"]
    assert [one.id for one in here.store.operations(talk.id)] == log
    assert here.store.verify().clean


def test_an_import_of_another_process_is_running_until_that_is_gone_and_then_taken_over(
    here: Forky, url: str, tmp_path: Path
) -> None:
    path = written(tmp_path, chats(*named("a", 12)))
    dying = Importing(url, path, "dying", waits_at=9)
    dying.waits()
    eventually(lambda: len(here.conversations()) > 0)
    came = len(here.conversations())
    assert 0 < came < 12
    Forky.over(PostgresStore.open(url, process="starting")).close()
    assert [(one.number, one.state) for one in imports(here.store)] == [(1, "running")]
    assert broken_off(here.store) == ()
    with pytest.raises(InTheWay, match="is still running"):
        undo_import(here, 1)
    with pytest.raises(NotFound):
        keep_import(here.store, 1)
    dying.kill()
    silence(url, "dying")
    (record,) = broken_off(here.store)
    came = len(record.conversations)
    assert record.number == 1 and came == len(here.conversations())
    done = import_file(here, path)
    assert (done.number, done.finishes, len(done.conversations)) == (1, came, 12 - came)
    assert titles(here) == sorted(named("a", 12)) and broken_off(here.store) == ()
    assert len(operations_of(here.store, 1)) == 12
    assert undo_import(here, 1) == 12


def test_two_processes_that_take_an_import_over_at_once_finish_it_once(
    here: Forky, url: str, tmp_path: Path
) -> None:
    path = written(tmp_path, chats(*named("a", 12)))
    dying = Importing(url, path, "dying", waits_at=9)
    dying.waits()
    eventually(lambda: len(here.conversations()) > 0)
    dying.kill()
    silence(url, "dying")
    racers = [Importing(url, path, process) for process in ("first", "second")]
    ends = race(*racers)
    assert [problems for *_, problems, _ in ends] == [[], []]
    assert titles(here) == sorted(named("a", 12))
    brought = [operations_of(here.store, one.number) for one in imports(here.store)]
    assert sum(map(len, brought)) == 12 and len({id for one in brought for id in one}) == 12
    assert broken_off(here.store) == () and here.store.verify().clean


def hold_up_between_transactions(process: Importing, url: str) -> None:
    """Stop a process when it holds no lock: within a transaction it would hold up everybody else, too."""

    def is_held() -> bool:
        process.signal(signal.SIGSTOP)
        with psycopg.connect(url) as asking:
            idle = asking.execute(
                "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND state <> 'idle')"
            ).fetchone()
        if idle != (True,):
            process.signal(signal.SIGCONT)
        return idle == (True,)

    eventually(is_held)


def test_a_process_that_was_held_up_while_its_import_was_taken_over_doubles_nothing(
    here: Forky, url: str, tmp_path: Path
) -> None:
    path = written(tmp_path, chats(*named("a", 12)))
    held = Importing(url, path, "held", waits_at=9)
    held.waits()
    eventually(lambda: len(here.conversations()) > 0)
    hold_up_between_transactions(held, url)
    silence(url, "held")
    done = import_file(here, path)
    assert (done.number, len(here.conversations())) == (1, 12)
    held.signal(signal.SIGCONT)
    held.go_on()
    number, _, _, problems, _ = held.end()
    assert (number, problems) == (1, [])
    assert titles(here) == sorted(named("a", 12))
    assert len(operations_of(here.store, 1)) == 12


def test_an_import_that_fails_in_a_process_that_goes_on_can_be_finished_by_another_one(
    here: Forky, url: str, tmp_path: Path
) -> None:
    path = written(tmp_path, chats(*named("a", 12)))
    with Forky.over(PostgresStore.open(url, process="failing")) as failing:

        def fail(progress: object) -> None:
            if len(failing.conversations()) > 0 or getattr(progress, "done", 0) == 12:
                raise OSError(5, "Input/output error")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("forky_core.formats.importing.batches.MOST_MESSAGES", 4)
            with pytest.raises(Exception, match="was broken off"):
                import_file(failing, path, on_progress=fail)
        (record,) = broken_off(here.store)
        assert [one.number for one in broken_off(failing.store)] == [record.number]
        assert import_file(here, path).number == record.number
        assert broken_off(failing.store) == (), "what another process has finished is noticed"
