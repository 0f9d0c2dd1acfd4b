"""`python -m tests.structure trace ask|plan|land|gateway`: the files that one call runs through, in order."""

from __future__ import annotations

import argparse

from tests.structure.trace import room_of
from tests.structure.ways import WAYS, traced


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.structure", description=__doc__)
    subcommands = parser.add_subparsers(required=True)
    trace = subcommands.add_parser("trace", help="the files that one call runs through, in order")
    trace.add_argument("way", choices=WAYS, nargs="+")
    for way in parser.parse_args().way:
        found = traced(way)
        print(f"{way}: {WAYS[way][0]}")
        for at, file in enumerate(found.files, 1):
            print(f"{at:4} {'' if file in found.own else '*'}{file}")
        rooms = len(set(map(room_of, found.files)))
        print(f"{len(found.files)} files, {rooms} rooms, {found.changes} changes of room")
        print(
            f"in the calling thread: {len(found.own)} files, {found.own_changes} changes (* in others only)\n"
        )


if __name__ == "__main__":
    main()
