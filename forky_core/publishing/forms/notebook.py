"""A report as a Jupyter notebook (nbformat 4.5): what is read as Markdown cells, the rows as data in a code cell."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import ClassVar

from forky_core.formats.exporting.writers.notebook import notebook_cell, notebook_pieces
from forky_core.model.parts import Json
from forky_core.publishing.forms.plain_markdown import column_pieces, markdown_pieces, plain_line
from forky_core.publishing.report import Block, DataTable, Picture, Report, SideBySide

_MOST_DATA = 5_000_000
"""Characters of the data that a cell holds; of more, the notebook says that the CSV has it."""
_MOST_SECTIONS = 1_000
"""Sections that get cells of their own; the data has all of them."""


class ReportNotebook:
    name: ClassVar[str] = "notebook"
    label: ClassVar[str] = "Jupyter notebook"
    suffix: ClassVar[str] = ".ipynb"
    media_type: ClassVar[str] = "application/x-ipynb+json"

    def write(self, report: Report) -> Iterator[bytes]:
        yield from notebook_pieces(report.title, _cells(report), forky={"thing": report.kind})


def _cells(report: Report) -> Iterator[Json]:
    about = "\n\n".join(map(plain_line, report.about))
    yield _markdown("title", f"# {plain_line(report.title)}\n\n{about}".rstrip())
    yield _data(report.table)
    for at, section in enumerate(report.sections[:_MOST_SECTIONS], 1):
        pending = [f"## {plain_line(section.title)}"]
        number = 0
        for block in section.blocks:
            for pieces, pictures in _of(block):
                if pictures or isinstance(block, SideBySide):
                    if pending:
                        number += 1
                        yield _markdown(f"s{at}-{number}", "\n\n".join(pending))
                        pending = []
                    number += 1
                    yield _markdown(f"s{at}-{number}", "\n\n".join(pieces), pictures)
                else:
                    pending += pieces
        if pending:
            yield _markdown(f"s{at}-{number + 1}", "\n\n".join(pending))
    if len(report.sections) > _MOST_SECTIONS:
        left = len(report.sections) - _MOST_SECTIONS
        yield _markdown("rest", f"{left:,} more sections are in the data above.")


def _of(block: Block) -> Iterator[tuple[list[str], dict[str, Json]]]:
    """The pieces of each cell that a block becomes, with the pictures in it."""
    if isinstance(block, Picture):
        yield _picture(block)
    elif isinstance(block, SideBySide):
        for column in block.columns:
            pictures: dict[str, Json] = {}
            for leaf in column.blocks:
                if isinstance(leaf, Picture):
                    pictures |= _picture(leaf)[1]
            shown = [f"![](attachment:{name})" for name in pictures]
            yield [*column_pieces(column), *shown], pictures
    else:
        yield list(markdown_pieces(block)), {}


def _picture(picture: Picture) -> tuple[list[str], dict[str, Json]]:
    name = f"picture-{hashlib.sha256(picture.content).hexdigest()[:16]}"
    data: Json = {picture.media_type: base64.b64encode(picture.content).decode()}
    return [*markdown_pieces(picture), f"![](attachment:{name})"], {name: data}


def _data(table: DataTable) -> Json:
    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    written = json.dumps(rows, ensure_ascii=True)
    if len(written) > _MOST_DATA:
        return _markdown("data", f"The data of {len(rows):,} rows is in the CSV, which has room for it.")
    source = f"import json\n\nrows = json.loads({written!r})\nprint(len(rows), 'rows')"
    return {**notebook_cell("data", source, code=True), "metadata": {"jupyter": {"source_hidden": True}}}


def _markdown(id: str, text: str, pictures: dict[str, Json] | None = None) -> Json:
    cell = notebook_cell(id, text)
    return {**cell, "attachments": pictures} if pictures else cell
