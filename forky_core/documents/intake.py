"""Reads documents in the background, with progress, cancellation and a result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from forky_core.documents.adding import Added, AddingProgress, RefusedDocument, Tell
from forky_core.documents.shelf import DocumentShelf
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import ForkyError

Work = Callable[[Tell, threading.Event], Added]


class Intake:
    """One run of adding documents. Safe to read from any thread."""

    def __init__(self, work: Work) -> None:
        self.progress: AddingProgress | None = None
        self.added: Added | None = None
        """The outcome; None while it runs, and if it failed as a whole."""
        self.failure = ""
        """A sentence if it failed as a whole."""
        self._stop = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, name="forky-documents", daemon=True)
        self._thread.start()

    @classmethod
    def of(
        cls,
        store: DocumentShelf,
        sources: Sequence[DocumentSource | Path],
        refused: Sequence[RefusedDocument] = (),
    ) -> Intake:
        """Start adding documents; `refused` are files that could not be opened, which the outcome lists as well."""

        def work(tell: Tell, stop: threading.Event) -> Added:
            added = store.add_sources(sources, tell=tell, stop=stop)
            return replace(added, refused=(*refused, *added.refused))

        return cls(work)

    @property
    def busy(self) -> bool:
        return self._thread.is_alive()

    @property
    def share(self) -> float:
        """How much is done, 0 to 1; each document counts the same."""
        told = self.progress
        return (told.number - 1 + told.done) / told.of if told is not None else 0.0

    def stop(self) -> None:
        """Cancel; documents that are complete by then are stored."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; False if `seconds` ran out first."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.added = self._work(self._tell, self._stop)
        except ForkyError as error:
            self.failure = str(error)
        except Exception as error:  # noqa: BLE001 - whoever watches must hear of it
            self.failure = (
                f"The documents could not be read in ({type(error).__name__}). What was whole is kept."
            )

    def _tell(self, progress: AddingProgress) -> None:
        self.progress = progress
