"""Which attachments and documents a person may see: those they uploaded, and those of conversations they can see.

Both kinds are named by the sha256 of their bytes, and a hash must open nothing by itself. So it is recorded who gave
which file and which conversation names it. For conversations from before there was a team that is worked out when it is
first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from forky_core.model import ConversationId
from forky_core.people.database import TeamDatabase

FilesOf = Callable[[ConversationId], Iterable[str]]
"""The sha256 of every file that a conversation names."""


class SharedFiles:
    """The files of one workspace, by the sha256 of their bytes."""

    def __init__(self, database: TeamDatabase, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    def give(self, member: str, files: Iterable[str]) -> None:
        """Record that a person uploaded these files."""
        self._add(
            "INSERT INTO given_files VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(self._workspace, file, member) for file in files],
        )

    def name(self, conversation: ConversationId, files: Iterable[str]) -> None:
        """Record that a conversation names these files."""
        self._add(
            "INSERT INTO named_files VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(self._workspace, file, conversation) for file in files],
        )

    def gave(self, member: str, file: str) -> bool:
        """Whether a person uploaded this file."""
        given = "SELECT 1 FROM given_files WHERE workspace = ? AND file = ? AND person = ?"
        return self._database.row(given, self._workspace, file, member) is not None

    def may_see(self, member: str, file: str, visible: Collection[ConversationId], files_of: FilesOf) -> bool:
        """Whether a person may see a file, given the conversations that they see.

        `files_of` is called for those of them whose files are not recorded yet.
        """
        if self.gave(member, file) or self._is_named(file, visible):
            return True
        unknown = self._database.rows(
            "SELECT conversation FROM conversations WHERE workspace = ? AND files_known = 0", self._workspace
        )
        for conversation in [ConversationId(row["conversation"]) for row in unknown]:
            if conversation in visible:
                files = list(files_of(conversation))
                with self._database.writing(renews=False) as connection:
                    self.name(conversation, files)
                    connection.execute(
                        "UPDATE conversations SET files_known = 1 WHERE workspace = ? AND conversation = ?",
                        (self._workspace, conversation),
                    )
                if file in files:
                    return True
        return False

    def _is_named(self, file: str, visible: Collection[ConversationId]) -> bool:
        rows = self._database.rows(
            "SELECT conversation FROM named_files WHERE workspace = ? AND file = ?", self._workspace, file
        )
        return any(row["conversation"] in visible for row in rows)

    def _add(self, statement: str, rows: list[tuple[str, str, str]]) -> None:
        if rows:
            with self._database.writing(renews=False) as connection:
                connection.executemany(statement, rows)
