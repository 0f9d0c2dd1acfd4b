"""`forky admin grant`, `limit` and `spending`: what the people of a team may spend."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from forky_core.cli.plain import one_line
from forky_core.model.errors import BadContent, NotFound
from forky_core.team.members import Member
from forky_core.team.spending.amounts import NANO, Unit, money, read_amount, said
from forky_core.team.spending.ledger import BY, Sum
from forky_core.team.spending.limits import EVERYBODY, LIMITS, SWITCHES, LimitName, limit_text
from forky_core.team.team import Team

Run = Callable[[Team, argparse.Namespace], int]
Action = Callable[[str, Run, str], argparse.ArgumentParser]

ALL = "everybody"
"""In place of a handle: the limits of whoever has none of their own."""
_NONE, _USUAL = "none", "usual"


def add_to(action: Action) -> tuple[argparse.ArgumentParser, ...]:
    """Add the commands; `action` makes one."""
    grant = action("grant", run_grant, "grant somebody credit: from then on they may spend only that")
    grant.add_argument("handle", help="whom")
    grant.add_argument("amount", help="how much more, in US dollars")
    grant.add_argument(
        "--messages", action="store_true", help="the amount is a number of answers, not of dollars"
    )
    grant.add_argument("--take-back", action="store_true", help="take so much back, of what is not spent")
    limit = action("limit", run_limit, "set a limit, or without a value show them")
    limit.add_argument("handle", help=f"whose; “{ALL}”: of whoever has none of their own")
    limit.add_argument(
        "name", nargs="?", help=f"one of {', '.join(name.replace('_', '-') for name in LIMITS)}, credit"
    )
    limit.add_argument(
        "value",
        nargs="?",
        help=f"a number; “{_NONE}”: no limit; “{_USUAL}”: everybody's; yes or no for needs-credit and counts-unpriced; "
        f"“{_NONE}” for credit ends a balance",
    )
    spending = action("spending", run_spending, "print who spent what")
    spending.add_argument("--by", choices=BY, default="person", help="what is added up (default: person)")
    spending.add_argument(
        "--days", type=int, default=0, metavar="N", help="only of the last N days, with today"
    )
    spending.add_argument("--person", metavar="HANDLE", help="only of this person")
    return grant, limit, spending


def run_grant(team: Team, options: argparse.Namespace) -> int:
    member = _member(team, options.handle)
    unit: Unit = "messages" if options.messages else "dollars"
    amount = read_amount(unit, options.amount)
    change = team.spending.accounts.take_back if options.take_back else team.spending.accounts.grant
    now = change(member.id, unit, amount, by="")
    if options.json:
        fields = {"handle": member.handle, "unit": unit, "left": _number(unit, now.amount)}
        print(json.dumps({**fields, "granted": _number(unit, now.granted)}))
    else:
        print(one_line(f"{member.name} has {said(unit, now.amount)} of {said(unit, now.granted)} left."))
    return 0


def run_limit(team: Team, options: argparse.Namespace) -> int:
    person = EVERYBODY if options.handle == ALL else _member(team, options.handle).id
    if options.name is not None:
        _change_limit(team, person, options.name.replace("-", "_").casefold(), options.value)
    own = team.spending.limits.own(person)
    if options.json:
        shown = {
            name: bool(value) if name in SWITCHES else _limit(name, value) for name, value in own.items()
        }
        print(json.dumps({"handle": options.handle, "limits": shown}))
        return 0
    for name, value in own.items():
        print(f"{name.replace('_', '-'):<18}  {limit_text(name, value)}")
    if not own:
        print("No limit is set." if person == EVERYBODY else "No limit of their own is set.")
    return 0


def _change_limit(team: Team, person: str, name: str, value: str | None) -> None:
    if value is None:
        raise BadContent("A value is missing.", f"Write a number, “{_NONE}” or “{_USUAL}”.")
    word = value.strip().casefold()
    if name == "credit" and word == _NONE:
        team.spending.accounts.end(person, by="")
        return
    known: LimitName | None = next((one for one in LIMITS if one == name), None)
    if known is None:
        names = ", ".join(one.replace("_", "-") for one in LIMITS)
        raise NotFound(f"There is no limit “{name[:40]}”.", f"There are: {names}.")
    if word == _USUAL:
        team.spending.limits.unset(person, known, by="")
        return
    team.spending.limits.set(person, known, _read(known, word), by="")


def _read(name: LimitName, word: str) -> int | None:
    if name in SWITCHES:
        if word not in {"yes", "no"}:
            raise BadContent("Write yes or no.")
        return int(word == "yes")
    if word == _NONE:
        return None
    return (
        read_amount("dollars" if name == "dollars_a_day" else "messages", word)
        if name != "stored_bytes"
        else _size(word)
    )


def _size(word: str) -> int:
    units = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
    factor = units.get(word[-2:], 1)
    number = word.removesuffix(word[-2:]) if factor > 1 else word
    try:
        value = int(Decimal(number.strip()) * factor)
    except ArithmeticError:
        value = -1
    if value < 0:
        raise BadContent(f"“{word[:40]}” is no size.", "Write one such as 500MB or 2GB.")
    return value


def run_spending(team: Team, options: argparse.Namespace) -> int:
    person = _member(team, options.person).id if options.person else None
    since = ""
    if options.days > 0:
        since = (datetime.now(UTC) - timedelta(days=options.days - 1)).date().isoformat()
    for one in team.spending.ledger.sums(options.by, person=person, since=since):
        key = [team.members.name_of(part) if options.by == "person" else part for part in one.key]
        if options.json:
            print(json.dumps({options.by: key if len(key) > 1 else key[0], **_sum(one)}, ensure_ascii=False))
        else:
            label = " · ".join(part or "(none)" for part in key)
            calls = "1 call" if one.calls == 1 else f"{one.calls:,} calls"
            print(one_line(f"{money(one.dollars):>12}  {calls:>12}  {label}"))
    return 0


def _member(team: Team, handle: str) -> Member:
    """The member with this handle, in any case. Raises NotFound if there is none."""
    member = team.members.by_handle(handle)
    if member is None or not member.role:
        raise NotFound(f"Nobody here is “{handle[:40]}”.", "`forky admin people` lists the handles.")
    return member


def _limit(name: LimitName, value: int | None) -> float | None:
    return value / NANO if name == "dollars_a_day" and value is not None else value


def _number(unit: Unit, amount: int) -> float:
    return amount / NANO if unit == "dollars" else amount


def _sum(one: Sum) -> dict[str, object]:
    return {
        "calls": one.calls,
        "messages": one.messages,
        "dollars": one.dollars / NANO,
        "own_key_dollars": one.own_dollars / NANO,
        "unpriced_calls": one.unpriced,
    }
