"""How a public name is retired: it works for a while, and warns whoever uses it.

The warning is a `DeprecationWarning`, which Python shows in a program's main module and in tests. Its sentence names
the new word and the version in which the old one goes away: “`Message.words` is now `Message.text`; it goes away in
Forky 0.4.” CONTRIBUTING.md says when a name may be retired. tests/process/test_deprecations.py reads
every use and fails in the version in which an old name should be gone.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

__all__ = ["RETIRED", "Retired", "deprecated", "replacement"]


@dataclass(frozen=True, slots=True)
class Retired:
    """What became of a name that `from forky_core import …` has offered."""

    new: str
    """The name that takes its place, which `forky_core` offers."""
    gone_in: str
    """The first version without the old name: "0.4"."""

    def sentence(self, old: str) -> str:
        return f"`{old}` is now `{self.new}`; it goes away in Forky {self.gone_in}."


RETIRED: dict[str, Retired] = {}
"""The retired names of the package, by the old name."""


if TYPE_CHECKING:
    # Type checkers know it without the package, and mark each use of a retired function.
    from typing_extensions import deprecated
else:

    def deprecated(message: str, /) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Make each call of a function or a method warn its caller; the same as Python 3.13's `warnings.deprecated`.

        `message` is a literal of the form that the module's docstring shows.
        """

        def mark(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def retired(*arguments: Any, **named: Any) -> Any:
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                return function(*arguments, **named)

            retired.__deprecated__ = message
            return retired

        return mark


def replacement(old: str) -> str | None:
    """The name that takes the place of a retired name of the package, after a warning; None for any other name.

    The package's `__getattr__` calls it.
    """
    found = RETIRED.get(old)
    if found is None:
        return None
    # The warning is for whoever asked the package: its `__getattr__` is one step further down than usual.
    warnings.warn(found.sentence(old), DeprecationWarning, stacklevel=3)
    return found.new
