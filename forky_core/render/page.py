"""Draws a page from its template."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from forky_core.process.extras import needed_for
from forky_core.render.policy import Kind

if TYPE_CHECKING:
    from forky_core.render.templating import Templates

SERVED = "served"
"""The id of the block in which a server tells a page about itself. A file has none."""
PLACE_FOR_MORE = b"<!-- more -->"
"""Stands once in the page of a conversation that is served, below its head: the server can put something there."""


def page(
    kind: Kind, template: str = "", *, scripts: bool = True, served: bool = False, **values: Any
) -> Iterator[str]:
    """A page, piece by piece: the template, by default that of its kind, with these values.

    `served` and `scripts` are as for `policy`.

    Raises:
        NotInstalled: a package that draws pages is missing. The error comes before the first piece.
    """
    return _templates(kind).page(
        kind, template or f"{kind}.html", scripts=scripts, served=served, values=values
    )


def whole_page(kind: Kind, template: str = "", **values: Any) -> str:
    """A page as one text."""
    return "".join(page(kind, template, **values))


def fragment(template: str, macro: str, *values: Any) -> str:
    """A piece of a page: what a macro of a template makes of these values."""
    return _templates().fragment(template, macro, *values)


def with_served(page: str, told: dict[str, str | bool]) -> str:
    """The page with addresses of its server put in, by their names."""
    before, mark, after = page.partition("<body")
    opening, end, rest = after.partition(">\n")
    return f"{before}{mark}{opening}{end}{fragment('parts.html', 'data_block', SERVED, told)}{rest}"


@cache
def _templates(kind: Kind = "conversation") -> Templates:
    """The templates of a kind. Those that show no conversation are not made to wait for what draws one."""
    with needed_for("A web page", "html"):
        from forky_core.render.templating import Templates  # noqa: PLC0415 - the library does without

        if kind in {"card", "sentence"}:
            return Templates({}, {})
        from forky_core.render.functions import FILTERS, FUNCTIONS  # noqa: PLC0415 - as above
    return Templates(FILTERS, FUNCTIONS)
