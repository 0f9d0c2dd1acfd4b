"""`forky admin allowance`: how much the people of a team may use models that cost something."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from forky_core.cli.opened_team import named_member
from forky_core.conversation.allowance.account import LIMITS
from forky_core.conversation.allowance.amounts import NANO, Unit, read_amount
from forky_core.model.errors import BadContent
from forky_core.people.allowances import EVERYBODY, FIELDS, Field, allowance_text
from forky_core.people.team import Team

ALL = "everybody"
"""Stands for a handle: everybody without an allowance of their own."""
_NONE, _USUAL = "none", "usual"


def add_to(
    action: Callable[[str, Callable[[Team, argparse.Namespace], int], str], argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command; `action` adds an action to `forky admin`."""
    command = action("allowance", run, "set what somebody may have of models, or without an option show it")
    command.add_argument("handle", help=f"whose; “{ALL}”: of whoever has none of their own")
    for name in LIMITS:
        what = "US dollars" if name.startswith("dollars") else "answers"
        command.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="N",
            help=f"a number of {what}; “{_NONE}”: no limit; “{_USUAL}”: everybody's",
        )
    command.add_argument(
        "--unpriced",
        metavar="yes|no",
        help="whether models whose price nobody knows may be asked where money is limited; they count as answers alone",
    )
    return command


def run(team: Team, options: argparse.Namespace) -> int:
    person = EVERYBODY
    if options.handle != ALL:
        person = named_member(team, options.handle).id
    fields = dict(team.allowances.own(person))
    for name in FIELDS:
        word = getattr(options, name)
        if word is None:
            continue
        if word.casefold() == _USUAL:
            fields.pop(name, None)
        else:
            fields[name] = _read(name, word.casefold())
    if fields != team.allowances.own(person):
        team.allowances.set(person, fields, by="")
    if options.json:
        shown = {name: _shown(name, value) for name, value in fields.items()}
        print(json.dumps({"handle": options.handle, "allowance": shown}))
    else:
        nothing = "no limit" if person == EVERYBODY else "as everybody"
        print(f"{options.handle}: {allowance_text(fields) or nothing}")
    return 0


def _read(name: Field, word: str) -> int | None:
    if name == "unpriced":
        if word not in {"yes", "no"}:
            raise BadContent("Write yes or no.")
        return int(word == "yes")
    unit: Unit = "dollars" if name.startswith("dollars") else "answers"
    return None if word == _NONE else read_amount(unit, word)


def _shown(name: Field, value: int | None) -> float | None:
    if name == "unpriced":
        return bool(value)
    return value / NANO if name.startswith("dollars") and value is not None else value
