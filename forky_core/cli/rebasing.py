"""`forky rebase` and `forky revert`: move a branch's own messages elsewhere; revert messages."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_decision, add_place, finish, place, refuse_unasked, show
from forky_core.cli.plain import one_line, plain
from forky_core.conversation.session import short
from forky_core.model.errors import BadContent

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky
    from forky_core.merge.rebase import RebasePlan


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    rebase = commands.add_parser("rebase", help="move a branch's own messages onto another one")
    rebase.add_argument("onto", metavar="ONTO", help="a branch, or the beginning of a message's id")
    add_place(rebase, "--branch", "the branch that moves (default: the one that moved last)")
    rebase.add_argument("--ask-again", action="store_true", help="ask its questions anew instead of copying")
    rebase.add_argument("--model", help="with --ask-again: who answers")
    add_decision(rebase)
    rebase.set_defaults(run=run_rebase, makes_database=False)
    revert = commands.add_parser("revert", help="take messages back: out of the context from here on")
    revert.add_argument("message", nargs="+", metavar="ID", help="a message, merge or revert")
    add_place(revert, "--branch", "the branch to revert on (default: the one that moved last)")
    revert.add_argument("--note", default="", help="what to say in their place")
    add_decision(revert)
    revert.set_defaults(run=run_revert, makes_database=False)


def run_rebase(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    refuse_unasked(options)
    if options.model and not options.ask_again:
        raise BadContent("--model answers questions anew: it goes with --ask-again.")
    chat = place(forky, options)
    plan = chat.merges.plan_rebase(options.onto)
    asking = options.ask_again and bool(plan.turns)
    moved = f"{len(plan.copies)} messages, {plan.tokens:+} tokens"
    if asking:
        moved = f"{len(plan.turns)} questions asked again, about {plan.tokens_asked} tokens sent"
    facts = [f"{plan.branch} onto {plan.onto_name}: {moved}"]
    entry = {
        "conversation": chat.id,
        "branch": plan.branch,
        "onto": plan.onto,
        "relation": plan.relation,
        "messages": [message.id for message in plan.line],
        "tokens": plan.tokens,
        "questions": len(plan.turns),
        "tokens_asked": plan.tokens_asked,
        "omitted": [{"message": one.message, "why": one.why} for one in plan.omitted],
        "warnings": plan.warnings,
    }
    lands = asking or (plan.lands and not options.ask_again)
    return finish(
        options,
        out,
        entry=entry,
        preview=lambda: show(out, "" if asking else plan.payload, facts if lands else (), plan.warnings),
        question=f"Rebase {plan.branch}?",
        land=lambda: _ask_again(chat, plan, options, out) if asking else chat.merges.rebase(plan).summary,
        nothing=() if lands else (plan.warnings or ("Nothing to ask again.",)),
    )


def _ask_again(chat: Conversation, plan: RebasePlan, options: argparse.Namespace, out: TextIO) -> str:
    """Replay the branch's questions and wait for the end; Ctrl+C stops the replay, and its answers so far stay."""
    job = chat.merges.replay(plan, model=options.model)
    printed = 0
    try:
        while not job.wait(0.1) or printed < len(job.answers):
            for message in job.answers[printed:]:
                if not options.json:
                    print(f"{short(message.id)}  {plain(message.text)}\n", file=out, flush=True)
                printed += 1
    except KeyboardInterrupt:
        job.stop()
        job.wait(5.0)
    if job.error is not None:
        print(one_line(job.summary), file=out)
        raise job.error
    return job.summary


def run_revert(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    refuse_unasked(options)
    chat = place(forky, options)
    plan = chat.plan_revert(*options.message, note=options.note)
    facts = [f"out from here on: {' '.join(map(short, plan.targets))} ({plan.tokens:+} tokens)"]
    if plan.tool_partners:
        facts.append(f"with them, as parts of a tool call: {' '.join(map(short, plan.tool_partners))}")
    if plan.returning:
        facts.append(f"back in: {' '.join(map(short, plan.returning))}")
    entry = {
        "conversation": chat.id,
        "branch": plan.branch,
        "targets": plan.targets,
        "along": plan.tool_partners,
        "returning": plan.returning,
        "tokens": plan.tokens,
    }
    return finish(
        options,
        out,
        entry=entry,
        preview=lambda: show(out, "", facts, ()),
        question=f"Revert on {plan.branch}?",
        land=lambda: f"Reverted by {short(chat.revert(plan).id)}",
    )
