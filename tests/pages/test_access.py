"""What Settings says about who can come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.gateway.access.credentials import PasswordFile, hashed
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from pages.ui.settings.access import described


def test_alone_on_this_computer() -> None:
    said = described(SignIn(Origins()))
    assert said.startswith("Browsers and programs of this computer.") and "FORKY_SIGN_IN=always" in said


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.20", ""])  # noqa: S104
def test_beyond_this_computer_the_way_in_is_named(address: str, tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "password.json")
    sign_in = SignIn(Origins(), password_file=lambda: file.path)
    sign_in.listens_at(address)
    sign_in.sessions.open()
    assert "address that is printed" in described(sign_in) and "1 browser is signed in" in described(sign_in)
    file.save(hashed("correct horse"))
    assert "has the password" in described(sign_in) and "0 browsers are signed in" in described(sign_in)


def test_an_open_door_is_called_one() -> None:
    closed = SignIn(Origins(), "off")
    assert "open to this computer only" in described(closed)
    named = SignIn(Origins.of(["forky.example"]), "off")
    assert "everybody who reaches this port can read and change everything here" in described(named)
