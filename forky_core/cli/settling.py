"""`forky fuse` and `forky resolve`: fuse several answers into one, and settle conflicts that merges left open."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, get_args

from forky_core.cli.deciding import add_decision, add_place, finish, place, refuse_unasked, show
from forky_core.cli.plain import one_line
from forky_core.conversation.session import short
from forky_core.merge.conflicts.conflict import Choice, Conflict, Policy
from forky_core.model.errors import BadContent
from forky_core.model.payload_kinds import kind_of
from forky_core.verbs.merging import choice_of, conflict_entries

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky
    from forky_core.merge.fuse import FusePlan


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    fuse = commands.add_parser("fuse", help="make one answer of several to the same question")
    fuse.add_argument("answer", nargs="*", metavar="ID", help="the answers (default: all beside the head)")
    add_place(fuse, "--branch", "the branch whose head is answered (default: the one that moved last)")
    fuse.add_argument("--model", help="who writes it (default: put together by rule)")
    fuse.add_argument("--seed", type=int, help="how the answers are shuffled before they are labelled")
    add_examine(fuse)
    fuse.add_argument("--best", action="store_true", help="take the best answer as it is instead")
    add_take(fuse)
    add_decision(fuse)
    fuse.set_defaults(run=run_fuse, makes_database=False)
    resolve = commands.add_parser("resolve", help="list what merges left open, or settle it")
    add_place(resolve, "--branch", "the branch (default: the one that moved last)")
    add_take(resolve)
    add_decision(resolve)
    resolve.set_defaults(run=run_resolve, makes_database=False)


def add_take(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--take",
        action="append",
        default=[],
        metavar="KEY=WHAT",
        help="settle a conflict: mine, theirs, both, the name of a source, or words of your own; repeat it",
    )


def add_examine(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--examine",
        action="store_true",
        help="have a model read the texts side by side first, and say where they disagree (one request, kept)",
    )


def add_settling(command: argparse.ArgumentParser) -> None:
    """Add the arguments that settle a three-way merge's conflicts."""
    command.add_argument(
        "--policy",
        choices=get_args(Policy),
        help="what becomes of a three-way conflict that no --take settles (default: ask)",
    )
    add_take(command)


def settling(
    options: argparse.Namespace, strategy: str, sources: Sequence[str] = ()
) -> tuple[Policy, Mapping[str, Choice]]:
    """Return the policy and the choices from the arguments of `add_settling`.

    Raises BadContent if merges of this strategy have no conflicts.
    """
    for option, value in (("--policy", options.policy), ("--take", options.take)):
        if value and not kind_of(strategy).settles:
            raise BadContent(f"{option} is for a three-way merge, and this is one by {strategy}.")
    return options.policy or "ask", choices(options.take, sources)


def choices(arguments: Iterable[str], sources: Sequence[str] = ()) -> Mapping[str, Choice]:
    """Read the choice for each key from arguments `KEY=WHAT`; the name of one of `sources` chooses that branch's value.

    Raises:
        BadContent: an argument has no key or no value.
    """
    found: dict[str, Choice] = {}
    for one in arguments:
        key, sign, what = one.partition("=")
        if not sign or not key.strip() or not what.strip():
            raise BadContent(
                f"“{one[:60]}” is no choice.",
                "Write KEY=mine, KEY=theirs, KEY=both, KEY=BRANCH or KEY=your words.",
            )
        found[key.strip()] = choice_of(what, sources)
    return found


def conflict_facts(conflicts: Sequence[Conflict]) -> list[str]:
    """Return a line for each conflict."""
    return [
        f"{'possible conflict' if one.possible else 'conflict'}: {one.about}: {_sides(one)}"
        f"{f'taken: {one.result}' if one.choice is not None else 'open'}"
        for one in conflicts
    ]


def examined_fact(examined_by: str, conflicts: Sequence[Conflict]) -> str:
    """Return a line that says which model has looked for conflicts."""
    if not examined_by:
        return "not examined: no model has read the texts side by side; --examine asks one"
    named = "named none" if not conflicts else f"named {len(conflicts)}"
    return f"examined: {examined_by} read the texts side by side and {named}"


def _sides(conflict: Conflict) -> str:
    return "".join(
        f"{name} “{' / '.join(dict.fromkeys(one.text for one in words))}”; "
        for name, words in conflict.by_side.items()
    )


def run_resolve(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    if options.take:
        refuse_unasked(options)
    chat = place(forky, options)
    if not options.take:
        return _list(chat, options, out)
    names = {name for one in chat.merges.unresolved for name in one.sources}
    plan = chat.merges.plan_resolution(choices(options.take, tuple(names)))
    return finish(
        options,
        out,
        entry={"conversation": chat.id, "payload": plan.payload, "tokens": plan.tokens},
        preview=lambda: show(out, plan.payload, [f"{plan.tokens} tokens"], plan.warnings),
        question=f"Land it on {plan.target_name}?",
        land=lambda: chat.merge(plan).summary,
    )


def _list(chat: Conversation, options: argparse.Namespace, out: TextIO) -> int:
    found = chat.merges.unresolved
    if options.json:
        print(json.dumps(conflict_entries(found)), file=out)
        return 0
    for fact in conflict_facts(found):
        print(one_line(fact), file=out)
    if not found:
        print("Nothing is open.", file=out)
    return 0


def run_fuse(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    refuse_unasked(options)
    chat = place(forky, options)
    if options.examine:
        chat.merges.examine(chat.merges.plan_fuse(options.answer), model=options.model)
    plan = chat.merges.plan_fuse(options.answer, model=options.model, seed=options.seed)
    if options.take:
        plan = plan.resolved(choices(options.take, [one.label for one in plan.candidates]))
    facts = [f"{one.label}: {short(one.message.id)}, {one.shared:.0%} shared" for one in plan.candidates]
    facts += conflict_facts(plan.conflicts)
    facts.append(examined_fact(plan.examined_by, plan.conflicts))
    facts.append(f"best: {plan.best}: {plan.why}")
    best = options.best

    def land() -> str:
        return (chat.branches.promote(plan.best_message) if best else chat.merge(plan)).summary

    text = chat.message(plan.best_message).text if best else plan.payload
    return finish(
        options,
        out,
        entry=_fuse_entry(chat, plan),
        preview=lambda: show(out, text, facts, () if best else plan.warnings),
        question=f"{'Take' if best else 'Land'} it on {plan.target_name}?",
        land=land,
    )


def _fuse_entry(chat: Conversation, plan: FusePlan) -> dict[str, object]:
    return {
        "conversation": chat.id,
        "payload": plan.payload,
        "tokens": plan.tokens,
        "seed": plan.seed,
        "candidates": [
            {"label": one.label, "message": one.message.id, "shared": round(one.shared, 4)}
            for one in plan.candidates
        ],
        "warnings": plan.warnings,
        "conflicts": conflict_entries(plan.conflicts),
        "examined_by": plan.examined_by,
        "best": plan.best,
        "why": plan.why,
    }
