"""Copies input that can be read only once to ordinary files: `-` (standard input) and pipes (`<(git show …)`)."""

from __future__ import annotations

import errno
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from forky_core.cli.plain import one_line
from forky_core.formats.files.spools import spool
from forky_core.model.errors import BadContent

STANDARD_INPUT = Path("-")


def comes_once(path: Path) -> bool:
    """Whether this path can be read only once."""
    if path == STANDARD_INPUT:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # Opening it will report the error.
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


@contextmanager
def lasting(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths, with a temporary copy for each that can be read only once.

    Raises:
        BadContent: standard input is named twice, or a pipe cannot be read.
    """
    if list(paths).count(STANDARD_INPUT) > 1:
        raise BadContent("Standard input can be read once only.", "Name a file for the other one.")
    with spool("piped") as folder:
        yield [_copied(path, folder / str(at)) if comes_once(path) else path for at, path in enumerate(paths)]


def _copied(path: Path, folder: Path) -> Path:
    folder.mkdir()
    copy = folder / "piped"
    try:
        with ExitStack() as opened, copy.open("wb") as out:
            source: BinaryIO = (
                sys.stdin.buffer if path == STANDARD_INPUT else opened.enter_context(path.open("rb"))
            )
            shutil.copyfileobj(source, out)
    except OSError as error:
        named = one_line(str(path))[:100]
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise BadContent(
                f"There is no room in {folder.parent.parent} for a copy of “{named}” while it is read. "
                "Nothing of it was kept.",
                "Free some space there, or name a file in place of the pipe.",
            ) from error
        raise BadContent(f"“{named}” cannot be read: {error.strerror}.") from error
    return copy
