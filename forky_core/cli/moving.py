"""`forky move`: all of a workspace from one database to another, checked on both sides.

The exit code is 3 if something could not be moved, which is then named.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from forky_core.cli.plain import one_line
from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.store.contract import Store

_PEOPLE = (
    "People, memberships and what they may spend are not part of the database: they stay in the file of people "
    "beside the one that the server is started with."
)
_BUSY = "Nothing may write to it during the move: stop the app, then run the command again."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "move",
        help="move everything to another database",
        description="Move everything from one database to another: to the path of a file that is new, or to a "
        "postgresql:// address whose workspace is empty. The source is only read and stays as it is. A move that was "
        "broken off goes on when the same command is run again.",
    )
    command.add_argument("source", metavar="FROM", help="the path of a file, or postgresql://…")
    command.add_argument("target", metavar="TO", help="likewise")
    command.add_argument("--json", action="store_true", help="the counts of both sides as one JSON object")
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    from forky_core.store.moving.workspace import move_workspace  # noqa: PLC0415 - for this command alone

    _require_two_places(options.source, options.target)
    shows = sys.stderr.isatty() and not options.json
    source = _opened(options.source)
    try:
        target = _opened(options.target)
        try:
            done = move_workspace(
                source,
                target,
                origin=_shown(options.source),
                on_progress=lambda now: _print_progress(now.doing, now.done, now.total) if shows else None,
            )
        finally:
            target.close()
            if shows:
                print(file=sys.stderr)
    finally:
        source.close()
    if options.json:
        counts = {one.kind: {"from": one.here, "to": one.there} for one in done.counts}
        print(json.dumps({**asdict(done), "counts": counts}, ensure_ascii=False))
    else:
        _print_table([(one.kind, one.here, one.there) for one in done.counts])
        print(f"Copied now: {done.copied:,} messages. Both sides have the same ids, logs and contents.")
        for sentence in done.left:
            print(one_line(sentence))
        print(_PEOPLE)
    return 3 if done.left else 0


def _require_two_places(source: str, target: str) -> None:
    """Refuse what cannot be meant, before anything is opened or made."""
    for place in (source, target):
        if place == ":memory:":
            raise BadContent("A store in memory is gone when the command ends.", "Give a file or an address.")
    if _shown(source) == _shown(target):
        raise BadContent("Both names mean the same database.", "Give another one to move to.")
    if "://" not in source and not Path(source).expanduser().is_file():
        raise NotFound(f"There is no database {source}.")


def _opened(place: str) -> Store:
    from forky_core.store.opening import open_store  # noqa: PLC0415 - as above

    try:
        return open_store(place if "://" in place else Path(place).expanduser())
    except StoreBusy as error:
        error.hint = _BUSY
        raise


def _shown(place: str) -> str:
    """A place as it may be stored and printed: an address without its password, a file by its whole path."""
    if "://" not in place:
        return str(Path(place).expanduser().resolve())
    address = urlsplit(place)
    user, at, host = address.netloc.rpartition("@")
    return urlunsplit(address._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))


def _print_progress(doing: str, done: int, total: int) -> None:
    print(f"\r{doing} {done:,} of {total:,} messages ", end="", file=sys.stderr, flush=True)


def _print_table(rows: list[tuple[str, int, int]]) -> None:
    print(f"{'':22}{'from':>14}{'to':>14}")
    for kind, here, there in rows:
        print(f"{kind:22}{here:>14,}{there:>14,}")
