from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from forky_core.gateway.access.credentials import Password, PasswordFile
from forky_core.process.settings import password_file
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("forky_core.process.settings.data_folder", lambda: tmp_path / "forky")
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def kept() -> PasswordFile:
    return PasswordFile(password_file())


def test_a_password_is_set_changed_and_taken_away(forky: Run, typed: Callable[[str], None]) -> None:
    for password in ("correct horse", "battery staple"):
        typed(f"{password}\n")
        done = forky("password")
        assert done.code == 0 and password not in done.out
        found = kept().password()
        assert found is not None and found.fits(password)
    assert "taken away" in forky("password --clear").out
    assert kept().password() is None
    assert "No password was set" in forky("password --clear").out


def test_a_short_one_is_refused_and_nothing_changes(forky: Run, typed: Callable[[str], None]) -> None:
    typed("short\n")
    done = forky("password")
    assert done.code == 2 and "8 to" in done.err
    assert kept().password() is None


def test_a_hash_is_printed_and_not_kept(forky: Run, typed: Callable[[str], None]) -> None:
    typed("correct horse\n")
    hash = forky("password --hash").out.strip()
    assert Password(hash).fits("correct horse")
    assert kept().password() is None
