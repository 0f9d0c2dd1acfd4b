"""The labels of models."""

from __future__ import annotations

from collections.abc import Callable

from pages.ui.frame import Frame


def labels(frame: Frame) -> Callable[[str], str]:
    """Return a function from a model's name to its label; it returns other names unchanged."""
    names = {info.name: info.label for info in frame.forky.models.models()}
    return lambda name: names.get(name, name)
