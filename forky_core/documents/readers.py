"""Reads documents safely: in separate processes, a few at a time, within limits.

A document comes from anywhere, and the libraries that read its format were not written for hostile input: a small file
can take a minute and gigabytes, hold Python's lock meanwhile, or crash. In a separate process that costs the document
alone. A process that has read a document without trouble waits some seconds for the next one, since starting it takes
longer than most documents do.

Text, Markdown and code of up to 64 KB in UTF-8 are read in the program itself: their readers take time and memory in
proportion to the text (tests/documents/test_readers.py verifies that), and a program that appends a thousand notes
should not wait for a thousand answers.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Generator
from threading import Event

from forky_core.documents.extraction import extracted
from forky_core.documents.limits import Limits, limits_for, no_reader
from forky_core.documents.reader_process import LOOK_EVERY, Extract, ReaderProcess
from forky_core.documents.registry import kind_of
from forky_core.documents.source import DocumentSource

SMALL = 65_536
"""The most bytes of a text that is read in the program itself."""
_KEPT_SECONDS = 10.0
"""Seconds that a process waits for its next document."""


class Readers:
    """A pool of processes that read documents: at most `most` at a time, started on demand. Safe from any thread."""

    def __init__(
        self,
        most: int | None = None,
        limits: Callable[[int], Limits] = limits_for,
        *,
        kept_seconds: float = _KEPT_SECONDS,
    ) -> None:
        """`most` defaults to the number of the machine's cores, and at least 2. `limits` gives the limits for a file
        size.

        `kept_seconds` is how long a process waits for another document.
        """
        self._most = most or max(2, os.cpu_count() or 2)
        self._limits = limits
        self._kept_seconds = kept_seconds
        self._begin()

    def _begin(self) -> None:
        self._places = threading.Semaphore(self._most)
        self._lock = threading.Lock()
        self._idle: list[ReaderProcess] = []
        self._busy: set[ReaderProcess] = set()
        self._last_read = 0.0
        self._clearing = False

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes, including idle ones."""
        with self._lock:
            return tuple(reader.id for reader in (*self._idle, *self._busy))

    def read(self, source: DocumentSource, stop: Event | None = None) -> Generator[Extract]:
        """The chunks of a document in reading order; they end early if `stop` is set.

        Raises:
            BadContent: the document cannot be read, or not within the limits; the sentence says which.
            OSError: its file cannot be opened.
        """
        if _is_small_text(source):
            kind = kind_of(source)
            return (Extract(kind.name, chunk, done) for chunk, done in extracted(source, kind))
        return self._read(source, stop or Event())

    def close(self) -> None:
        """End every process. A document that is being read ends with an error; the next one starts a process anew."""
        with self._lock:
            idle, self._idle = self._idle, []
            for reader in self._busy:
                reader.kill()
        for reader in idle:
            reader.close()

    def forget(self) -> None:
        """Drop all processes after a fork of the program: they belong to the parent."""
        self._begin()

    def _read(self, source: DocumentSource, stop: Event) -> Generator[Extract]:
        while not self._places.acquire(timeout=LOOK_EVERY):
            if stop.is_set():
                return
        try:
            reader = self._taken(source.name)
            try:
                yield from reader.read(source, self._limits(source.size), stop)
            finally:
                self._put_back(reader)
        finally:
            self._places.release()

    def _taken(self, name: str) -> ReaderProcess:
        with self._lock:
            while self._idle:
                reader = self._idle.pop()
                if reader.alive:
                    self._busy.add(reader)
                    return reader
                reader.close()
        try:
            reader = ReaderProcess()
        except OSError as error:
            raise no_reader(name, error.strerror or str(error)) from error
        with self._lock:
            self._busy.add(reader)
        return reader

    def _put_back(self, reader: ReaderProcess) -> None:
        with self._lock:
            self._busy.discard(reader)
            kept = reader.again and reader.alive
            if kept:
                self._idle.append(reader)
                self._last_read = time.monotonic()
                if not self._clearing:
                    self._clearing = True
                    self._clear_after(self._kept_seconds)
        if not kept:
            reader.close()

    def _clear_after(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._clear)
        timer.daemon = True
        timer.start()

    def _clear(self) -> None:
        """End the idle processes if no document has been read for some seconds."""
        with self._lock:
            left = self._last_read + self._kept_seconds - time.monotonic()
            self._clearing = left > 0
            if self._clearing:
                self._clear_after(left)
                return
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()


def _is_small_text(source: DocumentSource) -> bool:
    """Whether the document is text that is cheap to read, whatever it contains.

    Raises:
        BadContent: it is a picture, a program or something else without text.
    """
    if source.size > SMALL:
        return False
    content = source.start(SMALL)
    if content.startswith(b"PK\x03\x04") or b"%PDF-" in content[:1024]:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return kind_of(source).plain


READERS = Readers()
"""The pool of the whole program: it limits concurrent reading by the machine's cores, whoever asks."""
atexit.register(READERS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=READERS.forget)
