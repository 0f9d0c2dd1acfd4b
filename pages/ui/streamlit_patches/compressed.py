"""Compressed copies of the scripts and styles that browsers load, made once and never during a request.

A first page loads 3.9 MB of Streamlit's scripts, which is 1.1 MB with gzip. A browser on this machine gains nothing by
that and gets the files themselves; a browser elsewhere gets the copies, as soon as they exist.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

COMPRESSED = (".js", ".css")
"""The suffixes of files that become smaller. Fonts are compressed already."""
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})
_BY_A_PROXY = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})

Headers = Sequence[tuple[bytes, bytes]]


def copies_folder() -> Path:
    """Return the folder of the copies, in the user's cache. If it is deleted, the next start makes it again."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - a second of the first page is spent on imports already

    return user_cache_path("forky", appauthor=False) / "assets"


def copy_of(file: Path, folder: Path) -> Path:
    """Return the path of a file's copy, which contains the size and the time of the file."""
    status = file.stat()
    return folder / f"{file.name}.{status.st_size:x}.{status.st_mtime_ns:x}.gz"


def make_copies(files: Iterable[Path], folder: Path) -> int:
    """Compress the files that have no copy yet, and return how many were made. It stops when a write fails."""
    made = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if file.suffix in COMPRESSED and not (copy := copy_of(file, folder)).exists():
                _write(copy, gzip.compress(file.read_bytes(), 9, mtime=0))
                made += 1
    except OSError:
        return made
    return made


def _write(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it, so that nobody can read a part of it."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as unfinished:
            unfinished.write(content)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def gains_by_copies(client: Sequence[object] | None, headers: Headers) -> bool:
    """Whether a browser accepts gzip and is, to judge by its request, on another machine."""
    accepted = next((value for name, value in headers if name == b"accept-encoding"), b"")
    if not any(_is_gzip(offer) for offer in accepted.lower().split(b",")):
        return False
    here = client is None or client[0] in _THIS_MACHINE
    return not here or any(name in _BY_A_PROXY for name, _ in headers)


def _is_gzip(offer: bytes) -> bool:
    name, _, weight = offer.replace(b" ", b"").partition(b";")
    return name == b"gzip" and weight not in {b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"}
