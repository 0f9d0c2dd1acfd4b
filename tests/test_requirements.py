"""The hash-locked files say what pyproject.toml says, and nothing about the machine they were compiled on."""

from __future__ import annotations

import re
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

CHECKOUT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
LOCKS = {
    "requirements.txt": PYPROJECT["project"]["dependencies"],
    "tests/requirements-dev.txt": PYPROJECT["dependency-groups"]["dev"],
    "bench/requirements-bench.txt": PYPROJECT["dependency-groups"]["bench"],
    "tests/aimock/requirements-node.txt": PYPROJECT["dependency-groups"]["node"],
    "tests/mutation/requirements-mutate.txt": PYPROJECT["dependency-groups"]["mutate"],
}
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


def text(lock: str) -> str:
    return (CHECKOUT / lock).read_text("utf-8")


def pins(lock: str) -> set[tuple[str, Version]]:
    return {(canonicalize_name(name), Version(version)) for name, version in PIN.findall(text(lock))}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_an_allowed_version_of_every_dependency(lock: str) -> None:
    wanted = [Requirement(line) for line in LOCKS[lock]]
    missing = [
        str(need)
        for need in wanted
        if not any(
            name == canonicalize_name(need.name) and version in need.specifier for name, version in pins(lock)
        )
    ]
    assert missing == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_is_pinned_and_hashed(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", text(lock), flags=re.MULTILINE).strip())
    assert [entry for entry in entries if not PIN.match(entry) or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_registry_and_no_folder(lock: str) -> None:
    assert re.findall(r"\S*(?:://|--index|--find-links|\s/)\S*", text(lock)) == []


@pytest.mark.parametrize(("one", "other"), list(combinations(LOCKS, 2)))
def test_locks_that_are_installed_together_agree(one: str, other: str) -> None:
    """Else each would move what the one before has put there. A lock may pin a package anew for a later Python."""
    shared = {name for name, _ in pins(one)} & {name for name, _ in pins(other)}
    assert {pin for pin in pins(one) ^ pins(other) if pin[0] in shared} == set()


def test_the_stolen_releases_of_litellm_are_shut_out() -> None:
    (need,) = [line for line in PYPROJECT["project"]["dependencies"] if Requirement(line).name == "litellm"]
    stolen = [version for version in ("1.82.7", "1.82.8") if version in Requirement(need).specifier]
    assert stolen == []
