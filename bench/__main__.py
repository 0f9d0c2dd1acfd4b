"""Every number Forky is judged by, each beside its peer's: `python -m bench [--quick] [NAME …]`.

A module that measures something stands in MODULES and has `lines(*, quick: bool)`, which gives the lines of its table.
One of OPTIONS has options of its own, too: `python -m bench load --people 200`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from bench.measure import report

MODULES = (
    "storage",
    "postgresql",
    "analysis",
    "matching",
    "ui",
    "scale",
    "context",
    "inspecting",
    "compare_page",
    "arriving",
    "diamonds",
    "merge_long",
    "files",
    "retrieval",
    "gateway",
    "watchers",
    "guard",
    "load",
)

OPTIONS = ("load",)
"""Modules with a `main(arguments)`, which is called where one of them is named first, and then anything but a name."""


def main() -> int:
    name, *rest = sys.argv[1:] or [""]
    if name in OPTIONS and not {*rest} <= {*MODULES, "--quick"}:
        return int(import_module(f"bench.{name}").main(rest))
    parser = argparse.ArgumentParser(prog="python -m bench", description="Forky's numbers beside its peers'.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which of {', '.join(MODULES)}; all if none"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes: a look at the shape, not at the goals"
    )
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(MODULES))
    if unknown:
        parser.error(f"no such measurement: {', '.join(unknown)}")
    met = True
    for name in given.names or MODULES:
        print(f"\n{name}", flush=True)
        met = report(import_module(f"bench.{name}").lines(quick=given.quick)) and met
    return 0 if met or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
