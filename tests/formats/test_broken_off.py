"""Imports that end in their middle, again and again: what came in is known, and is finished or taken back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.kept_lines import ORIGINS
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.forky_file.writing import written as as_lines
from forky_core.formats.importing import batches
from forky_core.formats.importing.import_record import (
    ImportedFile,
    ImportRecord,
    broken_off,
    import_of,
    imports,
    is_running,
    keep_import,
    operations_of,
    recover_imports,
)
from forky_core.formats.importing.landing import Imported, ImportProgress, import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.errors import ForkyError, ImportBrokenOff, InTheWay, NotFound, NothingToDo, StoreFull
from forky_core.model.parts import Json
from tests.builders import ScriptedModels, talk, workspace
from tests.examples import examples
from tests.formats.mortal_store import Killed, MortalStore, full, killed
from tests.formats.sources import packed, written
from tests.formats.test_landing import chat, pictured

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)


def opened(store: MortalStore) -> Workspace:
    """As a start of the program opens it."""
    recover_imports(store)
    return Workspace(store, ScriptedModels())


def fresh() -> tuple[Workspace, MortalStore]:
    store = MortalStore()
    return opened(store), store


def reopened(store: MortalStore) -> tuple[Workspace, MortalStore]:
    survivor = store.survivor()
    return opened(survivor), survivor


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that little is lost of what was read when an import ends in its middle."""
    monkeypatch.setattr(batches, "MOST_MESSAGES", 2)


def titles(forky: Workspace) -> list[str]:
    return sorted(one.title for one in forky.conversations())


def numbered(*names: str) -> list[Json]:
    return [chat(name, f"{name} asks", f"{name} answers") for name in names]


def with_pictures(folder: Path, name: str, *ids: str) -> Path:
    """An archive of conversations that show a picture each."""
    conversations, members = [], {}
    for id in ids:
        value = chat(id, "look", f"{id} sees")
        pictured(value, f"{id}-0", f"file-{id}", "look")
        conversations.append(value)
        members[f"file-{id}-cat.png"] = PICTURE + id.encode()
    return packed(folder, {"conversations.json": json.dumps(conversations), **members}, name)


def ended_after(forky: Workspace, store: MortalStore, path: Path, writes: int) -> None:
    """An import whose process was killed before its write number `writes` + 1."""
    store.end_after(writes)
    with suppress(Killed):
        import_file(forky, path)


def ended_and_reopened(path: Path, writes: int) -> tuple[Workspace, MortalStore]:
    """What the next start of the program finds after `ended_after`."""
    forky, store = fresh()
    ended_after(forky, store, path, writes)
    return reopened(store)


def test_the_record_names_what_came_in_wherever_the_process_is_killed(tmp_path: Path) -> None:
    path = with_pictures(tmp_path, "export.zip", "a", "b", "c")
    whole, store = fresh()
    import_file(whole, path)
    wanted = titles(whole)
    for writes in count():
        forky, store = fresh()
        before = store.rows
        store.end_after(writes)
        try:
            import_file(forky, path)
        except Killed:
            pass
        else:
            assert writes > 10
            break
        forky, store = reopened(store)
        records = imports(store)
        came = {one.id for one in forky.conversations()}
        assert {id for one in records for id in one.conversations} == came
        assert not any(one.state == "finished" for one in records) or store.rows["marks"] == []
        assert len(records) == bool(came)
        if not came:
            assert store.rows == before, "nothing came in, so nothing is left"
            continue
        finishing, store = reopened(store)
        state = import_of(store, records[0].number).state
        done = import_file(finishing, path)
        assert titles(finishing) == wanted and finishing.verify().clean
        assert store.rows["marks"] == [], "a finished import needs none"
        assert (done.number, done.finishes) == ((1, len(came)) if state == "broken off" else (0, 0))
        assert [(one.number, one.state) for one in imports(store)] == [(1, "finished")]
        assert set(imports(store)[0].conversations) == {one.id for one in finishing.conversations()}
        undo_import(finishing, 1)
        for one in finishing.conversations(trashed=True):
            finishing.purge(one.id)
        assert store.rows == before


def test_an_undo_that_is_killed_can_be_repeated(tmp_path: Path) -> None:
    path = written(tmp_path, numbered("a", "b", "c"))
    for writes in count():
        forky, store = fresh()
        before = store.rows
        ended_after(forky, store, path, 5)
        forky, store = reopened(store)
        (record,) = broken_off(store)
        store.end_after(writes)
        try:
            undo_import(forky, record.number)
        except Killed:
            forky, store = reopened(store)
            with suppress(NotFound):
                undo_import(forky, record.number)
        else:
            assert writes > 2
            break
        assert forky.conversations() == () and imports(store) == ()
        for one in forky.conversations(trashed=True):
            forky.purge(one.id)
        assert store.rows == before


