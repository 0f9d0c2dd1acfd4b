"""`forky tables`: a copy of the database for analysis. `forky sql`: a query on such a copy, or on the database.

A DuckDB file is queried directly. A PostgreSQL database is copied and the copy is queried, so that the same SQL works
for every workspace.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from forky_core.cli.noted_exports import note_operators_tables
from forky_core.cli.opened_team import settings_at
from forky_core.cli.plain import one_line, print_outcome
from forky_core.cli.titles import conversation_called
from forky_core.model.errors import BadContent, NotAllowed, NotFound, RequestError
from forky_core.store.contract import Store, StoreWithViews

if TYPE_CHECKING:
    from forky_core.forky import Forky
    from forky_core.store.analysis.query import QueryResult

_WHILE_OPEN = "While the app runs, Settings offers the copy, and `forky sql --server` asks the app."
_WIDEST = 60
"""The most characters of a cell that is printed as a table."""
_TOKEN = "FORKY_TOKEN"  # noqa: S105 - the name of a variable


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    tables = commands.add_parser("tables", help="write plain tables: one DuckDB file, or Parquet")
    tables.add_argument("file", metavar="FILE", help="FILE.duckdb, or FILE.zip for Parquet")
    tables.add_argument(
        "--only", action="append", metavar="CONVERSATION", help="only this one; may be repeated"
    )
    tables.add_argument("--json", action="store_true", help="one JSON object about what was written")
    tables.set_defaults(run=run_tables, makes_database=False, while_open=_WHILE_OPEN, by_app=False)
    sql = commands.add_parser("sql", help="ask the database in SQL, read only")
    sql.add_argument(
        "question", metavar="SQL", nargs="?", help="such as: SELECT title, messages FROM conversations"
    )
    sql.add_argument("--on", type=Path, metavar="FILE", help="a copy that `forky tables` made")
    sql.add_argument("--server", metavar="ADDRESS", help=f"ask a running app, with the token in {_TOKEN}")
    sql.add_argument(
        "--make-views",
        action="store_true",
        help="make the views in the database itself, for other programs that ask it",
    )
    form = sql.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a row")
    form.add_argument("--csv", action="store_true", help="comma-separated values")
    sql.set_defaults(run=run_sql, makes_database=None)


def run_tables(forky: Forky, options: argparse.Namespace, out: TextIO) -> int:
    from forky_core.formats.exporting.analysis_copies import AnalysisCopy, form_for, write_copy  # noqa: PLC0415 - for this alone

    to, only = Path(options.file), options.only
    if to.is_dir() or options.file.endswith(("/", os.sep)):
        raise BadContent(f"{options.file} is a folder.", "Name a file: copy.duckdb, or copy.zip for Parquet.")
    chosen = None if only is None else frozenset(conversation_called(forky, one).id for one in only)
    note_operators_tables(forky, form_for(to), chosen)
    write_copy(forky.store, AnalysisCopy(form_for(to), chosen), to)
    size = to.stat().st_size
    sentence = f"{to}: {size / 1e6:.1f} MB. docs/analysis.md describes the tables."
    return print_outcome(options, {"file": str(to), "bytes": size}, sentence, out)


def run_sql(options: argparse.Namespace) -> int:
    if options.make_views:
        return _make_views_for_others(options)
    if options.question is None:
        raise RequestError("There is no question.", 'Write one in SQL, such as "FROM conversations".')
    from forky_core.store.analysis.query import ask, opened  # noqa: PLC0415 - as above

    with _file(options) as path, opened(path) as connection:
        answer = ask(connection, options.question)
    if options.json:
        for row in answer.rows:
            print(
                json.dumps(dict(zip(answer.columns, row, strict=True)), default=_as_json, ensure_ascii=False)
            )
    elif options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows([_as_text(value) for value in row] for row in answer.rows)
    else:
        _print_table(answer, sys.stdout)
    return 0


@contextmanager
def _file(options: argparse.Namespace) -> Iterator[Path]:
    """Yield the file to query: a copy, one that a running app makes, or the database."""
    if options.on is not None:
        yield options.on
    elif options.server is not None:
        from forky_core.formats.files.spools import spool  # noqa: PLC0415 - as above

        with spool("analysis") as folder:
            yield _fetched(options.server, folder / "analysis.duckdb")
    else:
        place = str(settings_at(options.database, options.in_workspace).database)
        if place == ":memory:":
            raise NotFound("There is no file to ask.", "--database names one, --on a copy.")
        if "://" in place:
            from forky_core.formats.exporting.analysis_copies import AnalysisCopy, made_copy  # noqa: PLC0415 - as above

            with _opened_store(options) as store, made_copy(store, AnalysisCopy()) as path:
                yield path
            return
        path = Path(place).expanduser()
        _make_views(path)
        yield path


@contextmanager
def _opened_store(options: argparse.Namespace) -> Iterator[Store]:
    """Open the store that the options name."""
    from forky_core.store.opening import open_store  # noqa: PLC0415 - as above

    settings = settings_at(options.database, options.in_workspace)
    on_server = "://" in str(settings.database)
    store = open_store(settings.database, workspace=settings.workspace if on_server else None)
    try:
        yield store
    finally:
        store.close()


def _make_views_for_others(options: argparse.Namespace) -> int:
    """Create the views in the database itself."""
    if options.on is not None or options.server is not None or options.question is not None:
        raise RequestError(
            "--make-views makes the views in the database, and does nothing else.", "Leave out the rest."
        )
    place = str(settings_at(options.database, options.in_workspace).database)
    if place == ":memory:" or ("://" not in place and not Path(place).expanduser().exists()):
        raise NotFound(f"There is no database {place}.", "--database names one.")
    with _opened_store(options) as store:
        if not isinstance(store, StoreWithViews):
            raise NotFound("This workspace is kept in memory only; there is no database to ask.")
        store.make_views()
    print("The views are in the schema forky_v1. docs/analysis.md describes them.")
    return 0


def _make_views(path: Path) -> None:
    """Create the views in a database that has none yet, unless another process has it open."""
    from forky_core.store.analysis.query import opened  # noqa: PLC0415 - as above
    from forky_core.store.duckdb.store import DuckDBStore  # noqa: PLC0415 - as above

    with suppress(NotFound), opened(path):
        return
    if path.is_file():
        store = DuckDBStore.open(path)
        try:
            store.make_views()
        finally:
            store.close()


def _fetched(server: str, to: Path) -> Path:
    """Download the copy that a running app makes of everything that the token's owner may see."""
    import httpx  # noqa: PLC0415 - as above

    token = os.environ.get(_TOKEN, "")
    if not token:
        raise BadContent(
            f"{_TOKEN} is not set.",
            "Make a token in Settings that also reads every conversation, and put it there.",
        )
    address = f"{server.rstrip('/')}/v1/analysis"
    try:
        with (
            httpx.stream(
                "GET", address, headers={"authorization": f"Bearer {token}"}, timeout=600
            ) as response,
            to.open("wb") as out,
        ):
            if response.status_code != httpx.codes.OK:
                response.read()
                raise NotAllowed(f"{server} refused: {_reason(response)}")
            for piece in response.iter_bytes():
                out.write(piece)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotFound(f"{server} could not be asked: {error}.", "Is it the address of Forky?") from error
    return to


def _reason(response: Any) -> str:
    with suppress(ValueError, KeyError, TypeError):
        return one_line(str(response.json()["error"]["message"]))[:300]
    return f"status {response.status_code}"


def _print_table(answer: QueryResult, out: TextIO) -> None:
    """Print the rows as columns that are as wide as their widest cell."""
    rows = [[one_line(_as_text(value))[:_WIDEST] for value in row] for row in answer.rows]
    widths = [max(map(len, column)) for column in zip(answer.columns, *rows, strict=True)]
    for row in (list(answer.columns), ["-" * width for width in widths], *rows):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), file=out
        )


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _as_json(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
