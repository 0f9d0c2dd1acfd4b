"""One database for all tests of a process, and one of a test's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from forky_core.store.postgresql.store import PostgresStore
from tests.store.postgresql.server import TEMPLATE, Server


@pytest.fixture(scope="session")
def server(postgresql: Server) -> Server:
    return postgresql


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest) -> str:
    """The address of one database for all tests that have a workspace of their own in it.

    TESTED_POSTGRESQL names another one.
    """
    if given := os.environ.get("TESTED_POSTGRESQL"):
        return given
    server: Server = request.getfixturevalue("server")
    return server.database(TEMPLATE)


@pytest.fixture
def workspace() -> str:
    """A workspace of this test's own."""
    return f"w{uuid4().hex}"


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """The address of a database of its own that has Forky's tables."""
    made = server.database(TEMPLATE)
    yield made
    server.drop(made)


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """An empty one in a database of its own."""
    with PostgresStore.open(url) as opened:
        yield opened
