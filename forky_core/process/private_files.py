"""Files and folders that nobody but their owner may read: what Forky keeps holds people's words.

A file gets its permissions as it is made and not afterwards, so that there is no moment at which somebody else could
open it. On Windows the permissions of the folder decide, and nothing here changes any.

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
    """A link that somebody else put where Forky was about to write."""


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone. One that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(FOLDER, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def new_file(path: Path) -> int:
    """A descriptor of a new, empty file.

    Raises:
        FileExistsError: something has this name, be it a link that leads nowhere.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0), FILE)


def copy(original: Path, to: Path) -> None:
    """Copy a file, with its times, to a name that nothing has. What is left of a failed copy is removed.

    Raises:
        OSError: there is no room or no permission, or the name is taken.
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
    """Add a line to a file, which is made where it is missing: all of the line, or nothing of it.

    Raises:
        OSError: there is no room or no permission, or somebody else's link stands there.
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
    """Take from everybody else the permissions on a file or folder of ours; others' files and links stay as they are.

    The file is not opened: closing it would release the lock that DuckDB holds on it.
    """
    if not POSIX:
        return
    with suppress(OSError):
        found = path.lstat()
        if found.st_uid == os.geteuid() and found.st_mode & _OTHERS and not stat.S_ISLNK(found.st_mode):
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def refuse_planted(path: Path) -> None:
    """Do not follow a link that somebody else put into a folder everybody may write to, such as /tmp.

    The rule is Linux's for `fs.protected_symlinks`: in such a folder a link may be followed by its owner, or where it
    belongs to the owner of the folder.

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
