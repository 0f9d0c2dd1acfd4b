"""`forky move`: everything from one database to another, checked on both sides.

The exit code is 3 if something could not be moved, which is then named.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from forky_core.cli.opened_team import WorkspaceAddress, place_of, settings_at, team_beside
from forky_core.cli.plain import one_line
from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.settings import workspaces_beside
from forky_core.store.contract import Store
from forky_core.store.moving.workspace import Moved, move_workspace
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.places import workspace_file

_PEOPLE = "The people came along, with their roles, sessions, shares and balances."
_THERE = "TO has people of its own, which stay as they are; those of FROM were not copied."
_BUSY = "Nothing may write to it during the move: stop the app, then run the command again."


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "move",
        help="move everything to another database",
        description="Move everything from one database to another: to the path of a file that is new, or to a "
        "postgresql:// address whose workspace is empty. The source is only read and stays as it is. A move that was "
        "broken off goes on when the same command is run again. Of a PostgreSQL database without a team it is the "
        "workspace main, or the one that `forky --workspace NAME move` names.",
    )
    command.add_argument("source", metavar="FROM", help="the path of a file, or postgresql://…")
    command.add_argument("target", metavar="TO", help="likewise")
    command.add_argument("--json", action="store_true", help="the counts of both sides as one JSON object")
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    _require_two_places(options.source, options.target)
    named = options.in_workspace
    moves = (
        [_named_move(options.source, options.target, named)]
        if named
        else _moves(options.source, options.target)
    )
    shows = sys.stderr.isatty() and not options.json
    done = [_move(one, origin=_shown(options.source), shows=shows) for one in moves]
    people = None if named else _copied_people(options.source, options.target)
    counts, copied = _added_up(done), sum(one.copied for one in done)
    left = [f"{move.title}{sentence}" for move, one in zip(moves, done, strict=True) for sentence in one.left]
    if options.json:
        told = {"copied": copied, "counts": counts, "left": left, "workspaces": len(moves), "people": people}
        print(json.dumps(told, ensure_ascii=False))
    else:
        _print_table([(kind, both["from"], both["to"]) for kind, both in counts.items()])
        many = f" in {len(moves)} workspaces" if len(moves) > 1 else ""
        print(f"Copied now: {copied:,} messages{many}. Both sides have the same ids, logs and contents.")
        for sentence in left:
            print(one_line(sentence))
        if people is not None:
            print(_PEOPLE if people else _THERE)
    return 3 if left else 0


@dataclass(frozen=True)
class _Move:
    """Of one workspace."""

    source: WorkspaceAddress
    target: WorkspaceAddress
    title: str = ""
    """What its sentences begin with, where there are several."""


def _moves(source: str, target: str) -> list[_Move]:
    """The first workspace, and the others of a team's server, archived ones too."""
    here, there = _place(source), _place(target)
    moves = [_Move(WorkspaceAddress(here), WorkspaceAddress(there))]
    with team_beside(source) as team:
        known = [*team.workspaces.all(), *team.workspaces.all(archived=True)] if team is not None else []
    named = settings_at(source).workspaces
    for one in known:
        if one.id != WORKSPACE:
            old = _further(here, one.id, named if isinstance(named, Path) else None)
            new = _further(there, one.id, None)
            if old.is_there and old != new:
                moves.append(_Move(old, new, f"{one.title}: "))
    return moves


def _named_move(source: str, target: str, name: str) -> _Move:
    """One workspace by itself: to a file of its own, or under the same name in a PostgreSQL database."""
    found, there = place_of(name, source), _place(target)
    return _Move(found, WorkspaceAddress(there, None if isinstance(there, Path) else found.workspace))


def _further(first: Path | str, workspace: str, folder: Path | None) -> WorkspaceAddress:
    """Where a further workspace is beside the first one; among files in this folder, or in what `on` stands for."""
    if not isinstance(first, Path):
        return WorkspaceAddress(first, workspace)
    return WorkspaceAddress(workspace_file(folder or workspaces_beside(first), workspace))


def _move(one: _Move, *, origin: str, shows: bool) -> Moved:
    source = _opened(one.source)
    try:
        target = _opened(one.target)
        try:
            return move_workspace(
                source,
                target,
                origin=origin,
                on_progress=lambda now: _print_progress(now.doing, now.done, now.total) if shows else None,
            )
        finally:
            target.close()
            if shows:
                print(file=sys.stderr)
    finally:
        source.close()


def _added_up(done: Sequence[Moved]) -> dict[str, dict[str, int]]:
    """How many of each kind all workspaces have on both sides."""
    counts: dict[str, dict[str, int]] = {}
    for one in done:
        for kind in one.counts:
            both = counts.setdefault(kind.kind, {"from": 0, "to": 0})
            both["from"] += kind.here
            both["to"] += kind.there
    return counts


def _copied_people(source: str, target: str) -> int | None:
    """Copy the people of a team's server to where those of the target belong, unless it has its own: 0 then. None where
    the source has no team.
    """
    from forky_core.team.moving_people import copy_people  # noqa: PLC0415 - for this command alone
    from forky_core.team.team import Team, people_beside, team_file  # noqa: PLC0415 - as above

    here = people_beside(_place(source))
    if here is None:
        return None
    there = _place(target)
    if people_beside(there) is not None:
        return 0
    old, new = Team(here), Team(team_file(there) if isinstance(there, Path) else there)
    try:
        return copy_people(old.database, new.database)
    finally:
        new.close()
        old.close()


def _place(given: str) -> Path | str:
    return given if "://" in given else Path(given).expanduser()


def _require_two_places(source: str, target: str) -> None:
    """Refuse what cannot be meant, before anything is opened or made."""
    for place in (source, target):
        if place == ":memory:":
            raise BadContent("A store in memory is gone when the command ends.", "Give a file or an address.")
    if _shown(source) == _shown(target):
        raise BadContent("Both names mean the same database.", "Give another one to move to.")
    if "://" not in source and not Path(source).expanduser().is_file():
        raise NotFound(f"There is no database {source}.")


def _opened(place: WorkspaceAddress) -> Store:
    from forky_core.store.opening import open_store  # noqa: PLC0415 - as above

    try:
        return open_store(place.database, workspace=place.workspace)
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
