"""The colours of branches as inks for a light and a dark page, and as a style sheet for exported ones.

They have equal weight, so that colour tells branches apart and never ranks them. Names are written in them, so each
reads at 4.5:1 at least. Only what the standard library has is imported (render/policy.py).
"""

from __future__ import annotations

INKS = (
    ("#1f6f63", "#5fb7a6"),
    ("#98521f", "#e0965c"),
    ("#5b5bb0", "#9a9ae6"),
    ("#a3446f", "#dc84ab"),
    ("#2f6894", "#78b3e0"),
    ("#68621f", "#c2b957"),
    ("#b03530", "#ee8178"),
    ("#4a6840", "#93b985"),
    ("#7c45ad", "#bd93ea"),
    ("#0b6d80", "#5fc0d6"),
    ("#8a5a3c", "#c9977a"),
    ("#9a3b9c", "#d98ade"),
    ("#3f54b8", "#8fa2f2"),
    ("#8b5000", "#dba544"),
    ("#8d3450", "#d98799"),
    ("#596371", "#a4aebb"),
    ("#5f6664", "#97a09e"),
)
"""By the number of a colour: on light, on dark. The last one is of lines that no branch leads to."""


def ink_css() -> str:
    """Return a rule for each colour, which sets `--lane` for elements of the class `c` and its number."""
    rules = (
        f".c{number} {{ --lane: light-dark({light}, {dark}); }}" for number, (light, dark) in enumerate(INKS)
    )
    return "\n".join(rules) + "\n"
