"""How a module offers names whose own modules are imported only when a program asks for one of them.

Such a module lists its names once, as imports below `if TYPE_CHECKING:` which a type checker follows: a name is public
where it is imported `as` itself. A program does not run these imports; `lazy_names` reads them from the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any, cast

from forky_core.process.deprecations import retired_name

_IMPORTS = re.compile(r"^    from (forky_core[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def lazy_names(
    module: dict[str, Any], spec: ModuleSpec
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a module, from its globals and its `__spec__`.

    `__all__` leaves out the integrations, which need packages that a plain installation need not have. A name that the
    module has offered and that has another place now is found there, with a warning (deprecations.py).

    Raises:
        ImportError: the module was installed without its source.
    """
    package, loader = spec.name, cast("Any", spec.loader)
    source: str | None = loader.get_source(package)
    if source is None:
        raise ImportError(
            "Forky reads its public names from its source files, which were left out here. Keep them."
        )
    homes = {
        name: home for home, names in _IMPORTS.findall(source) for name in re.findall(r"(\w+) as", names)
    }
    offered = [name for name, home in homes.items() if ".integrations." not in home]

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is not None:
            return getattr(import_module(home), name)
        return retired_name(package, name)

    return offered, find, lambda: sorted((*module, *offered))
