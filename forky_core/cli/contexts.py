"""`forky context`, `pin`, `exclude`, `memory`: what a model is sent, and the settings that change it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.deciding import add_place, place
from forky_core.cli.plain import one_line, plain
from forky_core.context.memory_policies import POLICIES, label_of, parse_memory, policy_of
from forky_core.conversation.session import short
from forky_core.model.memory import Memory
from forky_core.views import captions
from forky_core.views.context import ContextRow, rows

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.conversation.replies.preparing import PreparedRequest
    from forky_core.forky import Forky

_WHICH = "the branch (default: the one that moved last)"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    context = commands.add_parser("context", help="what a model would be sent, item by item, and what not")
    add_place(context, "--branch", _WHICH)
    context.add_argument("--at", metavar="ID", help="the message to ask at (default: the head)")
    context.add_argument("--text", metavar="QUESTION", default="", help="with this question at the end")
    context.add_argument("--model", metavar="NAME", help="for this model (default: the branch's)")
    either = context.add_mutually_exclusive_group()
    either.add_argument("--json", action="store_true", help="the account as one JSON object")
    either.add_argument("--sent", action="store_true", help="exactly what is sent, as the provider's JSON")
    context.set_defaults(run=run_context, makes_database=False)
    for name, help in (
        ("pin", "have every memory policy keep messages"),
        ("exclude", "leave messages out of every context of a branch"),
    ):
        command = commands.add_parser(name, help=help)
        command.add_argument("ids", metavar="ID", nargs="+", help="a message, or the beginning of its id")
        command.add_argument("--off", action="store_true", help="no longer")
        add_place(command, "--branch", _WHICH)
        command.set_defaults(run=run_pin if name == "pin" else run_exclude, makes_database=False)
    examples = (example for policy in POLICIES for example in policy.examples)
    memory = commands.add_parser("memory", help="show or set how much of a conversation is sent")
    memory.add_argument(
        "policy",
        nargs="?",
        help=f"{', '.join(examples)}; `inherit`: what the conversation says".replace("%", "%%"),
    )
    memory.add_argument(
        "--everywhere", action="store_true", help="of all branches that have none of their own"
    )
    memory.add_argument(
        "--by", metavar="MODEL", help="who writes a summary (default: rules, without a model)"
    )
    add_place(memory, "--branch", _WHICH)
    memory.set_defaults(run=run_memory, makes_database=False)


def run_context(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    at = chat.message(options.at).id if options.at is not None else None
    made = chat.calls.prepare(options.text, at=at, model=options.model)
    if options.sent:
        print(made.json, file=out)
        return 0
    on_path = {message.id: message for message in chat.path(at)}
    found = rows(
        made.context,
        lambda id: on_path.get(id) or chat.visible.messages.get(id),
        cached=made.cached,
        exclusions=chat.rules.current.exclusions,
        author=chat.people.author_of,
    )
    if options.json:
        print(json.dumps(_entry(chat, made, found), ensure_ascii=False), file=out)
        return 0
    for row in found:
        print(_line(row), file=out)
    print(_total(made), file=out)
    for warning in made.context.warnings:
        print(f"! {one_line(warning)}", file=out)
    return 0


def _line(row: ContextRow) -> str:
    item = row.item
    mark = "*" if item.pinned else "+" if item.included else "-"
    id = short(item.message) if item.message is not None else " " * 8
    text = row.text if item.included else f"{item.why} {row.text}".strip()
    return f"{mark} {item.tokens:>7,}  {id}  {one_line(f'{row.who}: {text}')[:140]}"


def _total(made: PreparedRequest) -> str:
    context = made.context
    facts = [
        f"{context.tokens:,} tokens to {one_line(made.request.model)}",
        f"memory: {label_of(context.memory)}",
    ]
    if context.room is not None:
        facts.append(
            f"{context.room:,} tokens of room" if context.room >= 0 else f"{-context.room:,} tokens too many"
        )
    if made.cost:
        facts.append(f"about {captions.dollars(made.cost)}")
    if made.cached:
        facts.append(f"{made.cached:,} tokens sent before")
    return "; ".join(facts)


def _entry(chat: Conversation, made: PreparedRequest, found: tuple[ContextRow, ...]) -> dict[str, object]:
    context = made.context
    return {
        "conversation": chat.id,
        "branch": chat.branch_name,
        "model": made.request.model,
        "memory": context.memory.stored(),
        "tokens": context.tokens,
        "window": context.window,
        "room": context.room,
        "cached": made.cached,
        "cost": made.cost,
        "warnings": list(context.warnings),
        "items": [
            {
                "kind": row.item.kind,
                "role": row.item.role,
                "message": row.item.message,
                "via": row.item.via,
                "included": row.item.included,
                "pinned": row.item.pinned,
                "why": row.item.why,
                "tokens": row.item.tokens,
                "cached": row.cached,
                "text": row.text,
            }
            for row in found
        ],
    }


def run_pin(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    done = chat.rules.unpin(*options.ids) if options.off else chat.rules.pin(*options.ids)
    print(one_line(done.summary), file=out)
    return 0


def run_exclude(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    done = chat.rules.include(*options.ids) if options.off else chat.rules.exclude(*options.ids)
    print(one_line(done.summary), file=out)
    return 0


def run_memory(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    chat = place(forky, options)
    if options.policy is None:
        own = "its own" if chat.rules.current.memory is not None else "the conversation's"
        print(
            plain(
                f"{chat.branch_name}: {label_of(chat.rules.memory)} ({own})\n{policy_of(chat.rules.memory).cache_hint}"
            ),
            file=out,
        )
        return 0
    if options.policy == "inherit" and not options.everywhere:
        done = chat.rules.set_memory(None)
    else:
        asked = parse_memory(options.policy)
        wanted = Memory(asked.policy, asked.amount, asked.share, options.by)
        done = (
            chat.rules.set_conversation_memory(wanted)
            if options.everywhere
            else chat.rules.set_memory(wanted)
        )
    print(one_line(done.summary), file=out)
    return 0
