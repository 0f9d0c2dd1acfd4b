"""A process that reads documents, as the program that started it sees it: start, read, kill.

The process is started afresh by `subprocess`, never forked: the program may have threads. It inherits no open file but
its two pipes, no environment variables except those that locate the system's libraries, and no `__main__` of the
program.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from forky_core.documents.limits import (
    Limits,
    crashed,
    killed,
    over_characters,
    over_chunks,
    over_memory,
    over_time,
    over_waiting,
    unforeseen,
)
from forky_core.documents.reader_main import OVER_MEMORY, OVER_TIME
from forky_core.documents.registry import added_kinds
from forky_core.documents.source import DocumentSource
from forky_core.model.document import Chunk
from forky_core.model.errors import BadContent

_ROOT = str(Path(__file__).resolve().parents[2])
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from forky_core.documents.reader_main import main; main()"
"""What the process runs. Its import path is that of this program."""
_INHERITED = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables without which Python does not start on some systems. None of them is a secret."""
_LONGEST_ANSWER = 1_000_000
"""The most bytes of a line; the longest line that a chunk makes is a tenth of it."""
_BLOCK = 1 << 20
LOOK_EVERY = 0.2
"""Seconds between two checks for cancellation or a timeout."""


@dataclass(frozen=True, slots=True)
class Extract:
    """A chunk from a reader."""

    kind: str
    """The name of the document's kind."""
    chunk: Chunk
    done: float
    """The share of the document that has been read, 0 to 1."""


class ReaderProcess:
    """One process. It reads one document at a time, and can be reused if `again` is set."""

    def __init__(self) -> None:
        """Start the process. Raises OSError if the system starts no further process."""
        self.again = True
        self._ending = threading.Lock()
        path = [os.path.abspath(entry) for entry in sys.path if entry]  # noqa: PTH100 - an entry may be no path
        if _ROOT not in path:
            path.insert(0, _ROOT)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
            cwd=Path(_ROOT).anchor,
            start_new_session=True,
            creationflags=_background(),
        )

    @property
    def id(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def read(self, source: DocumentSource, limits: Limits, stop: Event) -> Iterator[Extract]:
        """The chunks of a document; they end early if `stop` is set.

        Raises:
            BadContent: the document cannot be read, or not within the limits. The process may be gone then.
            OSError: its file cannot be opened.
        """
        self.again = False
        waiting = _ReadingWatch(self, limits.waiting_seconds, stop)
        try:
            self._send(source, limits, stop)
            yield from self._answers(source, limits, waiting)
        finally:
            waiting.end()

    def close(self) -> None:
        """Kill the process and close its pipes. No other thread may be reading."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            # Unsent data can no longer be flushed.
            with suppress(OSError):
                pipe.close()

    def kill(self) -> None:
        """Kill the process and its children; a thread that waits for an answer gets the end of the stream."""
        with self._ending:
            if self._process.poll() is not None:
                return
            if sys.platform == "win32":
                self._process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _send(self, source: DocumentSource, limits: Limits, stop: Event) -> None:
        """Send the job; if the process is gone, reading its answer will fail."""
        pipe = self._process.stdin
        assert pipe is not None
        path = os.fsencode(source.path.absolute()).decode("latin-1") if source.path else ""
        job = {
            "name": source.name,
            "size": source.size,
            "path": path,
            "kinds": added_kinds(),
            "cpu_seconds": limits.cpu_seconds,
            "memory": limits.memory,
        }
        with suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(json.dumps(job).encode("ascii") + b"\n")
            if not path:
                with source.open() as stream:
                    while (block := stream.read(_BLOCK)) and not stop.is_set():
                        pipe.write(block)
            pipe.flush()

    def _answers(self, source: DocumentSource, limits: Limits, waiting: _ReadingWatch) -> Iterator[Extract]:
        kind = "text"
        characters = chunks = 0
        while (answer := self._answer(source.name, limits, waiting)) is not None:
            match answer:
                case {"kind": known}:
                    kind = known
                case {"chunk": [number, place, text, overlap, counts], "done": done}:
                    characters, chunks = characters + len(text), chunks + 1
                    if characters > limits.characters:
                        raise over_characters(source.name, limits.characters)
                    if chunks > limits.chunks:
                        raise over_chunks(source.name, limits.chunks)
                    occurrences = dict(zip(counts[::2], counts[1::2], strict=True))
                    yield Extract(kind, Chunk(number, place, text, overlap, occurrences), done)
                case {"again": again, **end}:
                    self.again = again
                    _raise_refusal(source.name, end)
                    return
                case _:
                    raise crashed(source.name, "an answer without a meaning")

    def _answer(self, name: str, limits: Limits, waiting: _ReadingWatch) -> dict[str, Any] | None:
        """The next answer; None if the reading was cancelled.

        Raises:
            BadContent: the process has ended, or answers what no reader answers.
        """
        assert self._process.stdout is not None
        with waiting:
            line = self._process.stdout.readline(_LONGEST_ANSWER)
        if waiting.given_up:
            return None
        if waiting.too_long:
            raise over_waiting(name, limits.waiting_seconds)
        if len(line) < _LONGEST_ANSWER and not line.endswith(b"\n"):
            raise self._ended(name, limits)
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise crashed(name, "an answer that is no JSON") from None
        return answer

    def _ended(self, name: str, limits: Limits) -> BadContent:
        """The error that says why the process has ended."""
        code = self._process.wait()
        if code == OVER_MEMORY:
            return over_memory(name, limits.memory)
        if code in {OVER_TIME, -getattr(signal, "SIGXCPU", OVER_TIME)}:
            return over_time(name, limits.cpu_seconds)
        if code == -getattr(signal, "SIGKILL", 0):
            return killed(name)
        return crashed(name, f"signal {-code}" if code < 0 else f"exit code {code}")


class _ReadingWatch:
    """Ends a process whose reading was cancelled, or that takes too long to answer.

    Only time spent waiting for an answer (`with`) counts, not the time for processing it.
    """

    def __init__(self, process: ReaderProcess, seconds: float, stop: Event) -> None:
        self.given_up = False
        self.too_long = False
        self._process = process
        self._left = seconds
        self._since: float | None = None
        self._stop = stop
        self._over = Event()
        threading.Thread(target=self._look, name="forky-reader-limits", daemon=True).start()

    def __enter__(self) -> None:
        self._since = time.monotonic()

    def __exit__(self, *_: object) -> None:
        since, self._since = self._since, None
        assert since is not None
        self._left -= time.monotonic() - since

    def end(self) -> None:
        self._over.set()

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            since = self._since
            spent = time.monotonic() - since if since is not None else 0.0
            self.given_up = self._stop.is_set()
            self.too_long = not self.given_up and spent > self._left
            if self.given_up or self.too_long:
                self._process.kill()
                return


def _raise_refusal(name: str, end: dict[str, Any]) -> None:
    match end:
        case {"refused": [message, hint]}:
            raise BadContent(message, hint)
        case {"unreadable": why}:
            raise BadContent(f"“{name}” cannot be read: {why}.")
        case {"failed": error}:
            raise unforeseen(name, error)


def _background() -> int:
    """Creation flags for Windows: no console window, and background priority. Elsewhere the reader lowers its own
    priority.
    """
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return 0
