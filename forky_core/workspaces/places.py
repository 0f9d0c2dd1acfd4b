"""Where the workspaces of a server beside the first one are kept: each a file in a folder, or all in one database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from forky_core.model import ConversationId
from forky_core.model.errors import NotFound
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.sleeping_store import SleepingFile, SleepingStore
from forky_core.team.team_workspaces import WORKSPACE

if TYPE_CHECKING:
    from forky_core.store.postgresql.store import PostgresStore

Changed = Callable[[Iterable[ConversationId]], None]


class WorkspacePlaces(Protocol):
    """Where they are kept."""

    def store(
        self, workspace: str, *, woke: Callable[[], None], slept: Callable[[], None]
    ) -> SleepingStore[Any]:
        """The store of a workspace, which opens itself at the first call."""
        ...

    def back_up(self, workspace: str) -> Path:
        """Make a complete copy of a workspace that is not open, beside it; NotFound where it is no file."""
        ...

    def hear(self, workspace: str, changed: Changed, missed: Callable[[], None]) -> Callable[[], None]:
        """Hear of what other processes change in a workspace, open here or not; returns what ends it.

        `missed` is called where anything may have changed unheard.
        """
        ...


class WorkspaceFolder:
    """Each is a file in this folder, and belongs to this process while it is open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(
        self, workspace: str, *, woke: Callable[[], None], slept: Callable[[], None]
    ) -> SleepingStore[Any]:
        file = workspace_file(self.folder, workspace)
        return SleepingFile(partial(DuckDBStore.open, file), file, woke=woke, slept=slept)

    def back_up(self, workspace: str) -> Path:
        with DuckDBStore.open(workspace_file(self.folder, workspace)) as store:
            return store.backup()

    def hear(self, _workspace: str, _changed: Changed, _missed: Callable[[], None]) -> Callable[[], None]:
        return lambda: None  # Nobody else can have the file open.


class WorkspacesOnServer:
    """All are in the PostgreSQL database of the first one, which other processes use, too."""

    def __init__(self, first: Callable[[], PostgresStore]) -> None:
        """`first` gives the open store of the first workspace, whose connections serve the others."""
        self._first = first

    def store(
        self, workspace: str, *, woke: Callable[[], None], slept: Callable[[], None]
    ) -> SleepingStore[Any]:
        from forky_core.store.postgresql.sleeping_workspace import SleepingWorkspace  # noqa: PLC0415 - few have a server

        first = self._first()
        return SleepingWorkspace(lambda: first.beside(workspace), first.server, woke=woke, slept=slept)

    def back_up(self, workspace: str) -> Path:
        raise NotFound(
            f"The workspace {workspace} is kept by a server; there is no file to copy.",
            "A server is backed up by its own means: docs/postgresql.md says how.",
        )

    def hear(self, workspace: str, changed: Changed, missed: Callable[[], None]) -> Callable[[], None]:
        return self._first().hear_in(workspace, changed, missed)


def workspace_file(folder: Path, workspace: str) -> Path:
    """Where the file of a workspace is, by its id."""
    if workspace == WORKSPACE or not workspace.isalnum():
        raise ValueError(f"{workspace} has no file in this folder.")
    return folder / f"{workspace}.duckdb"
