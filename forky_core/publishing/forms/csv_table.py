"""The rows of a report as CSV, for spreadsheets and programs.

The file begins with a byte order mark, by which spreadsheets know its encoding, and a text that a spreadsheet would
run as a formula begins with an apostrophe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.csv_lines import csv_line
from forky_core.publishing.report import Report


class CsvTable:
    name: ClassVar[str] = "csv"
    label: ClassVar[str] = "Table (CSV)"
    suffix: ClassVar[str] = ".csv"
    media_type: ClassVar[str] = "text/csv"

    def write(self, report: Report) -> Iterator[bytes]:
        yield b"\xef\xbb\xbf" + csv_line(report.table.head)
        for row in report.table.rows:
            yield csv_line(row)
