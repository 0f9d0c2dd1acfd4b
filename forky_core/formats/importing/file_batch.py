"""Files that are dropped together. Each has its own preview and account; they are imported and stopped together.

They are processed one after the other, so that ten of them need no more memory than one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Event, Thread
from typing import BinaryIO, Literal

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.file_import import FileImport
from forky_core.formats.importing.landing import PreviewLine
from forky_core.formats.importing.running_import import NOTHING_KEPT, STOPPED
from forky_core.formats.importing.undo_import import forget_imports
from forky_core.model.errors import ForkyError

Stage = Literal["looking", "looked", "landing", "ended"]


class FileBatch:
    """Files that are imported together. Its fields may be read from any thread while it works."""

    def __init__(self, forky: Workspace, uploads: Iterable[tuple[str, BinaryIO]]) -> None:
        """Copy the dropped files, which are pairs of name and content, and start previewing the first.

        Raises:
            OSError: there is no room for one of them; no copy stays.
        """
        self.files: list[FileImport] = []
        self._forky = forky
        self._begun = 0.0
        self._stop = Event()
        self._landing: Thread | None = None
        try:
            for name, content in uploads:
                before = self.files[-1] if self.files else None
                self.files.append(FileImport(forky, name, content, after=before))
        except OSError:
            self.close()
            raise

    @property
    def stage(self) -> Stage:
        if self._landing is not None:
            return "landing" if self._landing.is_alive() else "ended"
        if any(file.stage == "looking" for file in self.files):
            return "looking"
        return "looked" if any(file.stage == "looked" for file in self.files) else "ended"

    @property
    def busy(self) -> bool:
        return self.stage in ("looking", "landing")

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def takable(self) -> list[PreviewLine]:
        return [line for file in self.files for line in file.takable]

    @property
    def ticked(self) -> list[PreviewLine]:
        return [line for file in self.files for line in file.ticked]

    @property
    def done(self) -> int:
        """The number of chosen conversations that have been processed."""
        return sum(file.progress.done for file in self.files if file.progress is not None)

    @property
    def messages(self) -> int:
        """The number of messages that have been imported so far."""
        return sum(file.progress.account.imported for file in self.files if file.progress is not None)

    @property
    def share(self) -> float:
        """The share of the chosen conversations that have been imported, from 0 to 1."""
        return min(1.0, self.done / max(1, len(self.ticked)))

    @property
    def seconds_left(self) -> float | None:
        """The estimated time that is left; None before it can be estimated."""
        if self.stage != "landing" or not self.share:
            return None
        return (time.monotonic() - self._begun) * (1 - self.share) / self.share

    def tick(self, *, all: bool) -> None:
        for file in self.files:
            file.tick(all=all)

    def land(self) -> None:
        """Import the chosen conversations of every file, in the background."""
        self._begun = time.monotonic()
        self._landing = Thread(target=self._land, name="import-drop", daemon=True)
        self._landing.start()

    def stop(self) -> None:
        """Stop, and remove everything that has been imported."""
        self._stop.set()
        for file in self.files:
            file.stop()

    def close(self) -> None:
        """Stop running work and remove the copies."""
        self.stop()
        for file in self.files:
            file.close()

    def wait(self) -> None:
        """Wait until running work has ended."""
        if self._landing is not None:
            self._landing.join()
            return
        for file in self.files:
            file.wait()

    def _land(self) -> None:
        for file in self.files:
            if file.stage == "looked" and file.ticked and not self.stopped:
                file.land()
                file.wait()
        if self.stopped:
            self._remove_imported()

    def _remove_imported(self) -> None:
        """Remove what the files before the current one have imported; the current one removes its own part."""
        landed = [file for file in self.files if file.done is not None]
        try:
            stays = forget_imports(self._forky, [file.done.number for file in landed if file.done])
        except ForkyError as error:
            stays = str(error)
        for file in landed:
            file.done, file.stage = None, "stopped"
            file.problem = f"{STOPPED} {stays}" if stays else NOTHING_KEPT
