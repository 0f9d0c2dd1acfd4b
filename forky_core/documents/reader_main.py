"""The program that runs in a reader process: it reads documents one after the other for the process that started it.

It takes jobs on its standard input and answers on its standard output; `reader_process.py` is the other side. A job is
a line of JSON, followed by the document's bytes unless the job names a file. An answer is a line of JSON. The end of
the input ends the program at once, also in the middle of a document, so that a reader never outlives its parent.

A thread checks the time and the memory of the process twenty times a second and ends it if they exceed a limit. It
cannot check while a C function holds Python's lock. Therefore the system enforces the same limits, a little higher,
where it can: `RLIMIT_CPU` (not on Windows) and `RLIMIT_AS` (in effect on Linux). `RLIMIT_AS` alone would not do:
CPython 3.11 can loop for ever if it finds no memory for a MemoryError.
"""

from __future__ import annotations

import io
import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from forky_core.documents.extraction import extracted
from forky_core.documents.registry import kind_of, loaded_kinds
from forky_core.documents.source import DocumentSource
from forky_core.model.errors import BadContent, NotInstalled

OVER_MEMORY = 81
"""Exit code of a reader that exceeded its memory limit."""
OVER_TIME = 82
"""Exit code of a reader that exceeded its limit of processor time."""
_KEPT_BELOW = 300_000_000
"""Bytes of memory; a reader that needed more for a document is not reused."""
_LOOK_EVERY = 0.05
_LATER = 3
"""Seconds by which the system's time limit is later than the thread's."""
_LIBRARIES = 300_000_000
"""Bytes of address space that Python and its threads reserve without using them."""
_NICENESS = 5
"""Reading in the background has a lower priority than a page that a person waits for."""


def main() -> None:
    jobs: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
    out = _standard_output()
    _step_back()
    threading.Thread(target=_take_jobs, args=(jobs,), daemon=True).start()
    watch = _Watch()
    while True:
        job, content = jobs.get()
        watch.limit(job["cpu_seconds"], job["memory"])
        _limit("RLIMIT_CPU", int(time.process_time()) + job["cpu_seconds"] + _LATER)
        _limit("RLIMIT_AS", job["memory"] + job["memory"] // 2 + _LIBRARIES)
        try:
            answer = _read(_source(job, content), job["kinds"], out)
        except MemoryError:
            os._exit(OVER_MEMORY)
        del content
        peak = _peak_memory()
        _write(out, {**answer, "again": peak is not None and peak < _KEPT_BELOW})


def _standard_output() -> BinaryIO:
    """The pipe to the parent. Standard output is redirected, so that a library that prints does not
    write to the pipe.
    """
    out = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a name of the system, not a path
        os.dup2(nowhere.fileno(), 1)
    return out


def _step_back() -> None:
    """Disable core dumps, lower the priority, and make the kernel kill this process first if memory runs out."""
    logging.disable(logging.CRITICAL)
    _limit("RLIMIT_CORE", 0)
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:  # noqa: PTH123
        score.write("1000")


def _take_jobs(jobs: queue.SimpleQueue[tuple[dict[str, Any], bytes]]) -> None:
    taken = sys.stdin.buffer
    try:
        while line := taken.readline():
            job = json.loads(line)
            jobs.put((job, b"" if job["path"] else taken.read(job["size"])))
    except MemoryError:
        os._exit(OVER_MEMORY)
    os._exit(0)


def _source(job: dict[str, Any], content: bytes) -> DocumentSource:
    if job["path"]:
        path = job["path"].encode("latin-1")
        return DocumentSource(job["name"], job["size"], lambda: open(path, "rb"))  # noqa: PTH123 - bytes are no Path
    return DocumentSource(job["name"], job["size"], lambda: io.BytesIO(content))


def _read(source: DocumentSource, kinds: Sequence[str], out: BinaryIO) -> dict[str, Any]:
    """Write the kind and the chunks of a document, and return the final answer."""
    try:
        with loaded_kinds(kinds):
            kind = kind_of(source)
            _write(out, {"kind": kind.name})
            for chunk, done in extracted(source, kind):
                counts = [number for pair in chunk.counts.items() for number in pair]
                found = [chunk.number, chunk.place, chunk.text, chunk.overlap, counts]
                _write(out, {"chunk": found, "done": done})
    except (BadContent, NotInstalled) as error:
        return {"refused": [error.message, error.hint]}
    except MemoryError:
        raise
    except OSError as error:
        return {"unreadable": error.strerror or str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a hostile file makes a parser raise is told as a sentence
        return {"failed": type(error).__name__}
    return {"end": True}


def _write(out: BinaryIO, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer, separators=(",", ":")).encode("ascii") + b"\n")
    # Flush after each chunk, so that cancellation and progress are not delayed by a buffer.
    out.flush()


def _limit(name: str, most: int) -> None:
    """Set a system limit for this process; does nothing if the system does not support it."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        kind = getattr(resource, name)
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


class _Watch:
    """A thread that ends the process if the document being read exceeds the limits."""

    def __init__(self) -> None:
        self._cpu_until = self._memory = float("inf")
        threading.Thread(target=self._run, daemon=True).start()

    def limit(self, cpu_seconds: int, memory: int) -> None:
        self._cpu_until, self._memory = time.process_time() + cpu_seconds, memory

    def _run(self) -> None:
        while True:
            time.sleep(_LOOK_EVERY)
            if (_peak_memory() or 0) > self._memory:
                os._exit(OVER_MEMORY)
            if time.process_time() > self._cpu_until:
                os._exit(OVER_TIME)


def _peak_memory() -> int | None:
    """The peak memory of this process in bytes; None if the system does not report it."""
    match sys.platform:
        case "linux":
            return _peak_on_linux()
        case "win32":
            return _peak_on_windows()
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _peak_on_linux() -> int | None:
    """The peak memory since this process started; `ru_maxrss` would include that of its parent."""
    with suppress(OSError), open("/proc/self/status", "rb") as status:  # noqa: PTH123 - a name of the system
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith(b"VmHWM")), None)
    return None


def _peak_on_windows() -> int | None:
    """`PeakPagefileUsage` of GetProcessMemoryInfo: the most memory that the process had committed."""
    import ctypes  # noqa: PLC0415 - the other systems do without it

    # PROCESS_MEMORY_COUNTERS: two 32-bit numbers, then eight of a pointer's size, the last of which is the peak.
    fields: list[tuple[str, Any]] = [("size", ctypes.c_uint32), ("faults", ctypes.c_uint32)]
    fields += [(f"field_{at}", ctypes.c_size_t) for at in range(7)] + [("peak", ctypes.c_size_t)]
    counters = type("Counters", (ctypes.Structure,), {"_fields_": fields})()
    counters.size = ctypes.sizeof(counters)
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - there on Windows only
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.K32GetProcessMemoryInfo.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
    found = kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.size)
    return int(counters.peak) if found else None
