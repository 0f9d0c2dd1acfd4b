"""An import that a person watches: preview and import run in the background and can be stopped at any time.

The file is copied to a folder of its own until it is closed. A preview writes nothing, and an import that is stopped
leaves nothing behind (landing.py).
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable
from threading import Event, Thread
from typing import BinaryIO, Literal

from forky_core.conversation.workspace import Workspace
from forky_core.formats.files.spools import spool_folder
from forky_core.formats.forky_file.adopting import AdoptResult, fork_file, pull
from forky_core.formats.forky_file.files import load
from forky_core.formats.importing.import_record import ImportRecord, broken_off_of, source_of
from forky_core.formats.importing.landing import (
    OURS,
    Imported,
    ImportProgress,
    PreviewLine,
    import_file,
    preview,
)
from forky_core.model import ConversationId, ConversationSummary
from forky_core.model.errors import ForkyError, NothingToDo

Stage = Literal["looking", "looked", "landing", "landed", "stopped", "failed"]
_PIECE = 1 << 20
_LONGEST_NAME = 150


class FileImport:
    """One file being imported. Its fields may be read from any thread while it works."""

    def __init__(
        self, forky: Workspace, name: str, content: BinaryIO, *, after: FileImport | None = None
    ) -> None:
        """Copy `content` and start previewing it, after the preview of `after`.

        Raises:
            OSError: there is no room for it.
        """
        self.forky = forky
        self.name = name
        self.lines: list[PreviewLine] = []
        """The conversations found so far."""
        self.unticked: set[int] = set()
        """The numbers of the conversations that are not to be imported."""
        self.stage: Stage = "looking"
        self.progress: ImportProgress | None = None
        self.done: Imported | None = None
        self.problem = ""
        """A sentence that says why it failed or was stopped."""
        self._after = after
        self._stop = Event()
        self._folder = spool_folder("import")
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._path = self._folder / _plain_name(name)
        with self._path.open("wb") as file:
            while piece := content.read(_PIECE):
                file.write(piece)
        self.source = source_of(self._path, name=name, lies_there=False)
        self.takes_up = broken_off_of(forky.store, self.source)
        """The interrupted import that this one resumes; None if there is none."""
        self._start(self._look)

    @property
    def busy(self) -> bool:
        return self.stage in ("looking", "landing")

    @property
    def takable(self) -> list[PreviewLine]:
        return [line for line in self.lines if not line.problem]

    @property
    def ticked(self) -> list[PreviewLine]:
        return [line for line in self.takable if line.number not in self.unticked]

    @property
    def is_ours(self) -> bool:
        """Whether it is a Forky chat file, which can be forked."""
        return len(self.lines) == 1 and self.lines[0].label == OURS and not self.lines[0].problem

    @property
    def forks(self) -> tuple[ConversationSummary, ...]:
        """Conversations that were forked from an earlier file of the same conversation, into which it can be pulled."""
        return self.lines[0].forks if self.is_ours and not self.busy else ()

    def tick(self, *, all: bool) -> None:
        self.unticked = set() if all else {line.number for line in self.takable}

    def land(self) -> None:
        """Import the chosen conversations, in the background."""
        self.stage = "landing"
        self._start(self._land)

    def fork(self) -> AdoptResult:
        """Create a fork from a Forky file. Raises BadContent."""
        done = fork_file(self.forky, load(self._path))
        self.close()
        return done

    def pull(self, into: ConversationId) -> AdoptResult:
        """Add what is new in a Forky file to a conversation that was forked from it. Raises BadContent."""
        done = pull(self.forky, into, load(self._path))
        self.close()
        return done

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        """Stop running work and remove the copy."""
        self.stop()
        if not self.busy:
            self._remove()

    def wait(self) -> None:
        """Wait until running work has ended."""
        self._thread.join()

    def _start(self, work: Callable[[], None]) -> None:
        self._thread = Thread(target=self._guard, args=(work,), name="import", daemon=True)
        self._thread.start()

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except NothingToDo as stopped:
            self.problem, self.stage = str(stopped), "stopped"
        except ForkyError as error:
            self.problem, self.stage = str(error), "failed"
        except OSError as error:
            self.problem = f"“{self.name}” cannot be read: {error.strerror}."
            self.stage = "failed"
        if self._stop.is_set() or (not self.busy and self.stage != "looked"):
            self._remove()

    def _look(self) -> None:
        before, self._after = self._after, None
        if before is not None:
            before.wait()
        for line in preview(self.forky, self._path):
            if self._stop.is_set():
                self.stage = "stopped"
                return
            if self.takes_up is not None and not _was_chosen(line, self.takes_up):
                self.unticked.add(line.number)
            self.lines.append(line)
        self.stage = "looked"

    def _land(self) -> None:
        wanted = frozenset(line.number for line in self.ticked)
        self.done = import_file(
            self.forky,
            self._path,
            chosen=wanted,
            source=self.source,
            on_progress=lambda progress: setattr(self, "progress", progress),
            stop=self._stop,
        )
        self.stage = "landed"


def _was_chosen(line: PreviewLine, record: ImportRecord) -> bool:
    return record.chosen is None or line.number in record.chosen


def _plain_name(name: str) -> str:
    """The last part of a name from outside, with only characters that every file system allows."""
    plain = "".join(c for c in name.replace("\\", "/").rpartition("/")[2] if c.isprintable() and c != "\0")
    return plain[-_LONGEST_NAME:].encode()[-200:].decode("utf-8", "ignore").lstrip(".") or "file"
