"""The allowances that owners set for the people of a team: for single persons, and for all who have none of their own.

They are in the people's database, where `forky admin` changes them while the app runs. What an earlier version had set
there holds on: limits of a day, a balance as an allowance in all, and “only credit” as one of nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from forky_core.conversation.allowance.account import LIMITS, Account, Allowance, LimitName, Sum, day_of
from forky_core.conversation.allowance.amounts import MOST, amount_text
from forky_core.conversation.allowance.book import Spender
from forky_core.model.errors import BadContent, NotFound
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase
from forky_core.people.members import Members

Field = Literal[LimitName, "unpriced"]
FIELDS: tuple[Field, ...] = (*LIMITS, "unpriced")
EVERYBODY = ""
"""In place of a person's id."""
_STORED: Mapping[Field, str] = {
    "answers_a_day": "messages_a_day",
    "dollars_a_day": "dollars_a_day",
    "answers_in_all": "messages_in_all",
    "dollars_in_all": "dollars_in_all",
    "unpriced": "counts_unpriced",
}
"""The names of the fields in the table `limits`."""
_ONLY_CREDIT = "needs_credit"
_NO_BALANCE = "balance_ended"
_UNLIMITED = -1
Fields = Mapping[Field, int | None]
"""What is set, money in billionths of a dollar and `unpriced` as 0 or 1; None says that it is not limited."""
_LEDGER = (
    "SELECT coalesce(sum(messages), 0), coalesce(sum(dollars), 0) FROM ledger "
    "WHERE workspace = ? AND person = ? AND day >= ? AND own_key = 0"
)
_HOLDS = (
    "SELECT coalesce(sum(messages), 0), coalesce(sum(used), 0) FROM holds "
    "WHERE workspace = ? AND person = ? AND day >= ? AND arrived = 1"
)
_LIMITS = "SELECT name, value FROM limits WHERE workspace = ? AND person = ?"


class Allowances:
    """The allowances of everybody in one workspace."""

    def __init__(
        self,
        database: TeamDatabase,
        audit: Audit,
        members: Members,
        workspace: str,
        clock: Callable[[], int],
    ) -> None:
        self._database = database
        self._audit = audit
        self._members = members
        self._workspace = workspace
        self._clock = clock

    def of(self, person: str) -> Allowance:
        """The allowance that holds for a person."""
        found = {**self.own(EVERYBODY), **self.own(person)}
        return Allowance(
            found.get("answers_a_day"),
            found.get("dollars_a_day"),
            found.get("answers_in_all"),
            found.get("dollars_in_all"),
            unpriced=bool(found.get("unpriced")) and self._lets_unpriced(person, found),
        )

    def _lets_unpriced(self, person: str, found: Fields) -> bool:
        """An earlier version let models of unknown price pass only where answers were limited, too."""
        if found.get("answers_a_day") is not None or found.get("answers_in_all") is not None:
            return True
        return any(row[0] == _NO_BALANCE for who in (person, EVERYBODY) for row in self._known(_LIMITS, who))

    def own(self, person: str) -> Fields:
        """The allowance that was set for a person, or with `EVERYBODY` for those who have none of their own."""
        rows = self._known(_LIMITS, person)
        known: dict[str, int] = {row[0]: row[1] for row in rows}
        found: dict[Field, int | None] = {}
        if _NO_BALANCE not in known:
            if _ONLY_CREDIT in known:
                found["dollars_in_all"] = 0 if known[_ONLY_CREDIT] else None
            if balances := self._balances(person):
                found["answers_in_all"] = balances["messages"][1] if "messages" in balances else None
                found["dollars_in_all"] = balances["dollars"][1] if "dollars" in balances else None
        for name in FIELDS:
            if _STORED[name] in known:
                value = known[_STORED[name]]
                found[name] = None if value == _UNLIMITED else value
        return found

    def set(self, person: str, fields: Fields, *, by: str) -> None:
        """Set the allowance of a person or of `EVERYBODY`; a field that is not named is everybody's.

        Raises:
            NotFound: there is no such person.
            BadContent: a value makes no sense.
        """
        for name, value in fields.items():
            most = 1 if name == "unpriced" else MOST[_unit(name)]
            if value is not None and not 0 <= value <= most:
                raise BadContent("A limit is a number, 0 or more.")
        with self._database.writing() as connection:
            if person != EVERYBODY and not self._members.role_of(person):
                raise NotFound("That person is not a member.")
            if self.own(person) == fields:
                return
            # What a balance had been left off as is kept, and not read any more.
            rows = {_STORED[name]: _UNLIMITED if value is None else value for name, value in fields.items()}
            rows[_NO_BALANCE] = 1
            for column in (*_STORED.values(), _NO_BALANCE):
                connection.execute(
                    "DELETE FROM limits WHERE workspace = ? AND person = ? AND name = ?",
                    (self._workspace, person, column),
                )
            connection.executemany(
                "INSERT INTO limits VALUES (?, ?, ?, ?)",
                [(self._workspace, person, column, value) for column, value in rows.items()],
            )
            about = {"member": person} if person != EVERYBODY else {}
            self._audit.note("allowance set", by, **about, allowance=allowance_text(fields))

    def spender(self, person: str) -> Spender:
        """The account to which a member's calls are charged."""
        return Spender(f"person/{person}", "You", self.of(person), lambda: self._start(person))

    def _start(self, person: str) -> Account:
        """What a person had spent before there were accounts, by the balances and the ledger of an earlier version; and
        what had arrived of calls that it was still making when it was killed.
        """
        today = day_of(self._clock())
        in_all, balances = self._sum(_LEDGER, person), self._balances(person)
        used = {unit: granted - amount for unit, (amount, granted) in balances.items()}
        in_all = Sum(used.get("messages", in_all.answers), used.get("dollars", in_all.dollars))
        return Account(
            today,
            self._sum(_LEDGER, person, today) + self._sum(_HOLDS, person, today),
            in_all + self._sum(_HOLDS, person),
        )

    def _sum(self, statement: str, person: str, since: str = "") -> Sum:
        """What a person spent from a day on."""
        row = self._database.row(statement, self._workspace, person, since)
        return Sum(int(row[0]), int(row[1])) if row else Sum()

    def _balances(self, person: str) -> Mapping[str, tuple[int, int]]:
        """What is left of a balance and what was granted, by its unit."""
        rows = self._known(
            "SELECT unit, amount, granted FROM balances WHERE workspace = ? AND person = ?", person
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def _known(self, statement: str, person: str) -> Sequence[Any]:
        return self._database.known(statement, self._workspace, person)


def allowance_text(fields: Fields) -> str:
    """An allowance as people read it: "20 answers a day, no limit of dollars in all"; "" if nothing is set."""
    facts = []
    for name in FIELDS:
        if name not in fields:
            continue
        value, words = fields[name], name.replace("_", " ")
        if name == "unpriced":
            facts.append(f"models of unknown price {'count as answers' if value else 'may not be asked'}")
        elif value is None:
            facts.append(f"any {words}")
        else:
            facts.append(f"{amount_text(_unit(name), value)} {'a day' if name.endswith('day') else 'in all'}")
    return ", ".join(facts)


def _unit(name: Field) -> Literal["dollars", "answers"]:
    return "dollars" if name.startswith("dollars") else "answers"
