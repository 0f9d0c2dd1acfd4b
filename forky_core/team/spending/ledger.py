"""Who spent what: sums of the calls that were paid for, by person, model, conversation, branch or day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

from forky_core.csv_lines import csv_line
from forky_core.team.database import TeamDatabase
from forky_core.team.spending.amounts import NANO

By = Literal["person", "model", "conversation", "branch", "day"]
BY: tuple[By, ...] = get_args(By)
_COLUMNS: dict[By, tuple[str, ...]] = {
    "person": ("person",),
    "model": ("model",),
    "conversation": ("conversation",),
    "branch": ("conversation", "branch"),
    "day": ("day",),
}


@dataclass(frozen=True, slots=True)
class Sum:
    """What all calls of a kind cost."""

    key: tuple[str, ...]
    """The ids or names by which they were added up; of a branch, its conversation and its name."""
    calls: int
    messages: int
    """Paid for by the workspace."""
    dollars: int
    """Billionths of a dollar, paid for by the workspace."""
    own_dollars: int
    """Likewise, paid for by people's own keys."""
    unpriced: int
    """Calls whose price is not known, which count as nothing in `dollars`."""


class Ledger:
    """The calls of one workspace."""

    def __init__(self, database: TeamDatabase, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    def sums(self, by: By, *, person: str | None = None, since: str = "") -> Sequence[Sum]:
        """The sums, dearest first, those of days newest first; with `person`, of their calls only. `since` is a day."""
        columns = ", ".join(_COLUMNS[by])
        order = "day DESC" if by == "day" else "3 DESC, 2 DESC, 1"
        return self._summed(columns, order, person, since)

    def total(self, *, person: str | None = None, since: str = "") -> Sum:
        """The sum of all calls."""
        found = self._summed("''", "1", person, since)
        return found[0] if found else Sum(("",), 0, 0, 0, 0, 0)

    def lines(self, *, person: str | None = None, since: str = "") -> Sequence[tuple[tuple[str, ...], Sum]]:
        """The sums of each day, person, model, conversation and branch together, oldest first."""
        found = self._summed("day, person, model, conversation, branch", "day, person, model", person, since)
        return [(one.key, one) for one in found]

    def _summed(self, columns: str, order: str, person: str | None, since: str) -> list[Sum]:
        width = columns.count(",") + 1
        ordered = order.replace("3 DESC", "dollars_paid DESC").replace("2 DESC", "calls DESC")
        grouped = f"GROUP BY {columns}" if columns != "''" else ""
        rows = self._database.rows(
            f"SELECT {columns}, count(*) AS calls, sum(CASE own_key WHEN 0 THEN messages ELSE 0 END), "  # noqa: S608 - fixed texts
            "sum(CASE own_key WHEN 0 THEN dollars ELSE 0 END) AS dollars_paid, "
            "sum(CASE own_key WHEN 1 THEN dollars ELSE 0 END), sum(1 - priced) "
            "FROM ledger WHERE workspace = ? AND day >= ? AND (CAST(? AS TEXT) IS NULL OR person = ?) "
            f"{grouped} HAVING count(*) > 0 ORDER BY {ordered}",
            self._workspace,
            since,
            person,
            person,
        )
        return [Sum(tuple(row[:width]), *row[width:]) for row in rows]


def as_csv(
    lines: Sequence[tuple[tuple[str, ...], Sum]],
    name_of: Callable[[str], str],
    title_of: Callable[[str], str],
) -> Iterator[bytes]:
    """The lines as a table that spreadsheets open; amounts are in US dollars."""
    yield b"\xef\xbb\xbf" + csv_line(
        (
            "day",
            "person",
            "model",
            "conversation",
            "branch",
            "calls",
            "messages",
            "dollars",
            "own key",
            "unpriced",
        )
    )
    for (day, person, model, conversation, branch), one in lines:
        title = title_of(conversation)
        # Where the reader does not see a conversation, its branches are not named either.
        shown = branch if title or not conversation else ""
        amounts = (_plain(one.dollars), _plain(one.own_dollars))
        yield csv_line(
            (day, name_of(person), model, title, shown, one.calls, one.messages, *amounts, one.unpriced)
        )


def _plain(nano: int) -> str:
    return f"{Decimal(nano) / NANO:f}"
