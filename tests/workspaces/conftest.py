"""Fixtures for the tests of several workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from tests.store.postgresql.conftest import server, url  # noqa: F401 - fixtures of these tests, too
from tests.workspaces.building import Building, building


class Build(Protocol):
    def __call__(self, *, most: int = 20, just_now: float = 0.0) -> AbstractContextManager[Building]: ...


@pytest.fixture(params=["files", "postgresql"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    """Makes a server with several workspaces, kept in either way."""
    if request.param == "files":
        yield partial(building, tmp_path)
        return
    yield partial(building, tmp_path, url=request.getfixturevalue("url"))


@pytest.fixture
def here(build: Build) -> Iterator[Building]:
    with build() as made:
        yield made


@pytest.fixture
def in_files(tmp_path: Path) -> Iterator[Building]:
    """One whose workspaces are files."""
    with building(tmp_path) as made:
        yield made
