"""A package that nobody has published, as `pip` would have installed it: what it says of itself, on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forky_core.process.plugins import Registry


def write_package(folder: Path, **groups: dict[str, str]) -> None:
    """Write what an installer writes: `groups` are the entry points, with `_` for the dot of a group's name."""
    about = folder / "forky_made_up-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: forky-made-up\nVersion: 1\n")
    lines = [
        f"[{group.replace('_', '.')}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in groups.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))


@contextmanager
def installed(folder: Path, registry: Registry[Any], **points: str) -> Iterator[None]:
    """Within the block, a package with these entry points of the registry's group is installed in `folder`."""
    write_package(folder, **{registry.group.replace(".", "_"): points})
    registry.forget_installed()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        registry.forget_installed()
