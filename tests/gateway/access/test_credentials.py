from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from forky_core.gateway.access.credentials import (
    Password,
    PasswordFile,
    PrintedSecret,
    hashed,
)
from forky_core.gateway.access.sessions import LIFETIME, MOST, Sessions
from forky_core.model.errors import BadContent, RequestError


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_password_fits_itself_and_nothing_else() -> None:
    password = Password(hashed("correct horse"))
    assert password.fits("correct horse")
    assert not password.fits("correct hors") and not password.fits("") and not password.fits("x" * 100_000)


def test_the_hash_is_argon2id_and_salted() -> None:
    first, second = hashed("correct horse"), hashed("correct horse")
    assert first.startswith("$argon2id$") and first != second and "horse" not in first
    assert Password(first).id != Password(second).id


@pytest.mark.parametrize("password", ["", "short", "x" * 2000])
def test_a_password_too_short_or_too_long_is_not_set(password: str) -> None:
    with pytest.raises(BadContent):
        hashed(password)


def test_what_is_no_hash_is_refused_at_once_and_a_broken_one_lets_nobody_in() -> None:
    with pytest.raises(RequestError, match="no Argon2 hash"):
        Password("correct horse")
    assert not Password("$argon2id$v=19$broken").fits("correct horse")


def test_each_printed_secret_is_its_own() -> None:
    first, second = PrintedSecret(), PrintedSecret()
    assert first.fits(first.text) and not first.fits(second.text) and not first.fits("é")
    assert len(first.text) >= 43


def test_the_file_is_its_owners_alone_and_a_change_counts_at_once(tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "data" / "password.json")
    assert file.password() is None
    before = os.umask(0)
    try:
        file.save(hashed("correct horse"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    first = file.password()
    assert first is not None and first.fits("correct horse")
    PasswordFile(file.path).save(hashed("battery staple"))
    second = file.password()
    assert second is not None and second.fits("battery staple") and second.id != first.id
    assert [one.name for one in file.path.parent.iterdir()] == ["password.json"]
    assert file.clear() and not file.clear() and file.password() is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"password": 3}', '{"password": "plain"}'])
def test_a_file_that_makes_no_sense_is_an_error_and_no_open_door(tmp_path: Path, content: str) -> None:
    file = PasswordFile(tmp_path / "password.json")
    file.path.write_text(content)
    with pytest.raises(RequestError, match="forky_core password"):
        file.password()


def test_a_file_keeps_the_hash_alone(tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "password.json")
    file.save(hashed("correct horse"))
    assert list(json.loads(file.path.read_text())) == ["password"]
    assert "correct" not in file.path.read_text()


def test_a_session_is_found_by_its_token_until_it_ends() -> None:
    clock = Clock()
    sessions = Sessions(clock=clock)
    first, second = sessions.open(), sessions.open()
    found, ended = sessions.find(first), []
    assert found is not None and found is not sessions.find(second)
    found.on_end.add(lambda: ended.append("first"))
    sessions.end(first)
    sessions.end(first)
    assert sessions.find(first) is None and ended == ["first"] and sessions.find(second) is not None
    assert sessions.find("") is None and sessions.find(first[:-1]) is None
    clock.now += LIFETIME
    assert sessions.find(second) is None


def test_sessions_do_not_grow_without_bound() -> None:
    sessions = Sessions(clock=Clock())
    tokens = [sessions.open() for _ in range(MOST + 10)]
    assert len(sessions) == MOST
    assert sessions.find(tokens[0]) is None and sessions.find(tokens[-1]) is not None
    sessions.end_all()
    assert len(sessions) == 0