def test_a_full_disk_is_told_with_what_came_in_and_what_did_not(tmp_path: Path) -> None:
    path = written(tmp_path, numbered("a", "b", "c", "d"))
    forky, store = fresh()
    store.end_after(5, full)
    with pytest.raises(ImportBrokenOff) as broken:
        import_file(forky, path, chosen=range(1, 5))
    told = str(broken.value)
    assert told.startswith(
        "There is no room left to write the database. The import of “export.json” was broken off: 2 of 4 conversations "
        "came in and stayed; the first that did not is “c asks”. Free some space."
    )
    assert "Importing the same file again brings only what is missing" in told
    assert "`forky import --undo 1`" in told
    assert titles(forky) == ["a asks", "b asks"]
    (record,) = broken_off(store)
    assert (record.number, record.state) == (broken.value.number, "broken off")
    store.end_after(None)
    done = import_file(forky, path)
    assert (done.number, done.finishes, len(done.conversations), done.unchanged) == (1, 2, 2, 2)
    assert titles(forky) == [f"{name} asks" for name in "abcd"]
    assert import_of(store, 1).state == "finished"


def test_a_disk_that_is_full_from_the_beginning_leaves_no_record(tmp_path: Path) -> None:
    forky, store = fresh()
    for writes in range(4):
        store.end_after(writes, full)
        with pytest.raises(StoreFull, match="nothing was saved"):
            import_file(forky, written(tmp_path, numbered("a", "b")))
        assert imports(store) == broken_off(store) == ()
        assert forky.conversations() == ()
    store.end_after(None)
    forky, store = reopened(store)
    assert store.rows["settings"] == {}


def test_a_disk_that_fills_up_at_the_very_end_loses_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, numbered("a", "b"))
    forky, store = fresh()
    store.end_after(5, full)
    with pytest.raises(ImportBrokenOff, match="2 conversations came in and stayed; nothing is missing"):
        import_file(forky, path)
    store.end_after(None)
    done = import_file(forky, path)
    assert (done.number, done.conversations, done.unchanged) == (1, (), 2)
    assert [(one.state, one.messages) for one in imports(store)] == [("finished", 4)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_exception_in_the_middle_leaves_the_record(tmp_path: Path, error: type[BaseException]) -> None:
    forky, store = fresh()

    def fail(now: ImportProgress) -> None:
        if now.done == 3:
            raise error

    with pytest.raises(error):
        import_file(forky, written(tmp_path, numbered("a", "b", "c", "d")), on_progress=fail)
    (record,) = broken_off(store)
    assert set(record.conversations) == {one.id for one in forky.conversations()} != set()
    assert record.how_far == "3 conversations came in"
    assert undo_import(forky, record.number) == 3
    assert forky.conversations() == () and imports(store) == ()


def test_an_import_that_is_running_is_not_broken_off_and_not_taken_back(tmp_path: Path) -> None:
    forky, store = fresh()
    path = written(tmp_path, numbered("a", "b", "c", "d"))
    seen: list[ImportRecord] = []

    def look(now: ImportProgress) -> None:
        if now.done == 3:
            seen.extend(imports(store))
            assert is_running(store, 1) and broken_off(store) == ()
            with pytest.raises(InTheWay, match="still running"):
                undo_import(forky, 1)
            other = import_file(forky, path, chosen={4})
            assert (other.number, other.finishes) == (2, 0), "it does not join one that is running"
            with pytest.raises(NotFound):
                keep_import(store, 1)

    import_file(forky, path, on_progress=look, chosen={1, 2, 3})
    assert [(one.number, one.state) for one in seen] == [(1, "running")]
    assert [(one.number, one.state) for one in imports(store)] == [(2, "finished"), (1, "finished")]


def test_another_file_is_an_import_of_its_own(tmp_path: Path) -> None:
    forky, store = ended_and_reopened(written(tmp_path, numbered("a", "b", "c")), 6)
    done = import_file(forky, written(tmp_path, numbered("a", "b", "c", "d")))
    assert (done.number, done.finishes) == (2, 0)
    assert len(done.conversations) + done.unchanged == 4
    assert [one.number for one in broken_off(store)] == [1]
    assert undo_import(forky, 2) == len(done.conversations)
    assert undo_import(forky, 1) == done.unchanged
    assert forky.conversations() == () and imports(store) == ()


def test_what_was_broken_off_can_be_kept_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, numbered("a", "b", "c"))
    forky, store = ended_and_reopened(path, 5)
    came = broken_off(store)[0].conversations
    keep_import(store, 1)
    assert broken_off(store) == ()
    (record,) = imports(store)
    assert (record.state, record.conversations) == ("finished", came)
    assert import_file(forky, path).number == 2, "a file of a kept import is a new import"
    assert undo_import(forky, 1) == len(came)


