"""Packages that one part of Forky needs and the rest does without: imported where they are used.

`pip install forky` brings all of them. A program that wants the library alone installs less (docs/python.md has the
list), and gets a sentence where it uses a part whose packages it left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from forky_core.model.errors import NotInstalled

Extra = Literal[
    "app",
    "litellm",
    "html",
    "documents",
    "completion",
    "experiments",
    "sign-in",
    "postgresql",
]
"""A group of `[project.optional-dependencies]` in pyproject.toml."""


@contextmanager
def needed_for(what: str, extra: Extra) -> Iterator[None]:
    """Import packages of an extra in this block; `what` begins the sentence of the error.

    Raises:
        NotInstalled: one of them is not there.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {"", "forky_core"}:
            raise
        raise NotInstalled(f"{what} needs the package “{missing}”, which is not installed.", extra) from error
