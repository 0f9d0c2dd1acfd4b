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
"""The id of the block of data that a server adds to a page. A page in a file has none."""
PLACE_FOR_MORE = b"<!-- more -->"
"""The mark below the head of a served conversation, which occurs once and which the server can replace."""


def page(
    kind: Kind, template: str = "", *, scripts: bool = True, served: bool = False, **values: Any
) -> Iterator[str]:
    """Draw a page from a template, by default that of its kind, and yield it piece by piece.

    `policy` explains `served` and `scripts`.

    Raises:
        NotInstalled: a package that draws pages is missing. The error comes before the first piece.
    """
    return _templates(kind).page(
        kind, template or f"{kind}.html", scripts=scripts, served=served, values=values
    )


def whole_page(kind: Kind, template: str = "", **values: Any) -> str:
    """Draw a page as `page` does and return it as one text."""
    return "".join(page(kind, template, **values))


def fragment(template: str, macro: str, *values: Any) -> str:
    """Draw a piece of a page by calling a macro of a template with these values."""
    return _templates().fragment(template, macro, *values)


def with_served(page: str, data: dict[str, str | bool]) -> str:
    """Add the block SERVED to a page: data about its server, such as addresses, that its script reads."""
    before, mark, after = page.partition("<body")
    opening, end, rest = after.partition(">\n")
    return f"{before}{mark}{opening}{end}{fragment('parts.html', 'data_block', SERVED, data)}{rest}"


@cache
def _templates(kind: Kind = "conversation") -> Templates:
    """Return the templates for a kind of page. Kinds that show no conversation skip the imports for drawing one."""
    with needed_for("A web page", "html"):
        from forky_core.render.templating import Templates  # noqa: PLC0415 - the library does without

        if kind in {"card", "sentence"}:
            return Templates({}, {})
        from forky_core.render.functions import FILTERS, FUNCTIONS  # noqa: PLC0415 - as above
    return Templates(FILTERS, FUNCTIONS)
