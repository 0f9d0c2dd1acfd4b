"""A branch's colour follows from its name."""

from __future__ import annotations

from forky_core.views.layout.colors import COLORS, branch_colors
from forky_core.views.layout.inks import INKS, ink_css


def test_as_many_branches_as_colours_have_one_each_and_main_the_first() -> None:
    colors = branch_colors(["main", *(f"side-{number}" for number in range(COLORS - 1))])
    assert colors["main"] == 0 and sorted(colors.values()) == list(range(COLORS))


def test_a_branch_keeps_its_colour_when_others_come_and_when_one_goes_that_came_later() -> None:
    names = ["main", "debug", "upload", "replica"]
    colors = branch_colors(names)
    assert branch_colors([*names, "more", "and more"]).items() >= colors.items()
    assert branch_colors(names[:-1]).items() <= colors.items()
    assert branch_colors(["debug"])["debug"] == colors["debug"]


def test_exported_pages_have_every_ink() -> None:
    assert all(
        f".c{at} {{ --lane: light-dark({one}, {two}); }}" in ink_css() for at, (one, two) in enumerate(INKS)
    )
