"""Draws counts as bars: HTML with classes of style.py, in which every text is escaped."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from forky_core.views.voting import PollResult, PollResultRow
from pages.ui.components.markdown import showable


def bars_html(outcome: PollResult, label: Callable[[str], str], *, mine: str = "") -> str:
    """Return a bar for each answer, for ties and for “none”; `label` names a model, `mine` is the reader's choice."""
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
