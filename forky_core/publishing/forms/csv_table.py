"""The table of an experiment as CSV, for spreadsheets and programs.

The file begins with a byte order mark, by which spreadsheets know its encoding, and a text that a spreadsheet would
run as a formula begins with an apostrophe.
"""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.csv_lines import csv_line
from forky_core.model.errors import BadContent
from forky_core.publishing.report import DataTable, Report


def table_of(report: Report) -> Iterator[bytes]:
    """The lines of the report's table. Raises BadContent, before the first line, if it has none."""
    if report.table is None:
        raise BadContent("Only an experiment is written as a table.", "Write “html” or “markdown”.")
    return _lines(report.table)


def _lines(table: DataTable) -> Iterator[bytes]:
    yield b"\xef\xbb\xbf" + csv_line(table.head)
    for row in table.rows:
        yield csv_line(row)
