"""`forky admin`: the people of a team, who is invited, and the audit log. It works while the server
runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from forky_core.cli import admin_allowance
from forky_core.cli.admin_backup import add_backup
from forky_core.cli.admin_people import add_actions
from forky_core.cli.opened_team import named_member, opened_team, settings_at
from forky_core.cli.plain import one_line, plain
from forky_core.gateway.access.team_sign_in import JOIN
from forky_core.gateway.access.ways.reset import OPEN
from forky_core.people.account import OWNERS_HOURS, reset_link
from forky_core.people.audit_report import as_json_lines, sentence
from forky_core.people.former_workspaces import former_workspaces
from forky_core.people.invitations import DAYS
from forky_core.people.members import Member
from forky_core.people.roles import ASSIGNABLE, role_named
from forky_core.people.team import Team
from forky_core.process.settings import Settings
from forky_core.views.times import stamp

_LOCAL = "http://127.0.0.1:8501"
"""The default address of a server on this machine."""
LAST = 50
"""How many entries of the audit log are printed by default."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("admin", help="manage a team, also while its server runs")
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(
        name: str, run: Callable[[Team, argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=help)
        made.set_defaults(run=lambda options: _run(run, options), makes_database=None)
        return made

    roles = ", ".join(role.word for role in ASSIGNABLE)
    people = action("people", run_people, "list everybody who is a member")
    invite = action("invite", run_invite, "make an invitation and print its address, this once")
    invite.add_argument("role", help=f"the role of whoever accepts it: {roles}")
    invite.add_argument(
        "--email",
        default="",
        metavar="ADDRESS",
        help="the only address that it is for; nothing is sent to it",
    )
    invite.add_argument("--days", type=int, default=DAYS, help=f"until it expires (default: {DAYS})")
    invite.add_argument("--uses", type=int, default=1, help="how many people may accept it (default: 1)")
    invite.add_argument("--address", help="where Forky is reached (default: FORKY_ORIGINS, or this machine)")
    role = action("role", run_role, "give somebody another role")
    role.add_argument("handle", help="whose: `forky admin people` lists the handles")
    role.add_argument("role", help=roles)
    remove = action("remove", run_remove, "end somebody's membership; what they wrote stays")
    remove.add_argument("handle", help="whose")
    sign_out = action("sign-out", run_sign_out, "sign somebody out of every browser")
    sign_out.add_argument("handle", help="whom")
    reset = action(
        "reset-password", run_reset_password, "print a link to another password for somebody, this once"
    )
    reset.add_argument("handle", help="whose")
    reset.add_argument("--address", help="where Forky is reached (default: FORKY_ORIGINS, or this machine)")
    audit = action("audit", run_audit, "print the audit log, and check that it is whole")
    audit.add_argument(
        "--last", type=int, default=LAST, metavar="N", help=f"entries (default: {LAST}; 0: all)"
    )
    add_actions(actions)
    allowance = admin_allowance.add_to(action)
    for one in (people, invite, role, remove, sign_out, reset, audit, allowance):
        one.add_argument("--json", action="store_true", help="one JSON object a line")
    add_backup(action, actions)


def _run(run: Callable[[Team, argparse.Namespace], int], options: argparse.Namespace) -> int:
    with opened_team(options.database, options.in_workspace) as team:
        others = former_workspaces(team, settings_at(options.database, options.in_workspace).database)
        if others is not None:
            print(plain(others), file=sys.stderr)
        return run(team, options)


def run_people(team: Team, options: argparse.Namespace) -> int:
    for member in team.members.all():
        browsers = len(team.sessions.of(member.id))
        if options.json:
            print(json.dumps({**_as_json(member), "sessions": browsers}, ensure_ascii=False))
        else:
            many = "1 browser" if browsers == 1 else f"{browsers} browsers"
            print(
                f"{member.handle:<20}  {member.role.word:<9}  {stamp(member.since)}  {one_line(member.name)}, {many}"
            )
    if handles := ", ".join(member.handle for member in team.members.locked_out()):
        print(
            f"Passkeys and links by mail let nobody in any more, and these people had no other way: {handles}. "
            "`forky admin reset-password HANDLE` makes a link with which one of them chooses a password.",
            file=sys.stderr,
        )
    return 0


def run_invite(team: Team, options: argparse.Namespace) -> int:
    invitation, secret = team.invitations.make(
        role_named(options.role), email=options.email, days=options.days, uses=options.uses
    )
    address = f"{_base(options.address)}{JOIN}/{secret}"
    if options.json:
        fields = {"id": invitation.id, "role": invitation.role.word, "email": invitation.email}
        print(
            json.dumps({**fields, "expires": invitation.expires, "uses": invitation.uses, "address": address})
        )
    else:
        print(address)
        print(f"It makes whoever opens it {invitation.role.phrase}, until {stamp(invitation.expires)}.")
    return 0


def run_role(team: Team, options: argparse.Namespace) -> int:
    member = named_member(team, options.handle)
    role = role_named(options.role)
    team.members.set_role(member.id, role, by="")
    since = "already" if member.role is role else "from now on"
    return _say(options, team.members.member(member.id), f"{member.name} is {role.phrase} {since}.")


def run_remove(team: Team, options: argparse.Namespace) -> int:
    member = named_member(team, options.handle)
    team.members.remove(member.id, by="")
    return _say(options, member, f"{member.name} is no longer a member.")


def run_sign_out(team: Team, options: argparse.Namespace) -> int:
    member = named_member(team, options.handle)
    team.sessions.end_all(member.id, by="")
    return _say(options, member, f"{member.name} is signed out of every browser.")


def run_reset_password(team: Team, options: argparse.Namespace) -> int:
    member = named_member(team, options.handle)
    address = f"{_base(options.address)}{OPEN}/{reset_link(team, member.id, by='')}"
    if options.json:
        print(json.dumps({**_as_json(member), "address": address}, ensure_ascii=False))
    else:
        print(address)
        name = one_line(member.name)
        print(
            f"Whoever opens it within {OWNERS_HOURS} hours gets in as {name}, who is then signed out elsewhere."
        )
    return 0


def run_audit(team: Team, options: argparse.Namespace) -> int:
    entries = team.audit.entries(most=options.last or None)
    if options.json:
        for line in as_json_lines(entries, team.members.name_of):
            print(line.decode(), end="")
    else:
        for entry in entries:
            text = sentence(entry, team.members.full_name_of, lambda id: f"the conversation {id}")
            print(f"{entry.number:>6}  {stamp(entry.at)}  {one_line(text)}")
    broken = team.audit.first_broken()
    if broken is not None:
        print(
            f"The log is not whole: entry {broken} was changed, or one before it is missing.", file=sys.stderr
        )
    return 0 if broken is None else 1


def _say(options: argparse.Namespace, member: Member, sentence: str) -> int:
    print(json.dumps(_as_json(member), ensure_ascii=False) if options.json else one_line(sentence))
    return 0


def _as_json(member: Member) -> dict[str, object]:
    return {
        "id": member.id,
        "handle": member.handle,
        "name": member.name,
        "email": member.email,
        "role": member.role.word,
        "since": member.since,
    }


def _base(address: str | None) -> str:
    """Return the beginning of the server's addresses. The default is a server on this machine, which is then
    printed.
    """
    base = address or next(iter(Settings.from_environment().origins), "")
    if not base:
        print(
            f"Neither --address nor FORKY_ORIGINS is given: this is for a server at {_LOCAL}.",
            file=sys.stderr,
        )
    return (base or _LOCAL).rstrip("/")
