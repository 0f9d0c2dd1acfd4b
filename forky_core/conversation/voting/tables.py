"""Votes as CSV, for spreadsheets and other programs.

A cell that a spreadsheet would take for a formula gets an apostrophe before it: notes and names are what anybody typed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from forky_core.conversation.voting.revealed import RevealedPoll

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def votes_csv(polls: Iterable[RevealedPoll]) -> str:
    """One line for each vote of these polls."""
    head = (
        "conversation",
        "title",
        "poll",
        "asked",
        "voter",
        "choice",
        "model",
        "branch",
        "note",
        "scores",
        "at",
    )
    return _csv([head, *(line for one in polls for line in _votes(one))])


def _votes(one: RevealedPoll) -> Iterable[Sequence[object]]:
    for vote in one.votes:
        made = next((c for c in one.poll.candidates if c.message == vote.choice), None)
        scores = "; ".join(
            f"{message.removeprefix('b2:')[:8]} {criterion}: {score}"
            for message, given in vote.scores.items()
            for criterion, score in given.items()
        )
        yield (
            one.conversation,
            one.view.title,
            one.poll.number,
            one.poll.title,
            vote.person,
            vote.choice,
            ", ".join(made.models) if made is not None else "",
            ", ".join(made.branches) if made is not None else "",
            vote.note,
            scores,
            datetime.fromtimestamp(vote.at / 1e6, UTC).isoformat(timespec="seconds"),
        )


def _csv(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([[_safe(cell) for cell in row] for row in rows])
    return out.getvalue()


def _safe(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
