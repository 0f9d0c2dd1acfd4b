"""Which colour a branch has: the same in the graph, the notebook, a comparison and an exported page.

Colours are numbers, and whoever draws has a list of inks. A branch's number follows from its name, so that it stays
when other branches come and go; a name whose number is taken gets the next free one. With more branches than colours
some share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from zlib import crc32

from forky_core.model import View
from forky_core.views.layout.inks import INKS
from forky_core.views.layout.shape import MAIN, Shape

COLORS = len(INKS) - 1
"""The number of colours of branches."""
UNNAMED = COLORS
"""The colour of a line that no branch leads to."""


def branch_colors(names: Iterable[str]) -> Mapping[str, int]:
    """Return a colour for each branch; `main` has the first. Of two names that want the same colour, the first one of
    `names` has it.
    """
    return _branch_colors(tuple(names))


@lru_cache(maxsize=32)
def _branch_colors(names: tuple[str, ...]) -> Mapping[str, int]:
    taken = [0] * COLORS
    found: dict[str, int] = {}
    for name in names:
        if name == MAIN:
            color = 0
        else:
            first = crc32(name.encode("utf-8", "surrogatepass")) % (COLORS - 1)
            places = (1 + (first + step) % (COLORS - 1) for step in range(COLORS - 1))
            color = min(places, key=lambda place: taken[place])
        taken[color] += 1
        found[name] = color
    return MappingProxyType(found)


def line_colors(shape: Shape, view: View) -> tuple[int, ...]:
    """Return the colour of each of the shape's lines."""
    colors = branch_colors(view.branches)
    return tuple(colors.get(name, UNNAMED) for name in shape.line_names)
