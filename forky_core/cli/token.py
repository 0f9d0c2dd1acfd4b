"""`forky token`: manage the tokens for `/v1`. A token is shown only when it is made, and a revoked one never works
again.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line, print_outcome
from forky_core.cli.titles import conversation_called
from forky_core.conversation.allowance.account import Allowance
from forky_core.conversation.allowance.amounts import NANO, Unit, amount_text, read_amount
from forky_core.gateway.pasting import agent_lines, lines_to_paste
from forky_core.gateway.tokens import Token, Tokens
from forky_core.people.token_scopes import SCOPES
from forky_core.people.token_store import OWN_CALLS, WORKSPACE
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("token", help="make, list and revoke the tokens of programs that use /v1")
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    make = actions.add_parser("make", help="make one and print it, this once")
    make.add_argument("name", help="what it is for: the name of a program or a person")
    make.add_argument(
        "--models",
        default="",
        metavar="NAME,NAME",
        help="models it may use, * for any characters (default: all)",
    )
    make.add_argument("--dollars-a-day", metavar="N", help="US dollars it may spend in a day")
    make.add_argument("--dollars-in-all", metavar="N", help="US dollars it may spend in all")
    for old, now in (("--daily", "--dollars-a-day"), ("--in-all", "--dollars-in-all")):
        dest = now.strip("-").replace("-", "_")
        make.add_argument(old, dest=dest, metavar=now, action=_OldName, help=argparse.SUPPRESS)
    make.add_argument("--answers-a-day", metavar="N", help="answers it may have in a day")
    make.add_argument("--answers-in-all", metavar="N", help="answers it may have in all")
    make.add_argument(
        "--unpriced",
        action="store_true",
        help="where its money is limited, models whose price nobody knows too: they count as answers alone",
    )
    make.add_argument(
        "--no-recording", dest="records", action="store_false", help="keep nothing of what it asks"
    )
    make.add_argument(
        "--metrics",
        action="store_true",
        help="for a monitoring program: it reads /metrics, and asks no model",
    )
    make.add_argument(
        "--analysis",
        action="store_true",
        help="it also reads every conversation, as tables: for forky sql --server",
    )
    make.add_argument(
        "--scope",
        default="",
        metavar="SCOPE,SCOPE",
        help=f"what it may do by /mcp, /api/v1 and forky: {', '.join(SCOPES)} (default: ask models by /v1, no more)",
    )
    make.add_argument(
        "--reach",
        default=OWN_CALLS,
        metavar="WHAT",
        help="which conversations it sees then: calls, those that it began (default); workspace, all; or one beside "
        "them, by its title or the beginning of its id",
    )
    make.add_argument(
        "--proposes",
        dest="scope",
        action="store_const",
        const="read,ask,propose",
        help="the same as --scope read,ask,propose: it lands nothing",
    )
    make.add_argument("--address", default="http://127.0.0.1:8501", help="where Forky listens")
    listing = actions.add_parser("list", help="list them")
    revoke = actions.add_parser("revoke", help="take one's rights, at once and for good")
    revoke.add_argument("name", help="its name or id")
    for action in (make, listing, revoke):
        action.add_argument("--json", action="store_true", help="one JSON object a line")
    while_open = "While the app runs, its Settings make, show and revoke tokens, under Other programs."
    make.set_defaults(run=run_make, makes_database=True, while_open=while_open)
    listing.set_defaults(run=run_list, makes_database=False, while_open=while_open)
    revoke.set_defaults(run=run_revoke, makes_database=False, while_open=while_open)


class _OldName(argparse.Action):
    """An option of former versions, which prints its new name."""

    def __call__(
        self, _parser: object, namespace: argparse.Namespace, value: object, option: str | None = None
    ) -> None:
        print(f"{option} is called {self.metavar} now.", file=sys.stderr)
        setattr(namespace, self.dest, value)


def run_make(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    reach = options.reach
    if options.scope and reach not in {OWN_CALLS, WORKSPACE}:
        reach = conversation_called(forky, reach).id
    made = Tokens(forky.store).make(
        options.name,
        models=options.models.split(","),
        allowance=Allowance(
            _amount("answers", options.answers_a_day),
            _amount("dollars", options.dollars_a_day),
            _amount("answers", options.answers_in_all),
            _amount("dollars", options.dollars_in_all),
            unpriced=options.unpriced,
        ),
        records=options.records,
        metrics=options.metrics,
        analysis=options.analysis,
        scopes=options.scope.split(","),
        reach=reach,
    )
    if options.json:
        print(json.dumps({**_as_json(made.token), "token": made.text}), file=out)
    else:
        print(made.text, file=out)
        print(f"It is not shown again.{'' if options.metrics else ' For a client:'}", file=out)
        if not options.metrics:
            print(lines_to_paste(options.address, made.text), file=out)
        if made.token.scopes:
            print("\nFor an agent's program:", file=out)
            print(agent_lines(options.address, made.text), file=out)
    return 0


def run_list(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    tokens = Tokens(forky.store)
    everyone = tokens.all()
    for token in everyone:
        if options.json:
            account = tokens.account(token)
            spent = {
                "spent_today": account.today.dollars / NANO,
                "spent_in_all": account.in_all.dollars / NANO,
            }
            had = {"answers_today": account.today.answers, "answers_had": account.in_all.answers}
            print(json.dumps({**_as_json(token), **spent, **had}), file=out)
        else:
            print(
                f"{token.id}  {stamp(token.created):>16}  {one_line(token.name)}: {described(token)}",
                file=out,
            )
    if not everyone and not options.json:
        print("No token yet. Make one: forky token make NAME", file=out)
    return 0


def run_revoke(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    token = Tokens(forky.store).revoke(options.name)
    return print_outcome(options, _as_json(token), f"“{one_line(token.name)}” is revoked.", out)


def described(token: Token) -> str:
    """Describe the token's rights."""
    if token.revoked:
        return f"revoked {stamp(token.revoked)}"
    if token.metrics:
        return f"…{token.ending}, reads /metrics"
    models = ", ".join(one_line(name) for name in token.models) or "every model"
    limits = [
        f"{amount_text(unit, limit)} {'a day' if name.endswith('day') else 'in all'}"
        for name, unit, limit in token.allowance.limits()
        if limit is not None
    ]
    limit = ", ".join(limits) or "no limit"
    if token.allowance.limits_money and token.unpriced:
        limit += " (models of unknown price count as answers)"
    reads = ", reads every conversation as tables" if token.analysis else ""
    if token.scopes:
        reach = {OWN_CALLS: "its own conversations", WORKSPACE: "every conversation"}.get(
            token.reach, token.reach
        )
        reads += f", may {' '.join(token.scopes)} in {reach}"
    reads += ", proposes and lands nothing" if token.proposes else ""
    return f"…{token.ending}, {models}, {limit}, {'recorded' if token.records else 'not recorded'}{reads}"


def _amount(unit: Unit, text: str | None) -> int | None:
    return None if text is None else read_amount(unit, text)


def _as_json(token: Token) -> dict[str, object]:
    """Return the token's public fields, without its hash."""
    entry = asdict(token)
    del entry["sha256"]
    return entry
