"""A replay as a document: the graph with a slider over the operations, which its script draws from the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forky_core.model.parts import Json
from forky_core.showing.document import foot, head
from forky_core.showing.escaping import data_block, safe
from forky_core.showing.replay import Replay, ReplayFrame, ReplayRow
from forky_core.views.shelf import count, title_or_placeholder

ROLES = ("user", "assistant", "system", "tool")
_TEXT = 90


def replay_page(made: Replay, *, served: bool = False) -> Iterator[str]:
    """The document, piece by piece."""
    yield head("replay", f"Replay of {title_or_placeholder(made.title)}", served=served)
    yield (
        f'<header id="top"><h1 dir="auto">{safe(title_or_placeholder(made.title))}</h1><p id="count"></p></header>\n'
        '<main id="stage"><div id="graph" tabindex="0" role="img" aria-label="The graph at this operation">'
        '<div id="tall"><svg id="svg"></svg></div></div>'
        '<aside id="now" aria-live="polite"><p id="verb"></p><h2 id="said" dir="auto"></h2><p id="when"></p>'
        '<p id="does"></p><div id="branches"></div><ol id="around"></ol></aside></main>\n'
    )
    yield _CONTROLS.format(last=len(made.frames))
    yield (
        f"<noscript><p>This page plays {count(len(made.frames), 'operation')}, for which it needs its script.</p></noscript>"
    )
    yield data_block("film", film(made))
    yield foot("replay")


_CONTROLS = (
    '<nav id="controls" class="scripts" aria-label="Replay">'
    '<input id="slider" type="range" min="1" max="{last}" value="{last}" step="1" aria-label="Operation">'
    '<div class="buttons"><button type="button" data-act="play" id="play" aria-label="Play" title="Play (Space)">▶</button>'
    '<button type="button" data-act="back" aria-label="One back" title="One back (←)">←</button>'
    '<button type="button" data-act="next" aria-label="One on" title="One on (→)">→</button>'
    '<label>Operation <input id="number" type="number" min="1" max="{last}" value="{last}"></label>'
    '<label>Pace <select id="pace"><option value="1">1 a second</option><option value="3">3 a second</option>'
    '<option value="10">10 a second</option><option value="film">All in 30 seconds</option></select></label>'
    '<span class="rest"></span><button type="button" data-act="theme" title="Light or dark (T)">Theme</button>'
    '<button type="button" data-act="full" title="Full screen (F)">Full screen</button>'
    '<button type="button" data-act="leave" title="Leave (Esc)" class="served">Leave</button></div></nav>\n'
    '<div id="told" class="scripts" role="status"></div>\n'
)


def film(made: Replay) -> dict[str, Json]:
    """The replay as small JSON: names once and then their numbers, runs of rows as their first and their length."""
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
        "actors": actors.known(),
        "verbs": verbs.known(),
        "authors": authors.known(),
    }


class _Names:
    """Each name once, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def known(self) -> list[Json]:
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
    """First and length of each run: 3, 4, 5, 9 is 3, 3, 9, 1."""
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
