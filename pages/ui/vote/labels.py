"""The names that people know models by."""

from __future__ import annotations

from collections.abc import Callable

from pages.ui.frame import Frame


def labels(frame: Frame) -> Callable[[str], str]:
    """Maps a model's name to its label; other words stay as they are."""
    known = {info.name: info.label for info in frame.forky.models.models()}
    return lambda name: known.get(name, name)
