"""A command for each verb of the registry that has none written by hand, and `forky mcp`, which offers them to agents.

A command fills in what a program has to name: the conversation that changed last, the branch that moved last, its head
as it is now, and a key.
"""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_args, get_origin

from forky_core.cli.log import chosen
from forky_core.cli.plain import one_line, plain
from forky_core.cli.titles import conversation_called
from forky_core.model.errors import BadContent, NotFound
from forky_core.model.parts import Json
from forky_core.people.token_scopes import SCOPES
from forky_core.store.remote.store import RemoteStore
from forky_core.verbs.calling import call
from forky_core.verbs.pages_of_results import as_json
from forky_core.verbs.parameters import has_place, is_filled, is_required, says, type_of
from forky_core.verbs.registry import verbs
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller
from forky_core.views.times import stamp

if TYPE_CHECKING:
    from forky_core.forky import Forky

BY_HAND = frozenset({"fork", "log", "resolve", "diff"})
"""Verbs whose commands are written by hand, since people use them in other ways, too."""
_WORDS = frozenset({"text", "snippet"})


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for verb in verbs():
        if verb.name not in BY_HAND:
            _add(commands.add_parser(verb.name, help=verb.summary, description=verb.summary), verb)
    agent = commands.add_parser(
        "mcp", help="offer the verbs to an agent, as tools over standard input and output"
    )
    agent.add_argument("--name", default="agent", help="who stands beside what it does (default: agent)")
    agent.add_argument(
        "--scope",
        default="read,ask,propose,review",
        metavar="SCOPES",
        help="what it may do, of read, ask, propose, review, land (default: all but land)",
    )
    agent.set_defaults(run=run_mcp, makes_database=True)


def _add(command: argparse.ArgumentParser, verb: RegisteredVerb) -> None:
    for one in fields(verb.params):
        kind = type_of(verb.params, one.name)
        named: dict[str, Any] = {
            "help": says(one)[:1].lower() + says(one)[1:].removesuffix("."),
            "default": None,
        }
        if kind is bool:
            named["action"] = "store_true"
        elif has_place(one):
            named["nargs"] = "+" if get_origin(kind) is tuple else None if is_required(one) else "?"
        elif get_origin(kind) is Literal:
            named["choices"] = get_args(kind)
        elif kind not in {str, int}:
            named["action"] = "append"
        if kind is not bool and "choices" not in named:
            named["metavar"] = _metavar(one)
        if has_place(one):
            command.add_argument(one.name, **named)
        else:
            needed = is_required(one) and not is_filled(one)
            command.add_argument(f"--{one.name}", dest=one.name, required=needed, **named)
    command.add_argument("--json", action="store_true", help="one JSON object, a page of what there is")
    command.set_defaults(run=run, makes_database=False, verb=verb.name)


def _metavar(one: Field[Any]) -> str:
    pairs = {"choices": "KEY=WHAT", "findings": "JSON", "picks": "ID", "at": "ID", "message": "ID"}
    return pairs.get(one.name, one.name.upper())


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    verb = next(one for one in verbs() if one.name == options.verb)
    given = {one.name: getattr(options, one.name) for one in fields(verb.params)}
    arguments = {name: _read(name, value) for name, value in given.items() if value is not None}
    caller = VerbCaller(forky, forky.actor, "operator", base=_address(forky))
    result = call(caller, verb.name, filled(forky, verb, arguments))
    if options.json:
        print(as_json(result), file=out)
        return 0
    cut = _print(result, out, goes_on=False)
    while "next" in result:
        result = call(caller, verb.name, filled(forky, verb, {**arguments, "next": result["next"]}))
        cut = _print(
            {name: value for name, value in result.items() if isinstance(value, list)}, out, goes_on=cut
        )
    return 0


