from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.model.errors import StoreFull
from tests.builders import ScriptedModels, talk, texts
from tests.store.trouble import a_full_disk


def test_a_backup_made_while_open_holds_everything_and_opens_by_itself(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chat = talk(forky.create("Names"), "a", "b")
        backup = forky.backup()
        talk(chat, "after the backup")
        assert texts(chat)[-1] == "after the backup"
    assert backup.parent == tmp_path
    with Forky.open(backup, models=ScriptedModels()) as copy:
        assert texts(copy.conversation(chat.id)) == ["a", "b"]
        assert copy.verify().clean


def test_two_backups_of_one_moment_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from forky_core.store.duckdb.file import backup  # noqa: PLC0415 - only to fix its clock

    class StoppedClock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> StoppedClock:
            return cls(2026, 3, 3, 12, tzinfo=UTC)

    monkeypatch.setattr(backup, "datetime", StoppedClock)
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        assert forky.backup() != forky.backup()


def test_nobody_loses_a_message_while_a_backup_is_made(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chats = [forky.create(f"chat {number}") for number in range(4)]

        def write(number: int) -> None:
            for turn in range(20):
                chats[number].say(f"{turn}", role="assistant" if turn % 2 else "user")

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        backups = [forky.backup() for _ in range(3)]
        for writer in writers:
            writer.join()
        assert [len(chat.path()) for chat in chats] == [20] * 4
        assert forky.verify().clean
    for backup in backups:
        with Forky.open(backup, models=ScriptedModels()) as copy:
            assert copy.verify().clean


def test_a_backup_that_the_disk_has_no_room_for_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chat = talk(forky.create("Names"), "a")
        assert forky.store.rest()  # type: ignore[attr-defined]
        with (
            a_full_disk((tmp_path / "forky.duckdb").stat().st_size // 2),
            pytest.raises(StoreFull, match=r"forky\.backup-.* cannot be written .* Nothing of it was kept"),
        ):
            forky.backup()
        assert {path.name for path in tmp_path.iterdir()} <= {
            "forky.duckdb",
            "forky.duckdb.wal",
            ".forky.duckdb.tmp",
        }
        assert texts(chat) == ["a"]
        assert forky.backup().exists()
