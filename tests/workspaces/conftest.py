"""Fixtures for the tests of several workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from tests.store.postgresql.server import TEMPLATE, Server, running_server
from tests.workspaces.building import Building, building


class Build(Protocol):
    def __call__(self, *, most: int = 20, just_now: float = 0.0) -> AbstractContextManager[Building]: ...


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.fixture(params=["files", "postgresql"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    """Makes a server with several workspaces, kept in either way."""
    if request.param == "files":
        yield partial(building, tmp_path)
        return
    server: Server = request.getfixturevalue("server")
    url = server.database(TEMPLATE)
    yield partial(building, tmp_path, url=url)
    server.drop(url)


@pytest.fixture
def here(build: Build) -> Iterator[Building]:
    with build() as made:
        yield made


@pytest.fixture
def in_files(tmp_path: Path) -> Iterator[Building]:
    """One whose workspaces are files."""
    with building(tmp_path) as made:
        yield made