def _read(name: str, value: Any) -> Any:
    """A value of the command line as the verb takes it: choices are KEY=WHAT, findings JSON."""
    if name == "choices":
        pairs = [one.partition("=") for one in value]
        if any(not (key.strip() and sign and what.strip()) for key, sign, what in pairs):
            raise BadContent(
                "That is no choice.", "Write KEY=mine, KEY=theirs, KEY=both, KEY=BRANCH or KEY=your words."
            )
        return {key.strip(): what for key, _, what in pairs}
    if name == "findings":
        try:
            return [json.loads(one) for one in value]
        except ValueError:
            raise BadContent(
                "A finding is a JSON object.", 'As {"verdict": "missing", "quote": "…"}.'
            ) from None
    return value


def filled(forky: Forky, verb: RegisteredVerb, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a verb with what a command need not name, as it is now.

    A conversation may be named by its title; one that is begun has a title of its own.
    """
    found = dict(arguments)
    wanted = {one.name for one in fields(verb.params) if is_filled(one)} - found.keys()
    if "key" in wanted:
        found["key"] = secrets.token_hex(8)
    if "title" in found and "conversation" not in found:
        return {"head": "", **found}
    if "conversation" not in found and "conversation" not in wanted:
        return found
    try:
        named, branch = found.get("conversation"), found.get("branch")
        chat = chosen(forky, None, branch) if named is None else conversation_called(forky, named, branch)
    except NotFound:
        if found.get("conversation") or "title" not in {one.name for one in fields(verb.params)}:
            raise
        return {"head": "", **found}
    found["conversation"] = chat.id
    now = {"branch": chat.branch_name, "head": chat.branch.head or "", "version": chat.view.version}
    return found | {name: value for name, value in now.items() if name in wanted}


def _print(result: Result, out: TextIO, *, goes_on: bool) -> bool:
    """Print a result for a person; whether its last text goes on in the next page."""
    if "done" in result or "text" in result:
        print(plain(str(result.get("text") or result["done"])), file=out)
        return False
    facts = {name: value for name, value in result.items() if isinstance(value, str | int) and name != "next"}
    listed = [value for value in result.values() if isinstance(value, list)]
    if facts and not goes_on:
        print(
            one_line("  ".join(f"{name} {value}" for name, value in facts.items() if value != "")), file=out
        )
    for entry in (one for entries in listed for one in entries if isinstance(one, dict)):
        words = next((str(entry[name]) for name in _WORDS if name in entry), "")
        if not goes_on:
            print(f"{chr(10) if words else ''}{one_line('  '.join(_label(entry)))}", file=out)
        goes_on = bool(entry.get("cut"))
        if words:
            print(plain(words), end="" if goes_on else "\n", file=out)
    return goes_on


def _label(entry: Mapping[str, Json]) -> Iterator[str]:
    """What an entry is, without its words: numbers and lists with their names."""
    for name, value in entry.items():
        if name in {*_WORDS, "cut"} or value in ("", None, []):
            continue
        if name in {"at", "updated"} and isinstance(value, int):
            yield stamp(value)
        elif isinstance(value, str):
            yield value
        else:
            yield f"{name} {json.dumps(value, ensure_ascii=False)}"


def run_mcp(forky: Forky, options: argparse.Namespace, _out: TextIO) -> int:
    from forky_core.gateway.mcp.standard_streams import serve  # noqa: PLC0415 - no other command waits for it
    from forky_core.people.token_store import TokenRights, token_view  # noqa: PLC0415 - likewise

    scopes = frozenset(word for one in options.scope.split(",") if (word := one.strip()))
    if not scopes or scopes - set(SCOPES):
        raise BadContent(f"“{options.scope[:60]}” are no scopes.", f"There are: {', '.join(SCOPES)}.")
    id = blake2b(options.name.encode("utf-8", "replace"), digest_size=4).hexdigest()
    view = token_view(forky, TokenRights(options.name, id, scopes | {"read"}))
    serve(VerbCaller(view, options.name, id, scopes | {"read"}, _address(forky)))
    return 0


def _address(forky: Forky) -> str:
    """The address of the app that has the database open, for links; "" if none has."""
    return forky.store.address if isinstance(forky.store, RemoteStore) else ""
