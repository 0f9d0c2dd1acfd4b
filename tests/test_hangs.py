"""No test has a time limit of its own: a machine that is busy with something else would break it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hangs import eventually

TESTS = Path(__file__).parent
WAITS = {"wait", "join", "result", "exception", "communicate"}
"""Methods whose first argument, or `timeout`, says how long they wait at most."""
BRIEF = 5.0
"""Seconds. What is shorter is no limit but what the test is about: a client that leaves, a server that is silent."""


def limits(source: str) -> Iterator[int]:
    """The lines that wait for an event with a limit written as a number."""
    if not re.search(r"(?:timeout\s*=|\b(?:wait|join|result|exception|communicate)\()\s*\d", source):
        return
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.Call):
            given = [word.value for word in item.keywords if word.arg in {"timeout", "default_timeout"}]
            if isinstance(item.func, ast.Attribute) and item.func.attr in WAITS:
                given += item.args[:1]
            for value in given:
                seconds = value.value if isinstance(value, ast.Constant) else 0
                if isinstance(seconds, int | float) and seconds >= BRIEF:
                    yield item.lineno


def test_every_wait_of_a_test_has_the_one_limit_that_ends_a_hang() -> None:
    found = [
        f"{path.relative_to(TESTS.parent)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        for line in limits(path.read_text("utf-8"))
    ]
    assert found == [], "take HANG of tests/hangs.py; tests/browser has PATIENCE"


def test_limits_are_found_however_they_are_given() -> None:
    source = "job.wait(30)\nrun(x, timeout=60)\njob.wait(HANG)\njob.wait(0.01)\njob.wait()"
    assert list(limits(source)) == [1, 2]


def test_what_never_comes_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.hangs.HANG", 0.0)
    with pytest.raises(AssertionError, match="did not come to be"):
        eventually(lambda: False)
