"""How many files somebody has given today, and how many bytes of theirs are kept; each is refused above its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from forky_core.team.database import TeamDatabase
from forky_core.team.spending.days import day_of, seconds_left
from forky_core.team.spending.limits import LimitBook, bytes_text
from forky_core.team.spending.refusals import SpendingRefused


class Uploads:
    """The attachments and documents that the people of one workspace gave, by the sha256 of their bytes."""

    def __init__(
        self, database: TeamDatabase, limits: LimitBook, workspace: str, clock: Callable[[], int]
    ) -> None:
        self._database = database
        self._limits = limits
        self._workspace = workspace
        self._clock = clock

    def admit(self, person: str, files: Mapping[str, int]) -> None:
        """Record files with their sizes in bytes as given by a person; one that they gave before counts once.

        Raises:
            SpendingRefused: it is more than they may give today, or have kept. Nothing is recorded then.
        """
        with self._database.writing(renews=False) as connection:
            known = {file for file in files if self._is_kept(person, file)}
            new = {file: size for file, size in files.items() if file not in known}
            if not new:
                return
            self._require_room(person, new)
            connection.executemany(
                "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (workspace, person, file) "
                "DO UPDATE SET bytes = excluded.bytes, day = excluded.day, kept = 1",
                [(self._workspace, person, file, size, day_of(self._clock())) for file, size in new.items()],
            )

    def drop(self, files: Iterable[str]) -> None:
        """Record that files are no longer kept; they still count as given on their day."""
        gone = [(self._workspace, file) for file in files]
        if gone:
            with self._database.writing(renews=False) as connection:
                connection.executemany("UPDATE uploads SET kept = 0 WHERE workspace = ? AND file = ?", gone)

    def given_today(self, person: str) -> int:
        """The number of files that a person gave today."""
        row = self._database.row(
            "SELECT count(*) AS number FROM uploads WHERE workspace = ? AND person = ? AND day = ?",
            self._workspace,
            person,
            day_of(self._clock()),
        )
        return int(row["number"]) if row else 0

    def stored(self, person: str) -> int:
        """The bytes of all files of a person that are kept."""
        row = self._database.row(
            "SELECT coalesce(sum(bytes), 0) AS bytes FROM uploads WHERE workspace = ? AND person = ? AND kept = 1",
            self._workspace,
            person,
        )
        return int(row["bytes"]) if row else 0

    def _is_kept(self, person: str, file: str) -> bool:
        kept = "SELECT 1 FROM uploads WHERE workspace = ? AND person = ? AND file = ? AND kept = 1"
        return self._database.row(kept, self._workspace, person, file) is not None

    def _require_room(self, person: str, new: Mapping[str, int]) -> None:
        limits = self._limits.of(person)
        if limits.uploads_a_day is not None and self.given_today(person) + len(new) > limits.uploads_a_day:
            files = "1 file" if limits.uploads_a_day == 1 else f"{limits.uploads_a_day} files"
            raise SpendingRefused(
                "rate_limited",
                f"You may give {files} a day, and this would be one more.",
                "Tomorrow (UTC) there is room again; an owner can change the limit.",
                retry_after=seconds_left(self._clock()),
            )
        if limits.stored_bytes is not None and self.stored(person) + sum(new.values()) > limits.stored_bytes:
            raise SpendingRefused(
                "not_allowed",
                f"Your files may have {bytes_text(limits.stored_bytes)} in all; those that are kept have "
                f"{bytes_text(self.stored(person))}, and this would add {bytes_text(sum(new.values()))}.",
                "Delete some for good, or ask an owner for more room.",
            )