def test_a_finishing_import_that_is_stopped_leaves_what_had_come_in_before(tmp_path: Path) -> None:
    path = written(tmp_path, numbered("a", "b", "c", "d"))
    forky, store = ended_and_reopened(path, 5)
    before, stop = titles(forky), Event()

    with pytest.raises(NothingToDo, match="had come in before"):
        import_file(
            forky, written(tmp_path, numbered("a", "b", "c", "d")), on_progress=stop_at(3, stop), stop=stop
        )
    assert titles(forky) == before
    assert [one.number for one in broken_off(store)] == [1]
    assert import_file(forky, path).finishes == len(before)


def stop_at(done: int, stop: Event) -> Callable[[ImportProgress], None]:
    def watch(now: ImportProgress) -> None:
        if now.done == done:
            stop.set()

    return watch


def test_a_finishing_import_that_was_stopped_is_no_obstacle_to_an_undo(tmp_path: Path) -> None:
    forky, store = fresh()
    (id,) = import_file(forky, written(tmp_path, numbered("a"))).conversations
    before = store.view(id).entries
    longest = [*numbered("d"), chat("a", "a asks", "a answers", "more", "and more"), *numbered("e", "f")]
    path = written(tmp_path, longest, "longest.json")
    ended_after(forky, store, path, 4)
    forky, store = reopened(store)
    longer = written(tmp_path, [chat("a", "a asks", "a answers", "more")], "longer.json")
    between, stop = import_file(forky, longer), Event()
    with pytest.raises(NothingToDo):
        import_file(forky, path, on_progress=stop_at(3, stop), stop=stop)
    assert undo_import(forky, between.number) == 1
    assert undo_import(forky, broken_off(store)[0].number) == 1
    assert store.view(id).entries == before and titles(forky) == ["a asks"]


def test_what_was_undone_comes_again_with_its_file(tmp_path: Path) -> None:
    forky, store = fresh()
    first = import_file(forky, written(tmp_path, numbered("a")))
    before = {id: store.view(id).entries for id in first.conversations}
    path = written(
        tmp_path, [chat("a", "a asks", "a answers", "more", "and more"), *numbered("b")], "new.json"
    )
    for _ in range(3):
        done = import_file(forky, path)
        assert titles(forky) == ["a asks", "b asks"]
        assert [len(forky.conversation(id).path()) for id in done.conversations] == [4, 2]
        assert undo_import(forky, done.number) == 2
        assert titles(forky) == ["a asks"]
        assert {id: store.view(id).entries for id in first.conversations} == before
        assert len(forky.conversations(trashed=True)) == 1, "the same one each time"


def test_what_a_person_undid_of_an_import_is_finished_and_taken_back(tmp_path: Path) -> None:
    forky, store = fresh()
    (id,) = import_file(forky, written(tmp_path, numbered("a"))).conversations
    before = store.view(id).entries
    path = written(tmp_path, [chat("a", "a asks", "a answers", "more"), *numbered("b", "c")], "new.json")
    ended_after(forky, store, path, 5)
    forky, store = reopened(store)
    grown = forky.conversation(id)
    assert len(grown.path()) == 3 and broken_off(store)[0].number == 2
    grown.undo()
    assert import_file(forky, path).finishes == 2
    assert len(grown.path()) == 3, "a finished import brings what is missing, this too"
    assert undo_import(forky, 2) == 3
    assert store.view(id).entries == before and titles(forky) == ["a asks"]


def test_a_conversation_that_is_in_the_file_twice_is_finished(tmp_path: Path) -> None:
    path = written(tmp_path, [*numbered("a"), chat("a", "a asks", "a answers", "more"), *numbered("b")])
    forky, _ = ended_and_reopened(path, 4)
    assert [one.messages for one in forky.conversations()] == [2]
    assert import_file(forky, path).finishes == 1
    assert sorted(one.messages for one in forky.conversations()) == [2, 3]


