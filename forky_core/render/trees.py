"""Elements as plain values, which the browser makes elements of: nothing in them is ever parsed as HTML there.

A tree is a text, or a list of a tag, its attributes (0 for none) and the trees in it, as JSON has them. Only the tags
and attributes that are named here can stand in one, and pages/ui/components/elements.js, which makes the elements of
them, knows no others either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from html.parser import HTMLParser
from typing import Any

from forky_core.text import mathml
from forky_core.text.words import word_set

Tree = str | list[Any]
"""A text, or `[tag, attributes or 0, *trees]`. It is shared by everybody whom it was cached for: leave it as it is."""

MATH = mathml.ELEMENTS
"""The tags of formulas."""
TAGS = MATH | word_set(
    "a b blockquote br button code del details div em h1 h2 h3 h4 h5 h6 hr i input li mark ol p pre s"
    " small span strong summary sub sup table tbody td th thead time tr ul"
)
ATTRIBUTES = mathml.ATTRIBUTES | word_set(
    "aria-hidden aria-label aria-pressed checked class data-act data-b data-cell data-diagram data-id"
    " data-testid data-wraps disabled hidden href id open rel role start style tabindex target title type"
)
VOID = frozenset({"br", "hr", "input"})


def element(tag: str, attributes: Mapping[str, str] | None, trees: Iterable[Tree] = ()) -> list[Any]:
    return [tag, dict(attributes) if attributes else 0, *trees]


@lru_cache(maxsize=4_096)
def trees_of(html: str) -> tuple[Tree, ...]:
    """The trees that HTML of ours describes.

    Raises:
        ValueError: there is an element or an attribute in it that cannot stand in a tree.
    """
    reader = _TreeReader()
    reader.feed(html)
    reader.close()
    if len(reader.open) > 1:
        raise ValueError(f"“{reader.open[-1][0]}” is not closed.")
    return tuple(reader.open[0][2:])


class _TreeReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[list[Any]] = [["", 0]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in TAGS or not given.keys() <= ATTRIBUTES:
            raise ValueError(f"“{self.get_starttag_text()}” cannot stand in a tree.")
        made = element(tag, given)
        self.open[-1].append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1][0] != tag:
            raise ValueError(f"“{tag}” is closed where “{self.open[-1][0]}” is open.")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)


def html_of(tree: Tree) -> str:
    """The HTML of a tree."""
    if isinstance(tree, str):
        return escape(tree)
    tag, attributes, *trees = tree
    given = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in (attributes or {}).items()
    )
    return f"<{tag}{given}>" + ("" if tag in VOID else "".join(map(html_of, trees)) + f"</{tag}>")


def text_of(tree: Tree) -> str:
    """The words of a tree."""
    return tree if isinstance(tree, str) else "".join(map(text_of, tree[2:]))
