"""`forky verify`: re-derive every id and replay the log. The exit code is 1 if something is wrong.

Remarks, such as a log that ends in the middle of a commit, are printed but do not affect the exit code.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.plain import one_line
from forky_core.cli.titles import conversation_called
from forky_core.views.captions import last_change
from forky_core.views.shelf import count

if TYPE_CHECKING:
    from forky_core.forky import Forky


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("verify", help="check that nothing is damaged")
    command.add_argument("conversation", nargs="?", help="only this one")
    command.add_argument("--json", action="store_true", help="the result as one JSON object")
    command.set_defaults(run=run, makes_database=False)


def run(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    result = (
        conversation_called(forky, options.conversation).history.verify()
        if options.conversation
        else forky.verify()
    )
    code = 0 if result.clean else 1
    if options.json:
        print(json.dumps({**asdict(result), "clean": result.clean}), file=out)
        return code
    for found in (*result.findings, *result.remarks):
        print(f"{found.conversation or 'database'}: {one_line(found.what)}", file=out)
    if newest := last_change(result):
        print(newest, file=out)
    checked = (
        f"{count(result.conversations, 'conversation')}, {count(result.messages, 'message')}, "
        f"{count(result.operations, 'operation')}, {count(result.blobs, 'attachment')}"
    )
    print(f"{checked}: {'clean' if result.clean else count(len(result.findings), 'finding')}", file=out)
    return code