def test_what_was_thrown_away_by_hand_stays_away(tmp_path: Path) -> None:
    forky, _ = fresh()
    path = written(tmp_path, numbered("a", "b"))
    done = import_file(forky, path)
    forky.conversation(done.conversations[0]).trash()
    again = import_file(forky, path)
    assert (again.number, again.unchanged, titles(forky)) == (0, 2, ["b asks"])


def test_a_followed_file_does_not_bring_back_what_was_undone(tmp_path: Path) -> None:
    forky, _ = fresh()
    path = written(tmp_path, numbered("a", "b"))
    undo_import(forky, import_file(forky, path, brings_again=False).number)
    assert import_file(forky, path, brings_again=False).unchanged == 2
    assert titles(forky) == []


def test_a_followed_file_that_has_changed_goes_on_with_what_was_broken_off(tmp_path: Path) -> None:
    forky, store = fresh()
    log = tmp_path / "logs.json"

    def follow(*names: str) -> Imported:
        path = written(tmp_path, numbered(*names), "copy.json")
        return import_file(forky, path, source=ImportedFile.followed(log, 1), brings_again=False)

    store.end_after(5)
    with pytest.raises(Killed):
        follow("a", "b", "c")
    forky, store = reopened(store)
    assert broken_off(store)[0].source.follows == str(log)
    done = follow("z", "a", "b", "c", "d")
    assert (done.number, done.finishes, done.unchanged) == (1, 2, 2)
    assert titles(forky) == [f"{name} asks" for name in "abcdz"]


def forky_file(folder: Path, *texts: str) -> Path:
    """A conversation of another workspace with its whole log, one operation for each text, a file and source ids."""
    there, _ = workspace()
    chat = talk(there.create("Theirs"), *texts)
    there.store.keep_derived(chat.id, {ORIGINS: json.dumps({"message": chat.path()[0].id, "id": "there"})})
    chat.say("shows", attachments=[there.attach(PICTURE, name="theirs.png")])
    talk(chat.fork("side", at=chat.path()[0].id), "aside")
    path = folder / "theirs.forky.jsonl"
    path.write_text("".join(as_lines(chat_of(there.store, chat.id))), "utf-8")
    return path


def test_a_forky_file_that_came_by_half_is_finished_or_taken_back(tmp_path: Path) -> None:
    path = forky_file(tmp_path, "one", "two", "three")
    for writes in range(3, 30):
        forky, store = fresh()
        before = store.rows
        store.end_after(writes)
        try:
            import_file(forky, path)
        except Killed:
            forky, store = reopened(store)
        else:
            break
        if not imports(store):
            continue
        if writes % 2:
            undo_import(forky, 1)
            assert forky.conversations() == ()
        done = import_file(forky, path)
        (one,) = forky.conversations()
        chat = forky.conversation(one.id)
        assert [m.text for m in chat.checkout("main").path()] == ["one", "two", "three", "shows"]
        assert ORIGINS in store.derived(one.id, [ORIGINS])
        assert [m.text for m in chat.checkout("side").path()] == ["one", "aside"]
        undo_import(forky, done.number or 1)
        assert forky.conversations() == () and imports(store) == ()
        forky.purge(one.id)
        assert store.rows == before
    assert writes > 6


def test_a_forky_file_that_came_by_half_is_finished_beside_what_was_done_since(tmp_path: Path) -> None:
    path = forky_file(tmp_path, "one", "two", "three")
    forky, store = ended_and_reopened(path, 9)
    (record,) = broken_off(store)
    half = forky.conversation(record.conversations[0])
    assert "side" not in half.branches and len(half.path()) < 4
    half.rename("Mine now")
    assert import_file(forky, path).finishes == 1
    assert half.title == "Mine now" and "side" in half.branches
    undo_import(forky, 1)
    assert forky.conversations() == ()


