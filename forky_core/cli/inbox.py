"""`forky inbox`: the notices for a member of a team. It works while the server runs."""

from __future__ import annotations

import argparse
import json

from forky_core.cli.opened_team import named_member, opened_team
from forky_core.cli.plain import one_line
from forky_core.views.times import stamp

LAST = 50
"""How many notices are printed by default."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("inbox", help="list what somebody of a team has not read yet")
    command.add_argument("handle", help="whose: `forky admin people` lists the handles")
    command.add_argument("--all", action="store_true", help="also what was read")
    command.add_argument(
        "--last", type=int, default=LAST, metavar="N", help=f"the newest N (default: {LAST})"
    )
    command.add_argument("--mark-read", action="store_true", help="mark all of it as read")
    command.add_argument("--json", action="store_true", help="one JSON object a line")
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    with opened_team(options.database, options.in_workspace) as team:
        person = named_member(team, options.handle).id
        notices = team.inbox.of(person, unread=not options.all, most=max(0, options.last))
        for notice in notices:
            if options.json:
                fields = {
                    "number": notice.number,
                    "kind": notice.kind,
                    "sentence": notice.sentence,
                    "quote": notice.quote,
                    "address": notice.address,
                    "at": notice.at,
                    "read": notice.read,
                }
                print(json.dumps(fields, ensure_ascii=False))
            else:
                quote = f" “{one_line(notice.quote)}”" if notice.quote else ""
                mark = " " if notice.read else "•"
                print(f"{mark} {stamp(notice.at)}  {one_line(notice.sentence)}{quote}")
                print(f"  {notice.address}")
        if not notices and not options.json:
            print("Nothing." if options.all else "Everything is read.")
        if options.mark_read:
            team.inbox.mark_all(person)
    return 0
