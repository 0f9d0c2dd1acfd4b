"""`python -m bench.mergebench [COLUMN …]`: prints the tables of MergeBench; docs/mergebench.md is the manual."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.mergebench import conflicts, kept, model_path, ours, person, read, true
from bench.mergebench.conflicts import DETECTORS, Detector
from bench.mergebench.methods import NoSuchMethod, available, named
from bench.mergebench.run import Run
from bench.mergebench.sources import DATA, FOLDER, SECOND, NotThere, fetch
from bench.mergebench.table import Table

COLUMNS = ("kept", "true", "conflicts", "person", "model-path")
MADE = ("true", "conflicts", "model-path")
"""Those of sets that were made for this benchmark."""
FETCH = "fetch"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.mergebench", description=__doc__)
    parser.add_argument(
        "columns",
        nargs="*",
        metavar="COLUMN",
        help=f"{', '.join(COLUMNS)} (all if none); or fetch: get the data",
    )
    parser.add_argument(
        "--method",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="another row: (trunk, side, budget) → text",
    )
    parser.add_argument(
        "--detector",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="another row of conflicts: (main, side) → whether to warn",
    )
    parser.add_argument(
        "--model", help="another row: squashes that this model writes, named as LiteLLM calls it"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ROW", help="of the ready rows these alone"
    )
    parser.add_argument("--split", choices=("development", "test"), default="development")
    parser.add_argument(
        "--second",
        action="store_true",
        help="the made sets (true, conflicts, model-path) by another author, which no rule was made on",
    )
    parser.add_argument("--quick", action="store_true", help="a part of each set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there, too")
    parser.add_argument(
        "--from", dest="below", type=Path, metavar="DIR", help="fetch: clones are below this folder"
    )
    parser.add_argument(
        "--read", type=int, metavar="N", help="print N branches for blind reading, and nothing else"
    )
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="where --read writes; build/mergebench/reading"
    )
    parser.add_argument("--seed", type=int, default=1, help="of --read: other branches, another order")
    parser.add_argument("--headings", action="store_true", help="--read leaves the headings in the blocks")
    parser.add_argument(
        "--verdicts",
        type=Path,
        nargs="+",
        metavar="FORM",
        help="count what readers filled in, and nothing else",
    )
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="of --verdicts; beside the folder of the first form"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 0, or 2 where something that it names is not there."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        if given.columns == [FETCH]:
            for sentence in fetch(given.below, given.split):
                print(sentence, flush=True)
            return 0
        if given.verdicts:
            return _count(given)
        run, note = _run(given)
        if given.read:
            return _print(given, run)
    except (NoSuchMethod, NotThere, read.BadForm, true.BadItem) as error:
        parser.error(str(error))
    unknown = sorted(set(given.columns) - set(COLUMNS))
    if unknown:
        parser.error(f"There is no column {', '.join(unknown)}; there are {', '.join(COLUMNS)}.")
    data = SECOND if given.second else DATA
    detectors = {**DETECTORS, **{path: _detector(path) for path in given.detector}}
    makers: Mapping[str, Callable[[Run], Iterable[Table]]] = {
        "kept": kept.tables,
        "true": partial(true.tables, data=data),
        "conflicts": partial(conflicts.tables, detectors=detectors, data=data),
        "person": person.tables,
        "model-path": partial(model_path.tables, data=data),
    }
    print(f"MergeBench, {run.split} half{', a part of it' if run.quick else ''}. {note}".rstrip(), flush=True)
    start, found = time.process_time(), list[Table]()
    for column in given.columns or (MADE if given.second else COLUMNS):
        for table in makers[column](run):
            print(f"\n{table}", flush=True)
            found.append(table)
    print(f"\n{time.process_time() - start:.0f} s of the processor.")
    if given.json:
        rows = {"split": run.split, "quick": run.quick, "tables": [table.to_json() for table in found]}
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")
    return 0


def _run(given: argparse.Namespace) -> tuple[Run, str]:
    methods, note = available()
    unknown = sorted(set(given.only) - set(methods))
    if unknown:
        raise NoSuchMethod(f"There is no row {', '.join(unknown)}; there are: {', '.join(methods)}.")
    if given.only:
        methods = {name: methods[name] for name in given.only}
    methods |= {path: named(path) for path in given.method}
    if given.model:
        methods[f"ours, written by {given.model}"] = ours.written_by(given.model)
    # What the second author wrote is all for the test.
    return Run(methods, "test" if given.second else given.split, given.quick), note


def _detector(path: str) -> Detector:
    found: Detector = named(path)  # type: ignore[assignment]
    return found


def _print(given: argparse.Namespace, run: Run) -> int:
    ready = available()[0]
    rows = [row for row in run.methods if given.only or row in read.ROWS or row not in ready]
    into = given.into or FOLDER / "reading"
    chosen = read.branches(run.split, given.read, given.seed)
    key = read.write(run, chosen, rows, into, seed=given.seed, headings=given.headings)
    print(f"{len(chosen)} branches with {len(rows)} blocks each are in {into}; the key is {key}.")
    return 0


def _count(given: argparse.Namespace) -> int:
    folder = given.verdicts[0].parent
    key = given.key or folder.with_name(f"{folder.name}-key.json")
    if not key.is_file():
        raise read.BadForm(f"There is no key {key}; name it with --key.")
    for table in read.tables(read.verdicts(given.verdicts, key)):
        print(f"{table}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
