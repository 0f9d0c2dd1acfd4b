"""Temporary folders for copies that an import reads: of uploads, of pipes and of databases in an archive.

A process keeps them in one folder, on which it holds a lock while it lives. A process that is killed removes nothing,
but its lock is released; so the next start finds the folder and removes it, and never one that is in use.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

_PREFIX = "forky-spool-"
_UNLOCKED = "forky-unlocked-"
"""The prefix of a folder's name until its lock is held: nobody looks for it under this name."""
_LOCK = "lock"

_making = Lock()
_homes: dict[int, tuple[Path, int]] = {}
"""By process id, so that a forked child makes its own: the folder, and the open file that holds its lock."""


def spool_folder(kind: str) -> Path:
    """A new, empty folder of this process; the caller removes it.

    Raises:
        OSError: there is no room for it.
    """
    return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=_home()))


@contextmanager
def spool(kind: str) -> Iterator[Path]:
    """A new, empty folder of this process, removed at the end of the `with`."""
    folder = spool_folder(kind)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned_spools() -> None:
    """Remove the folders of this user's processes that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            # Another process may remove its own in the meantime.
            with suppress(OSError):
                if entry.name.startswith(_PREFIX) and _is_ours(entry) and _is_abandoned(Path(entry.path)):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _home() -> Path:
    with _making:
        home, _ = _homes.get(os.getpid(), (None, None))
        if home is None or not home.is_dir():  # A cleaner of temporary files may have removed it.
            home = _made()
        return home


def _made() -> Path:
    made = Path(tempfile.mkdtemp(prefix=_UNLOCKED))
    held = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - Windows has none; there an open file cannot be removed, which is as good

        fcntl.flock(held, fcntl.LOCK_EX)
    home = made.rename(made.with_name(made.name.replace(_UNLOCKED, _PREFIX)))
    _homes[os.getpid()] = home, held
    atexit.register(_leave, os.getpid(), home)
    return home


def _leave(process: int, home: Path) -> None:
    if process == os.getpid():
        shutil.rmtree(home, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder of this user: in a folder that all may write to, others may prepare malicious ones."""
    if not entry.is_dir(follow_symlinks=False):
        return False
    return sys.platform == "win32" or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _is_abandoned(home: Path) -> bool:
    lock = home / _LOCK
    try:
        if sys.platform == "win32":
            lock.unlink()
            return True
        import fcntl  # noqa: PLC0415 - as above

        with lock.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