class ImportsLeaveNothingBehind(RuleBasedStateMachine):
    """Any order of imports, full disks, kills, stops and undos; once all is undone the database is as it was before."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.usual = batches.MOST_MESSAGES
        batches.MOST_MESSAGES = 2

    @initialize()
    def begin(self) -> None:
        folder = Path(self.folder.name)
        self.forky, self.store = fresh()
        mine = self.forky.create("Mine")
        mine.say("Look", attachments=[self.forky.attach(PICTURE + b"p", name="mine.png")])
        import_file(self.forky, written(folder, numbered("a", "kept"), "base.json"))
        grown = chat("a", "a asks", "a answers", "more", "and more")
        longer = chat("a", "a asks", "a answers", "more", "and more", "yet more")
        self.files = [
            written(folder, [grown, *numbered("b", "c")], "new.json"),
            written(folder, [*numbered("d"), longer, *numbered("b", "e")], "newer.json"),
            with_pictures(folder, "pictures.zip", "p", "q", "r"),
            forky_file(folder, "one", "two"),
        ]
        self.mine = [(one.id, one.messages) for one in self.forky.conversations()]
        self.before = self.store.rows
        self.hits = self.forky.search("a")

    def teardown(self) -> None:
        batches.MOST_MESSAGES = self.usual
        self.folder.cleanup()

    @rule(file=st.integers(0, 3), writes=st.one_of(st.none(), st.integers(0, 25)), fills_up=st.booleans())
    def bring(self, file: int, writes: int | None, fills_up: bool) -> None:
        self.store.end_after(writes, full if fills_up else killed)
        try:
            import_file(self.forky, self.files[file])
        except ForkyError:
            self.store.end_after(None)
        except Killed:
            self.forky, self.store = reopened(self.store)
        self.store.end_after(None)

    @rule(
        file=st.integers(0, 3),
        at=st.integers(1, 4),
        writes=st.one_of(st.none(), st.integers(0, 25)),
        fills_up=st.booleans(),
    )
    def stop(self, file: int, at: int, writes: int | None, fills_up: bool) -> None:
        stop = Event()
        self.store.end_after(writes, full if fills_up else killed)
        try:
            import_file(self.forky, self.files[file], on_progress=stop_at(at, stop), stop=stop)
        except ForkyError:
            """It was stopped, or the disk was full while it was taken away."""
        except Killed:
            self.forky, self.store = reopened(self.store)
        self.store.end_after(None)

    @rule(which=st.integers(0, 5), writes=st.one_of(st.none(), st.integers(0, 8)))
    def undo(self, which: int, writes: int | None) -> None:
        records = self.records()
        if not records:
            return
        self.store.end_after(writes)
        try:
            undo_import(self.forky, records[which % len(records)])
        except InTheWay:
            """A later import went on from it: that one has to be undone first."""
        except Killed:
            self.forky, self.store = reopened(self.store)
        self.store.end_after(None)

    @rule(which=st.integers(0, 5))
    def keep(self, which: int) -> None:
        records = broken_off(self.store)
        if records:
            keep_import(self.store, records[which % len(records)].number)

    @rule(which=st.integers(0, 9))
    def undo_the_last_of_a_conversation(self, which: int) -> None:
        listed = self.forky.conversations()
        one = self.forky.conversation(listed[which % len(listed)].id)
        if any(operation.verb == "import" for operation in one.history.next_undo):
            one.undo()

    @rule(which=st.integers(0, 9))
    def throw_away(self, which: int) -> None:
        here = [one.id for one in self.forky.conversations() if one.id not in dict(self.mine)]
        if here:
            self.forky.conversation(here[which % len(here)]).trash()

    @rule()
    def empty_the_trash(self) -> None:
        for one in self.forky.conversations(trashed=True):
            self.forky.purge(one.id)

    @rule()
    def start_again(self) -> None:
        self.forky, self.store = reopened(self.store)

    def records(self) -> list[int]:
        return [one.number for one in imports(self.store) if one.number > 1]

    @invariant()
    def every_conversation_that_can_be_seen_is_of_a_record_or_was_there(self) -> None:
        named = {id for one in imports(self.store) for id in operations_of(self.store, one.number)}
        for one in self.forky.conversations():
            assert one.id in named or one.id in dict(self.mine)

    @invariant()
    def nothing_that_has_ended_counts_as_running(self) -> None:
        assert all(one.state != "running" for one in imports(self.store))

    @invariant()
    def all_is_undone_and_nothing_is_left(self) -> None:
        forky, store = reopened(self.store)
        while records := [one.number for one in imports(store) if one.number > 1]:
            for number in records:
                with suppress(InTheWay):
                    undo_import(forky, number)
            left = [one.number for one in imports(store) if one.number > 1]
            assert len(left) < len(records), "the newest can always be undone"
        assert sorted(id for id, _ in self.mine) == sorted(one.id for one in forky.conversations())
        assert forky.search("a") == self.hits
        for one in forky.conversations(trashed=True):
            forky.purge(one.id)
        assert store.rows == self.before
        assert forky.verify().clean


TestImportsLeaveNothingBehind = ImportsLeaveNothingBehind.TestCase
TestImportsLeaveNothingBehind.settings = settings(max_examples=examples(60), stateful_step_count=12)
