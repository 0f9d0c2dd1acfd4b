"""`forky merge-file` and `forky diff`: Forky chat files without a database, also as Git's merge driver."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TextIO

from forky_core.cli.piped_input import comes_once, lasting
from forky_core.cli.plain import one_line
from forky_core.conversation.session import short
from forky_core.formats.forky_file.adopting import adopt, pull
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import load, save
from forky_core.formats.forky_file.giving_back import origins_of
from forky_core.formats.forky_file.uniting import ACTOR, CopyDifference, difference, unite_chats
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model import Message
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from forky_core.views.shelf import count

_EPILOG = """\
As Git's merge driver, in .gitattributes:
  *.forky.jsonl merge=forky
and once in each clone:
  git config merge.forky.driver "forky merge-file %A %O %B"
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    unite = commands.add_parser(
        "merge-file",
        help="unite two copies of a conversation's file, or a fork's with its original's",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    unite.add_argument("ours", type=Path, help="the file that is rewritten")
    unite.add_argument("base", type=Path, help="the copy both went out from")
    unite.add_argument("theirs", type=Path, help="the other copy")
    unite.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write here, and leave OURS as it is"
    )
    unite.set_defaults(run=_unite, makes_database=None)
    differ = commands.add_parser(
        "diff", help="say what two files of a conversation differ in; `compare` is for branches"
    )
    differ.add_argument(
        "left", type=Path, help="a file, a pipe such as <(git show …), or - for standard input"
    )
    differ.add_argument("right", type=Path)
    differ.add_argument("--json", action="store_true", help="one JSON object")
    differ.set_defaults(run=_differ, makes_database=None)


def _unite(options: argparse.Namespace) -> int:
    if options.output is None and comes_once(options.ours):
        raise BadContent(
            "OURS is the file that is rewritten, and a pipe cannot be.", "-o FILE writes somewhere else."
        )
    with lasting((options.ours, options.base, options.theirs)) as (ours, before, theirs):
        # Git passes an empty file as the base if both sides added the file.
        base = load(before) if before.is_file() and before.stat().st_size else None
        mine, further = load(ours), load(theirs)
    if mine.id != further.id and (mine.id in origins_of(further) or further.id in origins_of(mine)):
        return _bring(mine, further, options.output or options.ours)
    done = unite_chats(mine, further, base)
    save(done.chat, options.output or options.ours)
    if done.messages:
        print(f"{count(done.messages, 'message')} more.", file=sys.stderr)
    for name, other in done.parted:
        print(f"“{one_line(name)}” had moved on both sides; theirs is “{one_line(other)}”.", file=sys.stderr)
    for key in done.overruled:
        print(f"Both sides changed {one_line(key)}; ours stands.", file=sys.stderr)
    return 0


def _bring(mine: Chat, other: Chat, path: Path) -> int:
    """Propose what a fork has added in the file of its original, or bring the news of the original to the fork's."""
    from forky_core.forky import Forky  # noqa: PLC0415 - two copies are united without a workspace

    with Forky.open(":memory:", actor=ACTOR) as forky:
        adopt(forky, mine)
        done = pull(forky, mine.id, other, through="by Git")
        if done.outcome != "unchanged":
            save(chat_of(forky.store, mine.id), path)
            print(f"{count(done.messages, 'message')} more.", file=sys.stderr)
    for remark in done.remarks:
        print(remark, file=sys.stderr)
    return 0


def _differ(options: argparse.Namespace) -> int:
    with lasting((options.left, options.right)) as (left, right):
        found = difference(load(left), load(right))
    if options.json:
        print(json.dumps(_as_json(found)))
    else:
        _print(found, options.left.name, options.right.name, sys.stdout)
    return 0 if found.same else 1


def _as_json(found: CopyDifference) -> Json:
    return {
        "only_left": [message.id for message in found.only_left],
        "only_right": [message.id for message in found.only_right],
        "moved": [{"key": key, "left": left, "right": right} for key, left, right in found.moved],
    }


def _print(found: CopyDifference, left: str, right: str, out: TextIO) -> None:
    if found.same:
        print("No difference.", file=out)
    for name, sign, messages in ((left, "-", found.only_left), (right, "+", found.only_right)):
        if messages:
            print(f"Only in {one_line(name)}: {count(len(messages), 'message')}", file=out)
        for message in messages:
            print(f"{sign} {short(message.id)} {message.role}: {_begin(message)}", file=out)
    for key, before, after in found.moved:
        print(f"~ {one_line(key)}: {_value(before)} → {_value(after)}", file=out)


def _begin(message: Message) -> str:
    line = one_line(message.text)
    return line if len(line) <= 80 else line[:79] + "…"


def _value(value: Json) -> str:
    if value is None:
        return "(absent)"
    if isinstance(value, dict) and set(value) == {"at"}:
        return short(value["at"]) if value["at"] else "(empty)"
    return one_line(json.dumps(value, ensure_ascii=False))[:80]
