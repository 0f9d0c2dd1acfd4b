"""How a module offers or uses names whose own modules are imported only when a program needs one of them.

Such a module lists its names once, as imports below `if TYPE_CHECKING:` which a type checker follows. A program does
not run these imports: they are read from the source, by `lazy_names` for a module that offers them (a name is public
where it is imported `as` itself), and by `import_when_used` for one that uses them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any, cast

from forky_core.process.deprecations import retired_name

_IMPORTS = re.compile(r"^    from (forky_core[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_BLOCK = re.compile(r"^if TYPE_CHECKING:\n(.*?)^else:\n", re.MULTILINE | re.DOTALL)


def lazy_names(
    module: dict[str, Any], spec: ModuleSpec
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a module, from its globals and its `__spec__`.

    `__all__` leaves out the integrations, which need packages that a plain installation need not have. A name that the
    module has offered and that has another place now is found there, with a warning (deprecations.py).

    Raises:
        ImportError: the module was installed without its source.
    """
    package = spec.name
    homes = {
        name: home
        for home, names in _IMPORTS.findall(_source(spec))
        for name in re.findall(r"(\w+) as", names)
    }
    offered = [name for name, home in homes.items() if ".integrations." not in home]

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is not None:
            return getattr(import_module(home), name)
        return retired_name(package, name)

    return offered, find, lambda: sorted((*module, *offered))


def import_when_used(module: dict[str, Any], spec: ModuleSpec) -> None:
    """Give a module, by its globals and its `__spec__`, the names of its imports below `if TYPE_CHECKING:`, each of
    which is imported when it is first called or looked into.

    It serves functions, classes that are called, and modules; not what is raised, caught, inherited or compared.
    """
    for block in _BLOCK.findall(_source(spec)):
        for home, names in _IMPORTS.findall(block):
            for name in re.findall(r"\w+", names):
                module[name] = one = _Unimported(module, home, name)
                _waiting.append(one)


def import_what_waits() -> None:
    """Import what `import_when_used` has put off, for a server that has time now and none once it is asked."""
    while _waiting:
        _waiting.pop().imported()


def _source(spec: ModuleSpec) -> str:
    source: str | None = cast("Any", spec.loader).get_source(spec.name)
    if source is None:
        raise ImportError("Forky reads names from its source files, which were left out here. Keep them.")
    return source


class _Unimported:
    """Stands for a name in a module until it is first used."""

    def __init__(self, user: dict[str, Any], home: str, name: str) -> None:
        self._place = user, home, name

    def imported(self) -> Any:
        user, home, name = self._place
        package = import_module(home)
        found = getattr(package, name, None) or import_module(f"{home}.{name}")
        if user.get(name) is self:
            user[name] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.imported(), name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.imported()(*given, **named)

    def __getitem__(self, kind: Any) -> Any:
        return self.imported()[kind]


_waiting: list[_Unimported] = []
"""Each name that was put off, until a server imports them all; a command imports few of them."""
