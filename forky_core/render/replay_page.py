"""A replay as a page (templates/replay.html), whose script draws the graph from differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forky_core.model.parts import Json
from forky_core.render.page import page
from forky_core.render.replay import Replay, ReplayFrame, ReplayRow
from forky_core.views.shelf import title_or_placeholder

ROLES = ("user", "assistant", "system", "tool")
_TEXT = 90


def replay_page(made: Replay, *, served: bool = False) -> Iterator[str]:
    """Yield the page piece by piece; `presentation_page` explains `served`."""
    title = f"Replay of {title_or_placeholder(made.title)}"
    return page("replay", served=served, title=title, made=made, film=film(made), last=len(made.frames))


def film(made: Replay) -> dict[str, Json]:
    """Return the replay as compact JSON: each name is stored once and used by number, and rows are stored as runs."""
    actors, verbs = _Names(), _Names()
    frames: list[Json] = [_frame(frame, actors, verbs) for frame in made.frames]
    authors = _Names()
    return {
        "rows": [_row(row, authors) for row in made.rows],
        "edges": [
            [edge.source, edge.target, edge.lane, edge.color, int(edge.kind == "merge")]
            for edge in made.layout.edges
        ],
        "lanes": made.layout.lanes,
        "frames": frames,
        "actors": actors.in_order(),
        "verbs": verbs.in_order(),
        "authors": authors.in_order(),
    }


class _Names:
    """Numbers names in the order in which they first occur."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def in_order(self) -> list[Json]:
        return list(self._numbers)


def _row(row: ReplayRow, authors: _Names) -> Json:
    text = row.text if len(row.text) <= _TEXT else row.text[: _TEXT - 1] + "…"
    role = ROLES.index(row.role) if row.role in ROLES else 0
    return [row.lane, role, int(row.merge), authors.number(row.who), text, row.color]


def _frame(frame: ReplayFrame, actors: _Names, verbs: _Names) -> Json:
    drawn: list[Json] = [
        frame.at // 1_000_000,
        actors.number(frame.actor),
        verbs.number(frame.verb),
        frame.summary,
        _runs(frame.appeared),
        _runs(frame.disappeared),
        dict(frame.moved),
    ]
    return drawn if frame.title is None else [*drawn, frame.title]


def _runs(rows: Sequence[int]) -> list[Json]:
    """Return the first number and the length of each run: 3, 4, 5, 9 becomes 3, 3, 9, 1."""
    runs: list[Json] = []
    start = length = 0
    for row in rows:
        if length and row == start + length:
            length += 1
            continue
        if length:
            runs += (start, length)
        start, length = row, 1
    return [*runs, start, length] if length else runs
