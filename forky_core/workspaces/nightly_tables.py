"""The tables for analysis of every workspace of a server, written into a folder once a night.

Questions are then asked of that folder, on whatever machine, and never of the server's own database. A server that did
not run at that time writes them soon after its next start.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path

from forky_core.formats.exporting.analysis_copies import write_folder
from forky_core.model.errors import ForkyError
from forky_core.observability import events
from forky_core.store.contract import Store

MARK = "written.json"
"""The file of the folder that says when it was last written, and of which workspaces."""
_AHEAD = timedelta(minutes=5)
"""A time further ahead than this was noted by a clock that was wrong since."""
SOON = 60.0
"""Seconds after the start until tables that are due are written: first the server has to answer."""


class NightlyTables:
    """Writes the tables every night. Close it."""

    def __init__(
        self,
        folder: Path,
        at: time_of_day,
        workspaces: Callable[[], Mapping[str, Callable[[], Store]]],
        *,
        redact: bool = False,
        soon: float = SOON,
    ) -> None:
        """`workspaces` gives the ids of all there are, each with what opens its store; it may raise ForkyError."""
        self._folder = folder
        self._at = at
        self._workspaces = workspaces
        self._redact = redact
        self._soon = soon
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nightly tables", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, after the workspace that is being written."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        tried: datetime | None = None
        while True:
            now = datetime.now()  # noqa: DTZ005 - the night is that of this machine's clock
            known = (
                one for one in (tried, last_written(self._folder)) if one is not None and one <= now + _AHEAD
            )
            due = next_time(max(known, default=None), now, self._at)
            # A clock that is set, or a machine that sleeps, is noticed within a minute.
            left = (due - now).total_seconds()
            if self._ended.wait(min(left, 60.0) if left > 0 else self._soon):
                return
            if left <= 0:
                tried = datetime.now()  # noqa: DTZ005 - as above
                self._write()

    def _write(self) -> None:
        begun, written, done = time.perf_counter(), 0, []
        try:
            workspaces = self._workspaces()
            for id, store in workspaces.items():
                if self._ended.is_set():
                    return
                try:
                    written += write_folder(store(), id, self._folder, redact=self._redact).written
                    done.append(id)
                except ForkyError as error:
                    events.analysis_failed(fault=error)
            if done:
                _mark(self._folder, done)
                events.analysis_written(
                    workspaces=len(done), written=written, seconds=time.perf_counter() - begun
                )
        except (ForkyError, OSError) as error:
            events.analysis_failed(fault=error)


def next_time(last: datetime | None, now: datetime, at: time_of_day) -> datetime:
    """When to write next: now, if nothing was written since that time of day last came; else when it comes again."""
    today = datetime.combine(now.date(), at)
    came = today if today <= now else today - timedelta(days=1)
    return now if last is None or last < came else came + timedelta(days=1)


def last_written(folder: Path) -> datetime | None:
    """When the folder was last written; None if it never was, or does not say."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads((folder / MARK).read_text("utf-8"))["written"]
        return datetime.fromisoformat(said).astimezone().replace(tzinfo=None)
    return None


def _mark(folder: Path, workspaces: list[str]) -> None:
    mark = folder / f".{MARK}.{os.getpid()}"
    written = datetime.now().astimezone().isoformat(timespec="seconds")
    mark.write_text(json.dumps({"written": written, "workspaces": workspaces}), "utf-8")
    mark.replace(folder / MARK)
