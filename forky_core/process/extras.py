"""Optional packages, which are imported only where one part of Forky needs them.

`pip install forky` installs all of them. A program that wants only the library installs fewer (docs/python.md has the
list), and gets an error that names the missing package where it uses a part that needs it.
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
    "mcp",
    "sign-in",
    "postgresql",
]
"""A group of `[project.optional-dependencies]` in pyproject.toml."""


@contextmanager
def needed_for(what: str, extra: Extra) -> Iterator[None]:
    """Raise NotInstalled where an import in this block fails; `what` is the subject of the error's sentence.

    Raises:
        NotInstalled: a package of the extra is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in {"", "forky_core"}:
            raise
        raise NotInstalled(f"{what} needs the package “{missing}”, which is not installed.", extra) from error
