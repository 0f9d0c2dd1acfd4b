"""`forky move`: copy everything from one database to another, and compare both sides.

The exit code is 3 if something could not be moved; the output names it.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from forky_core.cli.opened_team import settings_at
from forky_core.cli.plain import one_line
from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.people import people_beside, team_file
from forky_core.people.team import Team
from forky_core.process.settings import Settings
from forky_core.store.contract import Store
from forky_core.store.moving.workspace import move_workspace

_PEOPLE = "The people came along, with their roles, sessions, shares and balances."
_THERE = "TO has people of its own, which stay as they are; those of FROM were not copied."
_APART = (
    "The people were not copied: those of FROM are of the workspace {here}, and TO is the workspace {there}. A file is the "
    "workspace of the id that is its name."
)
_BUSY = "Nothing may write to it during the move: stop the app, then run the command again."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "move",
        help="move everything to another database",
        description="Move everything from one database to another: to the path of a file that is new, or to a "
        "postgresql:// address whose workspace is empty. The source is only read and stays as it is. A move that was "
        "broken off goes on when the same command is run again. `forky --workspace NAME move` names the workspace that is "
        "meant in a PostgreSQL database.",
    )
    command.add_argument("source", metavar="FROM", help="the path of a file, or postgresql://…")
    command.add_argument("target", metavar="TO", help="likewise")
    command.add_argument("--json", action="store_true", help="the counts of both sides as one JSON object")
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    source, target = options.source, options.target
    _require_two_places(source, target)
    shows = sys.stderr.isatty() and not options.json
    try:
        with (
            closing(_opened(source, options.in_workspace)) as old,
            closing(_opened(target, options.in_workspace)) as new,
        ):
            done = move_workspace(
                old, new, origin=_shown(source), on_progress=_print_progress if shows else lambda *_: None
            )
    finally:
        if shows:
            print(file=sys.stderr)
    here, there = (
        settings_at(place, options.in_workspace if "://" in place else None).workspace
        for place in (source, target)
    )
    people = _copied_people(source, target) if here == there else None
    if options.json:
        counts = {kind: {"from": here, "to": there} for kind, (here, there) in done.counts.items()}
        entry = {"copied": done.copied, "counts": counts, "left": list(done.left), "people": people}
        print(json.dumps(entry, ensure_ascii=False))
        return 3 if done.left else 0
    print(f"{'':22}{'from':>14}{'to':>14}")
    for kind, (many, moved) in done.counts.items():
        print(f"{kind:22}{many:>14,}{moved:>14,}")
    print(f"Copied now: {done.copied:,} messages. Both sides have the same ids, logs and contents.")
    for sentence in done.left:
        print(one_line(sentence))
    if people is not None:
        print(_PEOPLE if people else _THERE)
    elif people_beside(_place(source)) is not None:
        print(_APART.format(here=one_line(here), there=one_line(there)))
    return 3 if done.left else 0


def _copied_people(source: str, target: str) -> int | None:
    """Copy the people of a team's server to the target, and return their number: 0 if the target has people of its own,
    None if the source has no team.
    """
    from forky_core.people.database import copy_people  # noqa: PLC0415 - for this command alone

    here, there = people_beside(_place(source)), _place(target)
    if here is None:
        return None
    if people_beside(there) is not None:
        return 0
    with (
        closing(Team(here)) as old,
        closing(Team(team_file(there) if isinstance(there, Path) else there)) as new,
    ):
        return copy_people(old.database, new.database)


def _place(text: str) -> Path | str:
    return text if "://" in text else Path(text).expanduser()


def _require_two_places(source: str, target: str) -> None:
    """Raise an error for two places that cannot be the source and the target, before anything is opened or made."""
    for place in (source, target):
        if place == ":memory:":
            raise BadContent("A store in memory is gone when the command ends.", "Give a file or an address.")
    if _shown(source) == _shown(target):
        raise BadContent("Both names mean the same database.", "Give another one to move to.")
    if "://" not in source and not Path(source).expanduser().is_file():
        raise NotFound(f"There is no database {source}.")


def _opened(place: str, workspace: str | None) -> Store:
    """Open the store of a file, or of a workspace in a PostgreSQL database."""
    from forky_core.store.opening import open_store  # noqa: PLC0415 - as above

    settings = Settings.from_environment()
    try:
        return open_store(
            _place(place), workspace=(workspace or settings.workspace_on_server) if "://" in place else None
        )
    except StoreBusy as error:
        error.hint = _BUSY
        raise


def _shown(place: str) -> str:
    """Return a place in a form that may be stored and printed: an address without its password, or an absolute path."""
    if "://" not in place:
        return str(Path(place).expanduser().resolve())
    address = urlsplit(place)
    user, at, host = address.netloc.rpartition("@")
    return urlunsplit(address._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))


def _print_progress(doing: str, done: int, total: int) -> None:
    print(f"\r{doing} {done:,} of {total:,} messages ", end="", file=sys.stderr, flush=True)
