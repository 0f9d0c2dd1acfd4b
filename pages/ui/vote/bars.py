"""Counts and intervals as bars: HTML with classes of style.py, where every word is escaped."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from forky_core.views.voting import PollResult, PollResultRow
from forky_core.votes.ratings import Ratings
from pages.ui.components.markdown import showable


def bars_html(outcome: PollResult, label: Callable[[str], str], *, mine: str = "") -> str:
    """A bar for each answer, for ties and for none; `label` names a model, `mine` is the reader's own choice."""
    rows = [_answer(row, label, mine) for row in outcome.rows]
    for choice, word, votes in (("tie", "Tie", outcome.ties), ("bad", "None is good enough", outcome.bad)):
        if votes or mine == choice:
            rows.append(
                _bar("", word, _own(choice, mine), votes, votes / outcome.votes if outcome.votes else 0, "")
            )
    if outcome.unread:
        rows.append(_bar("", "Could not be read", "", outcome.unread, 0, ""))
    return f'<div class="fk-bars" role="list">{"".join(rows)}</div>'


def _answer(row: PollResultRow, label: Callable[[str], str], mine: str) -> str:
    option = row.option
    name = option.made_by(label) or f"Answer {option.letter}"
    if option.removed:
        name += " (removed)"
    scores = "".join(
        f'<span class="fk-score">{escape(showable(criterion))} <b>{score.mean:.1f}</b></span>'
        for criterion, score in row.scores.items()
    )
    return _bar(option.letter, name, _own(option.letter, mine), row.votes, row.share, scores, leads=row.leads)


def _own(choice: str, mine: str) -> str:
    return '<span class="fk-own">your vote</span>' if mine == choice else ""


def _bar(
    letter: str, name: str, own: str, votes: int, share: float, scores: str, *, leads: bool = False
) -> str:
    badge = (
        f'<span class="fk-letter">{letter}</span>' if letter else '<span class="fk-letter fk-none"></span>'
    )
    counted = f"{votes} · {share:.0%}" if votes else "0"
    return (
        f'<div class="fk-bar{" fk-leads" if leads else ""}" role="listitem">{badge}<div class="fk-body">'
        f'<div class="fk-line"><span class="fk-name">{escape(showable(name))}</span>{own}'
        f'<span class="fk-count">{counted}</span></div>'
        f'<div class="fk-track"><div class="fk-fill" style="width:{share:.2%}"></div></div>'
        f"{f'<div class=fk-scores>{scores}</div>' if scores else ''}</div></div>"
    )


def ratings_html(ratings: Ratings, label: Callable[[str], str]) -> str:
    """A row for each rating with its interval, all on one scale."""
    low = min(row.lower for row in ratings.rows)
    high = max(row.upper for row in ratings.rows)
    width = max(high - low, 1.0)

    def at(value: float) -> float:
        return (value - low) / width

    rows = "".join(
        f'<tr{" class=fk-leads" if row.label == ratings.winner else ""}><td class="fk-rank">{row.rank}</td>'
        f'<th scope="row">{escape(showable(label(row.label)))}</th>'
        f'<td class="fk-interval" title="{row.lower:.0f} to {row.upper:.0f}"><div class="fk-scale">'
        f'<div class="fk-range" style="left:{at(row.lower):.2%};width:{at(row.upper) - at(row.lower):.2%}"></div>'
        f'<div class="fk-point" style="left:{at(row.rating):.2%}"></div></div></td>'
        f'<td class="fk-number">{row.rating:.0f}<small>{row.lower:.0f} to {row.upper:.0f}</small></td>'
        f'<td class="fk-number fk-votes">{row.votes}</td></tr>'
        for row in ratings.rows
    )
    return (
        '<table class="fk-ratings"><thead><tr><th scope="col">Rank</th><th scope="col">Name</th>'
        '<th scope="col" class="fk-interval">95 % interval</th><th scope="col" class="fk-number">Rating</th>'
        f'<th scope="col" class="fk-number fk-votes">Votes</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def matrix_html(ratings: Ratings, label: Callable[[str], str]) -> str:
    """How often each row beat each column, and the share of their meetings that is."""
    head = "".join(f'<th scope="col">{escape(showable(label(row.label)))}</th>' for row in ratings.rows)
    body = "".join(
        f'<tr><th scope="row">{escape(showable(label(row.label)))}</th>'
        + "".join(_cell(ratings, at, other) for other in range(len(ratings.rows)))
        + "</tr>"
        for at, row in enumerate(ratings.rows)
    )
    return f'<div class="fk-wide"><table class="fk-matrix"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(ratings: Ratings, at: int, other: int) -> str:
    won, lost = ratings.wins[at][other], ratings.wins[other][at]
    if at == other or not won + lost:
        return '<td class="fk-empty">–</td>'
    share = won / (won + lost)
    return f'<td style="--share:{share:.2f}">{won:g}<small>{share:.0%}</small></td>'
