"""What a registry promises, whatever it holds, and what becomes of a package that does not keep to it."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from forky_core.process.plugins import Registry
from tests.packages import installed
from tests.programs import CHECKOUT


@dataclass(frozen=True, slots=True)
class Tea:
    name: str


GREEN, BLACK, MINT = Tea("green"), Tea("black"), Tea("mint")
SECOND_GREEN = Tea("green")
WORD = "no tea"
MODULE = "tests.process.test_plugins"


@pytest.fixture
def teas() -> Registry[Tea]:
    return Registry("forky.teas", Tea, (GREEN, BLACK))


def skipped(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "forky.plugin"]


def test_ours_come_first_then_what_packages_add_then_what_the_program_adds(
    teas: Registry[Tea], tmp_path: Path
) -> None:
    with installed(tmp_path, teas, mint=f"{MODULE}:MINT"), teas.added(Tea("oolong")) as oolong:
        assert tuple(teas) == (GREEN, BLACK, MINT, oolong)
        assert teas.others == (MINT, oolong) and teas.find("mint") is MINT
        assert teas.names == ("green", "black", "mint", "oolong")
    assert tuple(teas) == (GREEN, BLACK) and teas.find("mint") is None


def test_a_name_that_is_taken_stays_with_its_owner(
    teas: Registry[Tea], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="green"):
        teas.add(SECOND_GREEN)
    with installed(tmp_path, teas, other=f"{MODULE}:SECOND_GREEN"):
        assert teas.find("green") is GREEN and teas.others == ()
    assert skipped(caplog) == ['plugin.skipped group=forky.teas name=other reason="its name is taken"']


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("forky_of_nobody:TEA", "it failed to load"),
        (f"{MODULE}:COFFEE", "it failed to load"),
        ("forky_made_up_exit:TEA", "it failed to load"),
        (f"{MODULE}:WORD", "not what the group asks for"),
        (f"{MODULE}:Tea", "not what the group asks for"),
    ],
)
def test_what_cannot_be_used_is_left_out_with_one_line_in_the_log(
    teas: Registry[Tea], target: str, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "forky_made_up_exit.py").write_text("raise SystemExit(1)\n")
    with installed(tmp_path, teas, broken=target, mint=f"{MODULE}:MINT"):
        assert teas.others == (MINT,)
        assert teas.others == (MINT,)
    (line,) = skipped(caplog)
    assert line.startswith(f'plugin.skipped group=forky.teas name=broken reason="{reason}"')
    assert caplog.records[-1].levelno == logging.WARNING


def test_what_a_registry_does_for_a_value_is_undone_with_it(tmp_path: Path) -> None:
    known: list[Tea] = []
    teas = Registry("forky.teas", Tea, (GREEN,), register=known.append, unregister=known.remove)
    with installed(tmp_path, teas, mint=f"{MODULE}:MINT"), teas.added(BLACK):
        assert tuple(teas) == (GREEN, MINT, BLACK)
        assert known == [GREEN, MINT, BLACK]
    assert known == [GREEN]


def test_importing_forky_looks_for_no_package() -> None:
    """Looking takes time, and somebody else's code would run."""
    script = """
import forky_core.process.plugins as plugins
plugins.Registry._load = lambda self: print(self.group) or iter(())
import forky_core.forky, forky_core.cli.parser
forky_core.cli.parser.parser()
print("nothing else")
from forky_core.merge.strategies import strategies
strategies()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert done.stdout.split("\n") == ["nothing else", "forky.strategies", ""]
