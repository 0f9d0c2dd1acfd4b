"""A report as one web page that is read from top to bottom, in any browser; it loads and runs nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from forky_core.publishing.forms.form import encoded
from forky_core.publishing.report import (
    Block,
    DataTable,
    Drawing,
    Exact,
    Leaf,
    Picture,
    Prose,
    Report,
    ReportColumn,
    Sentences,
    SideBySide,
    Value,
)
from forky_core.showing.assets import shared_style, source_hash
from forky_core.showing.escaping import safe
from forky_core.showing.prose import long_code, long_prose

_FEWEST_FOR_CONTENTS = 4
_MOST_IN_CONTENTS = 200


def web_page(report: Report) -> Iterator[bytes]:
    """The page of a report, piece by piece."""
    yield encoded(_page_head(report.title, report.kind))
    about = "".join(f'<p dir="auto">{safe(line)}</p>' for line in report.about)
    yield encoded(f'<header><h1 dir="auto">{safe(report.title)}</h1>{about}</header>\n<main>\n')
    if len(report.sections) >= _FEWEST_FOR_CONTENTS:
        listed = "".join(
            f'<li><a href="#s{at}" dir="auto">{safe(section.title)}</a></li>'
            for at, section in enumerate(report.sections[:_MOST_IN_CONTENTS], 1)
        )
        yield encoded(f'<nav aria-label="Contents"><ol>{listed}</ol></nav>\n')
    for at, section in enumerate(report.sections, 1):
        yield encoded(f'<section id="s{at}"><h2 dir="auto">{safe(section.title)}</h2>\n')
        for block in section.blocks:
            for piece in _block(block):
                yield encoded(piece)
        yield b"</section>\n"
    yield encoded(
        "</main>\n<footer>This page loads nothing and sends nothing. Written by Forky.</footer>\n</body></html>\n"
    )


@cache
def _style() -> str:
    """The style of the page: what all pages share, and that of reports."""
    return shared_style() + files("forky_core.publishing.forms").joinpath("report.css").read_text("utf-8")


def _page_head(title: str, kind: str) -> str:
    """Everything up to the contents of the body."""
    css = _style()
    policy = f"default-src 'none'; style-src '{source_hash(css)}'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{safe(title)}</title>\n<style>{css}</style></head>\n<body class="report {kind}">\n'
    )


def _block(block: Block) -> Iterator[str]:
    """A block as HTML, piece by piece."""
    if isinstance(block, SideBySide):
        yield '<div class="columns" tabindex="0" role="group" aria-label="Side by side">'
        for number, column in enumerate(block.columns):
            yield _column(column, number)
        yield "</div>"
    else:
        yield _leaf(block)


def _column(column: ReportColumn, number: int) -> str:
    """A column, in the colour of its place."""
    facts = f'<p class="facts">{safe(column.facts)}</p>' if column.facts else ""
    body = "".join(map(_leaf, column.blocks))
    return f'<article class="column c{number % 8}"><h3 dir="auto">{safe(column.title)}</h3>{facts}{body}</article>'


def _leaf(leaf: Leaf) -> str:
    """A block that holds no others, as HTML."""
    match leaf:
        case Sentences():
            return "".join(f'<p class="aside" dir="auto">{safe(line)}</p>' for line in leaf.lines)
        case Prose():
            return f'<div class="prose">{long_prose(leaf.text)}</div>'
        case Exact():
            return f'<div class="prose exact">{long_code(leaf.text)}</div>'
        case Picture():
            data = base64.b64encode(leaf.content).decode()
            return (
                f'<figure><img alt="{safe(leaf.name)}" src="data:{leaf.media_type};base64,{data}"></figure>'
            )
        case Drawing():
            return f'<figure class="drawing">{leaf.svg}<figcaption>{safe(leaf.description)}</figcaption></figure>'
        case DataTable():
            return _table(leaf)


def _table(table: DataTable) -> str:
    """A table; one that is wider than the page scrolls by itself."""
    if not table.rows:
        return '<p class="aside">Nothing.</p>'
    numbers = [all(isinstance(row[at], int | float) for row in table.rows) for at in range(len(table.head))]
    head = "".join(
        f'<th scope="col"{" class=right" if number else ""}>{safe(name)}</th>'
        for name, number in zip(table.head, numbers, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(value: Value) -> str:
    if isinstance(value, int | float):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
        return f'<td class="number">{shown}</td>'
    return f'<td dir="auto">{safe(value or "")}</td>'
