"""How what the engines share asks a database: statements by the names that both engines give them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Protocol, TypeVar

from forky_core.store.rows import Row

T = TypeVar("T")
EVERY = 2**31 - 1
"""A limit above any number of rows."""


class EngineSession(Protocol):
    """A connection, for one call or one transaction."""

    @property
    def sql(self) -> ModuleType:
        """The statements of the engine."""
        ...

    def rows(self, statement: str, /, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, as tuples in the order of its columns: for statements of a few columns."""
        ...

    def fetch(self, statement: str, /, **given: Any) -> list[Row]:
        """The rows of a statement, by the names of their columns."""
        ...


class EngineTables(EngineSession, Protocol):
    """A database that is open; safe from any thread. Each call has a connection of its own."""

    def decoding(self) -> AbstractContextManager[None]:
        """Wrap code that makes values of rows, so that an engine can say what rows mean that cannot be decoded."""
        ...

    def at_once(self, work: Callable[[Any], T]) -> T:
        """The result of work that reads by an `EngineSession`, all as of one moment."""
        ...
