"""An experiment as one web page that can be sent: it loads nothing, and everything can be read without its script.

Its policy allows the one script and the one style by their hashes and nothing else, as the page of a conversation does
(formats/exporting/writers/page/): if a text ever got past the escaping, a browser still would not run it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from forky_core.experiments.cells import CellResult
from forky_core.experiments.checks.registry import title
from forky_core.experiments.exporting.facts import dollars, seconds, share, state
from forky_core.experiments.intervals import Interval
from forky_core.experiments.plan import title_of
from forky_core.experiments.results import ColumnSummary, ExperimentResult
from forky_core.experiments.wording import counted
from forky_core.model.experiment import CellAddress, ExperimentRow

LONGEST_SHOWN = 20_000
"""Characters of an answer that the page holds; the conversation has the rest."""
_BRIEF = 160
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_MARKS = {True: ("pass", "✓", "passes"), False: ("fail", "✗", "fails"), None: ("open", "·", "no verdict")}


def write(result: ExperimentResult) -> Iterator[bytes]:
    style, script = _file("page.css"), _file("page.js")
    experiment = result.experiment
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(experiment.name)}</title>\n<style>{style}</style></head>\n<body>\n"
    ).encode()
    yield _top(result).encode()
    yield (
        b'<div class="tools"><input id="search" type="search" placeholder="Search the rows" aria-label="Search the rows">'
        b'<select id="show" aria-label="Which rows"><option value="">All rows</option>'
        b'<option value="fail">Rows with a failure</option><option value="differ">Rows where columns differ</option>'
        b'<option value="open">Rows without a verdict</option></select><span id="found" class="quiet" role="status"></span></div>\n'
        b'<div class="grid" tabindex="0" role="region" aria-label="Every answer"><table id="grid"><thead><tr><th scope="col">Row</th>'
    )
    columns = [
        (column, sample) for column in result.columns for sample in range(1, column.column.samples + 1)
    ]
    for column, sample in columns:
        more = f' <span class="quiet">sample {sample}</span>' if column.column.samples > 1 else ""
        yield f'<th scope="col">{safe(column.label)}{more}<div class="quiet">{share(column)}</div></th>'.encode()
    yield b"</tr></thead><tbody>\n"
    for row in experiment.rows:
        cells = [result.cells[CellAddress(row.id, column.column.id, sample)] for column, sample in columns]
        yield _row(row, cells).encode("utf-8", "replace")
    yield (
        "</tbody></table></div></main><footer>This page loads nothing and sends nothing. Written by Forky. Intervals are "
        f"bootstrapped over rows (95 %, seed {experiment.seed}).</footer>\n<script>{script}</script></body></html>\n"
    ).encode()


def safe(text: str) -> str:
    """A text as HTML, also as the value of a quoted attribute."""
    return escape(_UNSHOWABLE.sub("\ufffd", text))


def range_svg(rate: Interval | None) -> str:
    """A share with its interval as a small plot from 0 to 100 %."""
    if rate is None:
        return ""
    x = [round(6 + 188 * value, 1) for value in (rate.low, rate.value, rate.high)]
    return (
        f'<svg class="range" viewBox="0 0 200 20" role="img" aria-label="{safe(rate.text)}">'
        '<line class="axis" x1="6" y1="10" x2="194" y2="10"/><line class="axis" x1="6" y1="5" x2="6" y2="15"/>'
        '<line class="axis" x1="100" y1="7" x2="100" y2="13"/><line class="axis" x1="194" y1="5" x2="194" y2="15"/>'
        f'<line class="bar" x1="{x[0]}" y1="10" x2="{x[2]}" y2="10"/><circle class="dot" cx="{x[1]}" cy="10" r="4.5"/></svg>'
    )


def _top(result: ExperimentResult) -> str:
    experiment = result.experiment
    size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}"
    told = [f"<h1>{safe(experiment.name)}</h1>"]
    if experiment.about:
        told.append(f"<p>{safe(experiment.about)}</p>")
    told.append(f'<p class="quiet">{size}, {counted(result.calls, "call")}, {dollars(result.cost)}</p>')
    if result.verdict:
        told.append(f'<p class="verdict">{safe(result.verdict)}</p>')
    if result.agreement is not None:
        told.append(f"<p>{safe(result.agreement.sentence)}</p>")
    told += [f'<p class="warn">{safe(warning)}</p>' for warning in result.warnings]
    lines = "".join(_summary(column) for column in result.columns)
    return (
        f"<header>{''.join(told)}</header><main><h2>Columns</h2>"
        '<div class="sums"><table><thead><tr><th>Column</th><th>Passes, 95 %</th><th></th><th>Answered</th><th>Cost</th>'
        f"<th>Tokens</th><th>Median time</th><th></th></tr></thead><tbody>{lines}</tbody></table></div>"
        f"{_comparisons(result)}<h2>Answers</h2>\n"
    )


def _comparisons(result: ExperimentResult) -> str:
    if len(result.comparisons) < 2:
        return ""
    return "".join(f'<p class="quiet">{safe(one.sentence)}</p>' for one in result.comparisons)


def _summary(column: ColumnSummary) -> str:
    tokens = f"{column.prompt_tokens + column.completion_tokens:,}"
    return (
        f'<tr><td class="name">{safe(column.label)}</td><td>{range_svg(column.rate)}</td><td class="number">{share(column)}</td>'
        f'<td class="number">{column.answered:,} of {column.cells:,}</td><td class="number">{dollars(column.cost)}</td>'
        f'<td class="number">{tokens}</td><td class="number">{seconds(column.seconds)}</td><td class="quiet">{safe(state(column))}</td></tr>'
    )


def _row(row: ExperimentRow, cells: list[CellResult]) -> str:
    results = {cell.passed for cell in cells if cell.passed is not None}
    drawn = "".join(_cell(cell) for cell in cells)
    return f'<tr data-differ="{int(len(results) > 1)}"><th scope="row">{_folded(title_of(row))}</th>{drawn}</tr>\n'


def _cell(cell: CellResult) -> str:
    kind, sign, word = _MARKS[cell.passed]
    said = cell.text
    if not said:
        return f'<td class="open"><span class="mark">·</span><span class="quiet">{safe(cell.reply.why or "not asked yet")}</span></td>'
    checks = "".join(
        f"<li>{_MARKS[one.verdict.passed][1]} {safe(title(one.check))}: {safe(one.verdict.reason)}</li>"
        for one in cell.verdicts
    )
    marked = ""
    if cell.mark is not None:
        marked = f"<li>{safe(cell.mark.by)} says: {'good' if cell.mark.passed else 'bad'}</li>"
    listed = f'<ul class="checks">{checks}{marked}</ul>' if checks or marked else ""
    why = f'<p class="quiet">{safe(cell.reply.why)}</p>' if cell.reply.why else ""
    brief = " ".join(said[: _BRIEF * 3].split())
    short = brief if len(brief) <= _BRIEF and len(said) <= _BRIEF * 3 else f"{brief[:_BRIEF]}…"
    rest = f"\n[… {len(said) - LONGEST_SHOWN:,} more characters …]" if len(said) > LONGEST_SHOWN else ""
    return (
        f'<td class="{kind}"><details><summary><span class="mark" title="{word}">{sign}</span>'
        f'<span class="brief">{safe(short)}</span></summary><div class="said">{safe(said[:LONGEST_SHOWN] + rest)}</div>'
        f"{why}{listed}</details></td>"
    )


def _folded(text: str) -> str:
    return safe(text if len(text) <= 300 else f"{text[:299]}…")


def _file(name: str) -> str:
    return files("forky_core.experiments.exporting").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
