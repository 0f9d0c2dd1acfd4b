"""What reading one document may take of the machine, and the sentences for a document that would take more.

A file says little about what reading it costs: 59 kB of DOCX took 1.4 GB and a minute, 94 kB of CSV became 180 million
characters. The limits grow with the size of the file and are far above what real documents need
(docs/design/documents-are-read-in-a-process-of-their-own.md has the measurements).
"""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.model.errors import BadContent

MEGABYTE = 1_000_000
_ANEW = "The file may be damaged. Save it anew in another program, or as plain text, and add that."


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one document."""

    cpu_seconds: int
    """The reader's processor time."""
    waiting_seconds: float
    """Wall-clock time that the program waits for the reader; it ends a reader that hangs without computing."""
    memory: int
    """Bytes of memory that the reader may use."""
    characters: int
    """Characters of all chunks, including their overlaps."""
    chunks: int


def limits_for(size: int) -> Limits:
    """The limits for a file of `size` bytes."""
    cpu = int(min(1_200, 60 + 20 * size / MEGABYTE))
    return Limits(
        cpu_seconds=cpu,
        waiting_seconds=60 + 5 * cpu,
        memory=1_000 * MEGABYTE + 2 * size,
        characters=min(300 * MEGABYTE, 10 * MEGABYTE + 20 * size),
        chunks=min(300_000, 5_000 + size // 20),
    )


def over_time(name: str, seconds: float) -> BadContent:
    return BadContent(
        f"“{name}” was given up: reading it took more than {seconds:,.0f} seconds of the processor.",
        "Split it, or save it as plain text, and add that.",
    )


def over_waiting(name: str, seconds: float) -> BadContent:
    return BadContent(
        f"“{name}” was given up: reading it took more than {seconds:,.0f} seconds.",
        "Add it again when the machine has less to do, or split it.",
    )


def over_memory(name: str, memory: int) -> BadContent:
    return BadContent(
        f"“{name}” was given up: reading it takes more than {memory / MEGABYTE:,.0f} MB of memory.",
        "Split it, or save it as plain text, and add that.",
    )


def over_characters(name: str, characters: int) -> BadContent:
    return BadContent(
        f"“{name}” was given up: it unpacks to more than {characters / MEGABYTE:,.0f} million characters.",
        "Split it, or add the part that matters.",
    )


def over_chunks(name: str, chunks: int) -> BadContent:
    return BadContent(
        f"“{name}” was given up: it makes more than {chunks:,} passages.",
        "Split it, or add the part that matters.",
    )


def crashed(name: str, how: str) -> BadContent:
    """The error for a reader process that crashed; `how` is "signal 11" or "exit code 1"."""
    return BadContent(f"“{name}” cannot be read: its reader crashed ({how}).", _ANEW)


def killed(name: str) -> BadContent:
    return BadContent(
        f"“{name}” was given up: the system ended its reader, as it does where memory runs out.",
        "Add it again when the machine has less to do, or split it.",
    )


def unforeseen(name: str, error: str) -> BadContent:
    """The error for an exception that a document's parser should not raise; `error` is its type."""
    return BadContent(f"“{name}” cannot be read: its content confused the reader ({error}).", _ANEW)


def no_reader(name: str, why: str) -> BadContent:
    return BadContent(
        f"“{name}” cannot be read now: no process could be started for it ({why}).",
        "Try again when the machine has less to do.",
    )
