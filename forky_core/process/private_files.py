"""Files and folders that only their owner may read, because Forky stores people's conversations.

A file gets its permissions when it is created and not afterwards, so that there is no moment at which somebody else
could open it. On Windows the permissions of the folder decide, and this module changes none.

The umask is left alone, because it belongs to the whole process. DuckDB creates its files with 0666 and refuses an
empty database file, so a new database is made in a private folder and linked into place, and the log is made empty
before DuckDB opens it. Permissions are changed by name and never through a descriptor: closing any descriptor of a file
gives up the locks that the process holds on it, DuckDB's among them.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

FILE = 0o600
FOLDER = 0o700
_OTHERS = 0o077
POSIX = hasattr(os, "geteuid")
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


class Planted(OSError):
    """Somebody else put a link where Forky was about to write."""


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, which only their owner may read. Existing folders stay unchanged.

    Raises:
        OSError: it cannot be made.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(FOLDER, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def new_file(path: Path) -> int:
    """Create an empty file and return a descriptor for writing.

    Raises:
        FileExistsError: the path exists, if only as a dangling link.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0), FILE)


def copy(original: Path, to: Path) -> None:
    """Copy a file, with its times, to a path that does not exist yet. An incomplete copy is removed.

    Raises:
        OSError: there is no room or no permission, or the path exists.
    """
    descriptor = new_file(to)
    try:
        with os.fdopen(descriptor, "wb") as target, original.open("rb") as source:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        times = original.stat()
        os.utime(to, ns=(times.st_atime_ns, times.st_mtime_ns))
    except BaseException:
        to.unlink(missing_ok=True)
        raise


def append_line(path: Path, line: str) -> None:
    """Append a line to a file, which is created if it is missing. A line is never left incomplete.

    Raises:
        OSError: there is no room or no permission, or the path is somebody else's link.
    """
    refuse_planted(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, FILE)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        tighten(path)
        content = f"{line}\n".encode("utf-8", "replace")
        begin, written = os.fstat(descriptor).st_size, 0
        try:
            while written < len(content):
                written += file.write(content[written:])
        except OSError:
            if (
                os.fstat(descriptor).st_size == begin + written
            ):  # Else another program has added to it meanwhile.
                os.ftruncate(descriptor, begin)
            raise


def tighten(path: Path) -> None:
    """Remove everybody else's permissions from a file or folder of this user; other users' files and links stay as they
    are.

    The file is not opened, because closing it would release the lock that DuckDB has on it.
    """
    if not POSIX:
        return
    with suppress(OSError):
        status = path.lstat()
        if status.st_uid == os.geteuid() and status.st_mode & _OTHERS and not stat.S_ISLNK(status.st_mode):
            path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def refuse_planted(path: Path) -> None:
    """Raise Planted for a link that somebody else put into a folder that everybody may write to, such as /tmp.

    The rule is that of Linux's `fs.protected_symlinks`: in such a folder a link may be followed only by its owner, or
    if it belongs to the owner of the folder.

    Raises:
        Planted: `path` is such a link.
    """
    if not POSIX:
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        link = path.lstat()
        folder = path.parent.stat()
        if (
            stat.S_ISLNK(link.st_mode)
            and folder.st_mode & stat.S_IWOTH
            and link.st_uid not in {os.geteuid(), folder.st_uid}
        ):
            raise Planted(40, "somebody else's link stands there", str(path))
