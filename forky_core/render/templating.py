"""The template engine. Only page.py imports this module, and only to draw a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from forky_core.render.policy import Kind, policy, script, style

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TOGETHER = 64
"""How many pieces of a template are sent as one."""


class Templates:
    """Draws the templates. Every text is escaped, and “�” replaces characters that no page can show."""

    def __init__(self, filters: Mapping[str, Callable[..., Any]], functions: Mapping[str, Any]) -> None:
        """Make `filters` and `functions` available to all templates, by name."""
        self._environment = Environment(
            loader=PackageLoader("forky_core.render"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_finalized,
            auto_reload=False,
        )
        self._environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
        self._environment.filters |= filters
        self._environment.globals |= functions

    def page(
        self, kind: Kind, template: str, *, scripts: bool, served: bool, values: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield the page that a template draws from these values, piece by piece."""
        stream = self._environment.get_template(template).stream(
            kind=kind,
            policy=Markup(policy(kind, scripts=scripts, served=served)),  # noqa: S704 - made of constants alone
            style=Markup(style(kind)),  # noqa: S704 - our own file
            script=Markup(script(kind) if scripts else ""),  # noqa: S704 - as above
            **values,
        )
        stream.enable_buffering(_TOGETHER)
        return stream

    def fragment(self, template: str, macro: str, *values: Any) -> str:
        """Return what a macro of a template draws from these values."""
        return str(getattr(self._environment.get_template(template).module, macro)(*values))


def shown(text: str) -> str:
    """Return a text with plain line ends, and with “�” for characters that no page can or should show."""
    return _UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _finalized(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
