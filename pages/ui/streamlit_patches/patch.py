"""The declaration of a patch of Streamlit: what it changes, why, and which parts of Streamlit it needs.

A patch never breaks the app with another version of Streamlit: if something that it needs is missing or has another
signature, the patch does not fit and is not applied.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from starlette.middleware import Middleware

_CODE = re.compile(r"(?P<module>[\w.]+):(?P<path>[\w.]*)(?P<signature>\([\w, ]*\))?(?:#(?P<attribute>\w+))?")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Patch:
    """One change of Streamlit's behaviour. The module of the same name in this folder makes it."""

    name: str
    does: str
    """One sentence that says what a person gains by it."""
    test: str
    """The test that fails without this patch, by pytest's id."""
    needs: tuple[str, ...]
    """The parts of Streamlit that must exist: `module:Class.method(parameters)`, `module:name`,
    `module:Class#attribute` for an attribute of instances or a field of a message, `static/…` for a file that browsers
    load (a glob pattern).
    """
    made: Literal["at_start", "around_requests", "in_pages"] = "at_start"
    """`at_start`: the module's `apply()` is called once, before the first session. `around_requests`: the module's
    `middleware()` stands in front of Streamlit. `in_pages`: pages call the module, and it asks `patches.is_on`.
    """
    issue: str = ""
    """Streamlit's issue about the problem, where there is one."""

    @property
    def upstream(self) -> str:
        """Streamlit's issue about the problem, or the section of docs/streamlit.md that describes it."""
        return self.issue or f"docs/streamlit.md#{self.name}"

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts of `needs` that this Streamlit does not have."""
        return tuple(need for need in self.needs if not _is_met(need))

    @property
    def fits(self) -> bool:
        """Whether this Streamlit still has everything that the patch replaces or uses."""
        return not self.missing

    def apply(self) -> None:
        """Make the change. Calling it twice makes it twice."""
        if self.made == "at_start":
            self._module.apply()

    def middleware(self) -> Middleware | None:
        """Return the middleware of a patch that is made around requests; None for other patches."""
        if self.made != "around_requests":
            return None
        made: Middleware = self._module.middleware()
        return made

    @property
    def _module(self) -> Any:
        return import_module(f"{__package__ or 'pages.ui.streamlit_patches'}.{self.name}")


def part(name: str) -> Any:
    """Return a part of Streamlit by `module:path`. Patches use it instead of imports, which would fail if it is gone.

    Raises:
        LookupError: this Streamlit has no such part.
    """
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise LookupError(name) from error
    for step in filter(None, path.split(".")):
        found = getattr(found, step, _MISSING)
        if found is _MISSING:
            raise LookupError(name)
    return found


def streamlit_folder() -> Path:
    """Return the folder of Streamlit without importing it."""
    return package_folder("streamlit")


def package_folder(name: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _is_met(need: str) -> bool:
    if need.startswith("static/"):
        return any(streamlit_folder().glob(need))
    parsed = _CODE.fullmatch(need)
    assert parsed is not None, f"{need} is not written as `Patch.needs` says"
    try:
        found = part(f"{parsed['module']}:{parsed['path']}")
    except LookupError:
        return False
    if parsed["attribute"]:
        return _has(found, parsed["attribute"])
    return parsed["signature"] is None or parsed["signature"] == f"({', '.join(_parameters(found))})"


def _has(kind: Any, attribute: str) -> bool:
    """Whether instances of a class have an attribute: a field of a message, or one that `__init__` sets."""
    descriptor = getattr(kind, "DESCRIPTOR", None)
    if descriptor is not None:
        return attribute in descriptor.fields_by_name
    code = inspect.unwrap(kind.__init__).__code__  # Another patch may have wrapped it.
    return attribute in code.co_names or attribute in code.co_consts or hasattr(kind, attribute)


def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
