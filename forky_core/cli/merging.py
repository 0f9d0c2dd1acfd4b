"""`forky merge` and `forky graft`: bring what other branches learned into one, previewed first."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_decision, add_place, finish, place, refuse_unasked, show
from forky_core.cli.editor import edited
from forky_core.cli.settling import (
    add_examine,
    add_settling,
    conflict_facts,
    examined_fact,
    settling,
)
from forky_core.cli.titles import conversation_called
from forky_core.conversation.merging.examining import default_writer
from forky_core.conversation.session import short
from forky_core.merge.strategies import STRATEGIES, strategy_named
from forky_core.merge.written.plan import SquashRejected
from forky_core.model.errors import BadContent, ModelError
from forky_core.model.payload_kinds import CHERRY_PICK, SQUASH
from forky_core.verbs.merging import conflict_entries, note_of

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky
    from forky_core.merge.options import MergeOptionFields
    from forky_core.merge.plan import MergePlan


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    merge = commands.add_parser("merge", help="merge branches into another")
    merge.add_argument("source", nargs="+", metavar="SOURCE", help="a branch; several make an octopus")
    add_place(merge, "--into", "the branch that receives it (default: the one that moved last)")
    add_option_arguments(merge)
    add_force(merge)
    add_examine(merge)
    add_settling(merge)
    add_edit(merge)
    add_decision(merge)
    merge.set_defaults(run=run_merge, makes_database=False)
    graft = commands.add_parser("graft", help="merge a branch of another conversation")
    graft.add_argument(
        "source", metavar="CONVERSATION", help="the other one, by its title or the beginning of its id"
    )
    graft.add_argument(
        "--from", dest="source_branch", metavar="BRANCH", help="its branch (default: moved last)"
    )
    add_place(graft, "--into", "the branch that receives it (default: the one that moved last)")
    add_option_arguments(graft)
    add_examine(graft)
    add_settling(graft)
    add_edit(graft)
    add_decision(graft)
    graft.set_defaults(run=run_graft, makes_database=False)


def add_force(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--force", action="store_true", help="a merge message where moving the pointer would do"
    )


def add_edit(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--edit",
        action="store_true",
        help="change the text in your editor (VISUAL, else EDITOR) and land it when you save; an empty text cancels",
    )


def add_option_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--strategy",
        metavar="NAME",
        help=f"{', '.join(one.name for one in STRATEGIES)}, or one that a package adds (default: squash, or "
        "cherry-pick with --pick)",
    )
    command.add_argument(
        "--pick", action="append", default=[], metavar="ID", help="a message to bring; repeat it"
    )
    writer = command.add_mutually_exclusive_group()
    writer.add_argument(
        "--model", help="who writes the note (default: the model of the branch that receives it)"
    )
    writer.add_argument("--by-rules", action="store_true", help="quote lines of the branch, and ask no model")
    command.add_argument("--focus", default="", help="what matters to you, for a squash")
    command.add_argument("--budget", type=int, metavar="TOKENS", help="how long a squash may be")
    command.add_argument("--again", action="store_true", help="as if earlier merges had brought nothing")


def run_merge(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    _refuse_unasked(options)
    merge_options = chosen(options, sources=options.source)
    chat = place(forky, options)
    plan = _written(
        forky, chat, options, merge_options, lambda fields: chat.plan_merge(options.source, **fields)
    )
    return _edit_and_decide(chat, plan, options, out)


def run_graft(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    _refuse_unasked(options)
    merge_options = chosen(options)
    chat = place(forky, options)
    source = conversation_called(forky, options.source, options.source_branch)
    plan = _written(
        forky, chat, options, merge_options, lambda fields: chat.merges.plan_graft(source, **fields)
    )
    return _edit_and_decide(chat, plan, options, out)


def _written(
    forky: Forky,
    chat: Conversation,
    options: argparse.Namespace,
    merge_options: MergeOptionFields,
    plan: Callable[[MergeOptionFields], MergePlan],
) -> MergePlan:
    """Plan a merge. The target's model writes the note of a squash, if there is one; if that fails, the note quotes
    lines. With `--examine` a model examines the branches first.
    """
    if options.examine:
        unwritten: MergeOptionFields = {**merge_options, "model": None, "choices": {}}
        chat.merges.examine(plan(unwritten), model=merge_options.get("model"))
    strategy = strategy_named(merge_options.get("strategy", SQUASH.name))
    if "model" in merge_options or options.by_rules or strategy.name != SQUASH.name:
        return plan(merge_options)
    writer = default_writer(forky.models, chat.rules.current)
    if writer is None:
        return plan(merge_options)
    try:
        return plan({**merge_options, "model": writer})
    except (SquashRejected, ModelError) as error:
        why = f"{writer} could not write it, so lines are quoted by rules: {error}"
    quoted = plan(merge_options)
    return replace(quoted, warnings=(*quoted.warnings, why))


def _refuse_unasked(options: argparse.Namespace) -> None:
    """Raise BadContent if nobody can be asked. With --edit, saving the text in the editor confirms the merge."""
    if options.edit and not options.json:
        return
    refuse_unasked(options)


def _edit_and_decide(chat: Conversation, plan: MergePlan, options: argparse.Namespace, out: TextIO) -> int:
    """Let the person edit the text if `--edit` is set, then `decide`."""
    if not options.edit or not plan.lands:
        return decide(chat, plan, options, out)
    changed = _in_editor(plan)
    if changed is None:
        print("The text is empty: the merge is cancelled, and nothing was written.", file=out)
        return 1
    options.yes = not options.dry_run
    return decide(chat, changed, options, out)


def _in_editor(plan: MergePlan) -> MergePlan | None:
    """Let the person edit the texts of the plan, and return the changed plan; None if a text is left empty."""
    for side in plan.sides or (plan,):
        if side.block is None:
            raise BadContent(
                f"A merge by {plan.strategy} brings messages as they are: there is no text to edit.",
                "Squash or three-way have one.",
            )
        text = edited(side.payload, _instructions(side))
        if not text:
            return None
        if text != side.payload:
            plan = plan.edited_side(side.source_name, text) if plan.sides else plan.edited(text)
    return plan


def _instructions(plan: MergePlan) -> tuple[str, ...]:
    return (
        f"This is what the model of “{plan.target_name}” will read of “{plan.source_name}”: {plan.tokens} tokens,",
        f"instead of {plan.tokens_full} for the whole branch. Change what you like. Marks at the ends of lines, such as",
        "[3f2a91], name the messages that a line is taken from; a line may stand without one.",
        "Save and close the editor to land it. An empty text cancels, and nothing is written.",
        "Lines at the top that begin with “# ” are not part of the text.",
        *(f"Mind: {warning}" for warning in _warnings(plan)),
    )


def chosen(
    options: argparse.Namespace, proposed: str = SQUASH.name, sources: Sequence[str] = ()
) -> MergeOptionFields:
    """Return the merge options of the command line; `proposed` is the default strategy, `sources` are the merged
    branches.

    Raises:
        BadContent: the budget is too small, or an option is for another strategy.
    """
    if options.budget is not None and options.budget < 1:
        raise BadContent(f"A budget of {options.budget} tokens holds nothing: it has to be at least 1.")
    named: MergeOptionFields = {}
    if options.strategy or options.pick:
        named["strategy"] = options.strategy or CHERRY_PICK.name
    if options.pick:
        named["picks"] = options.pick
    if options.focus:
        named["focus"] = options.focus
    if options.budget is not None:
        named["budget"] = options.budget
    if options.model:
        named["model"] = options.model
    if options.again:
        named["again"] = True
    if getattr(options, "force", False):
        named["force"] = True
    policy, choices = settling(options, named.get("strategy", proposed), sources)
    if options.policy:
        named["policy"] = policy
    if choices:
        named["choices"] = choices
    return named


def decide(
    chat: Conversation,
    plan: MergePlan,
    options: argparse.Namespace,
    out: TextIO,
    *,
    question: str = "",
) -> int:
    """Show a merge with its conflicts and what it leaves out, ask, and land it, for every command with a merge plan."""
    facts = [f"{plan.strategy} of {plan.source_name} into {plan.target_name}"]
    facts.append(f"{len(plan.turns)} messages, {plan.tokens} tokens (in full: {plan.tokens_full})")
    if plan.fast_forward is not None:
        facts = [f"{plan.target_name} moves on to {plan.source_name}: {plan.tokens} tokens"]
    groups: dict[str, list[str]] = {}
    for one in plan.omitted:
        groups.setdefault(one.why, []).append(short(one.message))
    facts += conflict_facts(plan.conflicts)
    if plan.drafts:
        facts.append(examined_fact(plan.examined_by, plan.conflicts))
    facts += [f"left out: {' '.join(ids)}: {why}" for why, ids in groups.items()]
    return finish(
        options,
        out,
        entry=_entry(chat, plan),
        preview=lambda: show(out, note_of(plan), facts if plan.lands else (), _warnings(plan)),
        question=question or f"Land it on {plan.target_name}?",
        land=lambda: chat.merge(plan).summary,
        nothing=() if plan.lands else plan.warnings,
    )


def _warnings(plan: MergePlan) -> tuple[str, ...]:
    """Return the warnings of the plan, and those about single sentences of the note."""
    return (*plan.warnings, *(one.told for one in plan.doubts))


def _entry(chat: Conversation, plan: MergePlan) -> dict[str, object]:
    return {
        "conversation": chat.id,
        "strategy": plan.strategy,
        "relation": plan.relation,
        "source": plan.source_name,
        "target": plan.target_name,
        "payload": plan.payload,
        "tokens": plan.tokens,
        "tokens_full": plan.tokens_full,
        "messages": plan.turns,
        "omitted": [{"message": one.message, "why": one.why} for one in plan.omitted],
        "warnings": plan.warnings,
        "doubts": [{"sentence": one.sentence, "why": one.why, "out": one.out} for one in plan.doubts],
        "lands": plan.lands,
        **({"unanswered": plan.unanswered} if plan.unanswered else {}),
        **({"request": plan.request} if plan.request is not None else {}),
        "conflicts": conflict_entries(plan.conflicts),
        "examined_by": plan.examined_by,
        "corrects": [
            {"merge": one.merge, "line": one.line, "now": one.now, "message": one.by} for one in plan.corrects
        ],
    }
