"""Keys of providers at rest: encrypted with a key outside the database, and readable by nobody but whose they are."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.model.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.master_key import KeyLost, MasterKey
from forky_core.team.spending.provider_keys import WORKSPACE_KEYS
from forky_core.team.team import Team

SECRET = "sk-live-0123456789abcdef"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "forky.people.sqlite"


@pytest.fixture
def team(file: Path) -> Iterator[Team]:
    opened = Team(file)
    yield opened
    opened.close()


@pytest.fixture
def bob(team: Team) -> Member:
    team.members.add("Ada", Role.OWNER)
    return team.members.add("Bob", Role.EDITOR)


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_a_key_is_found_again_and_stands_in_no_file(
    team: Team, bob: Member, file: Path, tmp_path: Path
) -> None:
    team.spending.keys.keep(bob.id, "openai", f"  {SECRET}\n", by=bob.id)
    assert team.spending.keys.find(bob.id, "openai") == SECRET
    again = Team(file)
    assert again.spending.keys.find(bob.id, "openai") == SECRET
    again.close()
    copy = tmp_path / "copy.sqlite"
    team.database.back_up(copy)
    assert SECRET.encode() not in everything_in(tmp_path)
    assert SECRET not in repr(team.spending.keys) + repr(team.spending.master_key)
    assert all(SECRET not in entry.about for entry in team.audit.entries())


def test_the_master_key_is_in_a_file_of_its_own_that_nobody_else_reads(
    team: Team, bob: Member, tmp_path: Path
) -> None:
    file = tmp_path / "forky.key"
    assert not file.exists(), "it is made at first use"
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().startswith("# Forky encrypts")


def test_a_file_that_is_named_is_used_instead(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere" / "master.key"
    team = Team(file, key_file=place)
    bob = team.members.add("Bob", Role.OWNER)
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    assert place.exists() and not file.with_name("forky.key").exists()
    team.close()


def test_two_processes_make_one_master_key(tmp_path: Path) -> None:
    file, sealed = tmp_path / "master.key", []
    begin = threading.Barrier(8)

    def seal() -> None:
        begin.wait()
        sealed.append(MasterKey(file).seal(SECRET, "here"))

    threads = [threading.Thread(target=seal) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [MasterKey(file).open(one, "here") for one in sealed] == [SECRET] * 8
    assert [path.name for path in tmp_path.iterdir()] == ["master.key"]


def test_the_same_key_is_never_encrypted_the_same_way_twice(tmp_path: Path) -> None:
    master = MasterKey(tmp_path / "master.key")
    assert len({master.seal(SECRET, "here") for _ in range(20)}) == 20


def test_a_lost_master_key_is_a_sentence(team: Team, bob: Member, file: Path, tmp_path: Path) -> None:
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    key = tmp_path / "forky.key"
    kept = key.read_bytes()
    key.unlink()
    again = Team(file)
    with pytest.raises(KeyLost, match=r"forky.key is missing.*Put the file back, or enter the key again"):
        again.spending.keys.find(bob.id, "openai")
    assert "is missing" in again.spending.keys.stored(bob.id)[0].trouble
    again.spending.keys.keep(bob.id, "groq", SECRET, by=bob.id)
    with pytest.raises(KeyLost, match="is not the one with which a key was stored"):
        again.spending.keys.find(bob.id, "openai")
    assert again.spending.keys.find(bob.id, "groq") == SECRET
    key.write_bytes(kept)
    assert again.spending.keys.find(bob.id, "openai") == SECRET
    again.close()


@pytest.mark.parametrize("content", [b"", b"not base64 at all!\n", b"c2hvcnQ=\n", b"\xff\xfe"])
def test_a_damaged_master_key_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "master.key"
    sealed = MasterKey(tmp_path / "other.key").seal(SECRET, "here")
    file.write_bytes(content)
    for use in (lambda: MasterKey(file).open(sealed, "here"), lambda: MasterKey(file).seal(SECRET, "here")):
        with pytest.raises(StoreError, match="key file"):
            use()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(0o500)
    with pytest.raises(StoreError, match="cannot be written"):
        MasterKey(folder / "master.key").seal(SECRET, "here")


def test_a_row_that_was_copied_to_somebody_else_opens_nothing(team: Team, bob: Member, file: Path) -> None:
    eve = team.members.add("Eve", Role.EDITOR)
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    with sqlite3.connect(file) as thief:
        thief.execute(
            "INSERT INTO provider_keys SELECT workspace, ?, provider, sealed, added FROM provider_keys",
            (eve.id,),
        )
    thief.close()
    again = Team(file)
    with pytest.raises(KeyLost, match="was changed") as refused:
        again.spending.keys.find(eve.id, "openai")
    assert SECRET not in str(refused.value)
    again.close()


def test_rotation_encrypts_every_key_anew_while_a_server_runs(
    team: Team, bob: Member, file: Path, tmp_path: Path
) -> None:
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    team.spending.keys.keep(WORKSPACE_KEYS, "openai", "sk-workspace", by=bob.id)
    former, rows = (
        (tmp_path / "forky.key").read_text(),
        "SELECT sealed FROM provider_keys ORDER BY person",
    )
    sealed = [row[0] for row in team.database.rows(rows)]
    other = Team(file)
    assert other.spending.keys.rotate(by="") == (2, 0)
    other.close()
    now = (tmp_path / "forky.key").read_text()
    assert now != former and len(now.splitlines()) == 2
    assert not set(sealed) & {row[0] for row in team.database.rows(rows)}
    assert team.spending.keys.find(bob.id, "openai") == SECRET
    assert Team(file).spending.keys.find(WORKSPACE_KEYS, "openai") == "sk-workspace"
    assert team.audit.page(1, 1)[0].event == "keys encrypted anew"


def test_a_rotation_that_was_broken_off_loses_nothing(team: Team, bob: Member, file: Path) -> None:
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    team.spending.master_key.begin_rotation()
    again = Team(file)
    assert again.spending.keys.find(bob.id, "openai") == SECRET
    assert again.spending.keys.rotate(by="") == (1, 0)
    assert again.spending.keys.find(bob.id, "openai") == SECRET
    again.close()


def test_rotation_keeps_what_it_could_not_open(team: Team, bob: Member, tmp_path: Path) -> None:
    with pytest.raises(NothingToDo):
        team.spending.keys.rotate(by="")
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    (tmp_path / "forky.key").unlink()
    team.spending.keys.keep(bob.id, "groq", SECRET, by=bob.id)
    assert team.spending.keys.rotate(by="") == (1, 1)
    assert team.spending.keys.find(bob.id, "groq") == SECRET


def test_what_cannot_be_a_key_is_refused_without_repeating_it(team: Team, bob: Member) -> None:
    for text in ("two words", "sk-ключ", "x" * 9_000, "  "):
        with pytest.raises(BadContent) as refused:
            team.spending.keys.keep(bob.id, "openai", text, by=bob.id)
        assert text.strip() == "" or text not in str(refused.value)


def test_keys_go_with_the_membership(team: Team, bob: Member) -> None:
    team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    team.members.remove(bob.id, by="")
    assert team.spending.keys.find(bob.id, "openai") is None
    with pytest.raises(NotFound):
        team.spending.keys.keep(bob.id, "openai", SECRET, by=bob.id)
    with pytest.raises(NotFound):
        team.spending.keys.remove(bob.id, "openai", by=bob.id)
