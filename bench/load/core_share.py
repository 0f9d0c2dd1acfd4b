"""Programs that get a part of a core each, so that several can be measured on a machine of few cores."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

_GROUPS = Path("/sys/fs/cgroup")
_PERIOD = 100_000
"""Microseconds in which a program's share is counted."""


@contextlib.contextmanager
def held_to(share: float, process: int) -> Iterator[None]:
    """A program, with what it starts from now on, gets at most this share of one core meanwhile; 0 is no limit.

    Raises:
        RuntimeError: this needs Linux with control groups, and the right to make one.
    """
    if not share:
        yield
        return
    folder, limits = _new_group(f"forky-load-{uuid4().hex[:8]}", int(share * _PERIOD))
    try:
        for name, value in limits.items():
            (folder / name).write_text(value)
        (folder / "cgroup.procs").write_text(str(process))
        yield
    finally:
        _remove(folder)


def _new_group(name: str, quota: int) -> tuple[Path, dict[str, str]]:
    """The folder of a new group, and what is to be written into which of its files."""
    second = (_GROUPS / "cgroup.controllers").exists()
    folder = _GROUPS / name if second else _GROUPS / "cpu" / name
    limits = (
        {"cpu.max": f"{quota} {_PERIOD}"}
        if second
        else {"cpu.cfs_period_us": str(_PERIOD), "cpu.cfs_quota_us": str(quota)}
    )
    try:
        folder.mkdir()
    except OSError as error:
        raise RuntimeError(f"A share of a core needs Linux's control groups: {error}") from error
    return folder, limits


def _remove(folder: Path) -> None:
    """Once the last of its processes has been handed back to the group above."""
    for process in (folder / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            (folder.parent / "cgroup.procs").write_text(process)
    for _ in range(50):
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.1)
