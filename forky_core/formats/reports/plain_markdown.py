"""Writes a report as Markdown that makes no program load or run anything.

The texts of people and models are Markdown already and keep their looks. Only three things change, outside of code:
pictures, which a reader would load from their address, become links; HTML becomes text; and links to anything except
web and mail addresses become text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forky_core.formats.reports.form import encoded
from forky_core.formats.reports.report import (
    Block,
    DataTable,
    Drawing,
    Exact,
    Picture,
    Prose,
    Report,
    ReportColumn,
    Sentences,
    SideBySide,
    Value,
)
from forky_core.text.fences import CodeBlocks, fenced
from forky_core.text.formulas import is_mathematics

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_CODE_OR_FORMULA = re.compile(
    r"(?P<code>(?<![`\\])(?P<ticks>`+)(?!`)[^\n]{1,2000}?(?<!`)(?P=ticks)(?!`))|\$\$?(?P<formula>[^$`\n]{1,1000})\$\$?"
)
_ESCAPED = "\\`"
"""After this, whether a backtick begins code depends on the number of backslashes, so such a line counts as no code."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\([ \t]*<?[ \t]*(?!https?://|mailto:|#))")
_DEFINITION = re.compile(r"^([ \t>]*)(?=\[[^\]\n]{1,300}\]:[ \t]*<?[ \t]*(?!https?://|mailto:|#))")
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def plain_markdown(report: Report) -> Iterator[bytes]:
    """Write the Markdown of a report, piece by piece."""
    yield encoded(f"# {plain_line(report.title)}\n")
    for sentence in report.about:
        yield encoded(f"\n{plain_line(sentence)}\n")
    for section in report.sections:
        yield encoded(f"\n## {plain_line(section.title)}\n")
        for block in section.blocks:
            for piece in _pieces(block):
                yield encoded(f"\n{piece}\n")


def _pieces(block: Block) -> Iterator[str]:
    """Yield a block of a report as pieces of Markdown that empty lines separate."""
    match block:
        case Sentences():
            yield from (plain_line(line) for line in block.lines)
        case Prose():
            yield harmless_markdown(block.text)
        case Exact():
            yield fenced(_shown(block.text).rstrip(), "text")
        case Picture():
            yield f"*Attached: {plain_line(block.name)}*"
        case Drawing():
            yield f"*{plain_line(block.description)}*"
        case DataTable():
            yield _table(block)
        case SideBySide():
            for column in block.columns:
                yield from _column(column)


def _column(column: ReportColumn) -> Iterator[str]:
    """Yield a column as pieces of Markdown below its own heading."""
    facts = f"\n\n*{plain_line(column.facts)}*" if column.facts else ""
    yield f"### {plain_line(column.title)}{facts}"
    for leaf in column.blocks:
        yield from _pieces(leaf)


def plain_line(text: str) -> str:
    """Put a text on one line and escape it, so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", _shown(" ".join(text.split())))


def _table(table: DataTable) -> str:
    if not table.rows:
        return "*Nothing.*"
    rule = "|".join("---" for _ in table.head)
    lines = [_row(table.head), f"|{rule}|", *map(_row, table.rows)]
    return "\n".join(lines)


def _row(values: tuple[Value, ...]) -> str:
    return f"| {' | '.join('' if value is None else plain_line(str(value)) for value in values)} |"


def harmless_markdown(text: str) -> str:
    """Change somebody's Markdown so that it loads nothing, runs nothing and closes every block of code.

    Text counts as code only if every Markdown parser agrees: below a fence at the beginning of a line, and between
    backticks of one line with no unpaired backtick above it. All other text is made harmless, even if it looks a little
    worse then.
    """
    blocks = CodeBlocks()
    lines: list[str] = []
    certain = doubtful = False
    for line in _shown(text).replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        part = blocks.take(line)
        if part == "opens":
            certain = line.startswith(("```", "~~~"))
        if part != "prose" and certain:
            lines.append(line)
            doubtful = False
            continue
        doubtful = doubtful and bool(line.strip())
        lines.append(_inert(line) if doubtful or part == "code" else _harmless(line))
        doubtful = doubtful or _ESCAPED in line or "`" in _CODE_OR_FORMULA.sub("", line)
    if blocks.marker:
        lines.append(blocks.end)
    return "\n".join(lines).strip("\n")


def _harmless(line: str) -> str:
    if not any(sign in line for sign in "<!]"):
        return line
    if _ESCAPED in line:
        return _inert(line)
    pieces: list[str] = []
    last = 0
    for found in _CODE_OR_FORMULA.finditer(line):
        if found["code"] or is_mathematics(found["formula"]):
            unchanged = found.group() if found["code"] else _spaced(found.group())
            pieces += (_inert(line[last : found.start()]), unchanged)
            last = found.end()
    return "".join((*pieces, _inert(line[last:])))


def _spaced(formula: str) -> str:
    """Add spaces to a formula, which do not change it, so that nothing in it looks like a tag, a picture or a link."""
    return _TAG.sub(r"\\lt ", formula).replace("![", "! [").replace("](", "] (").replace("]:", "] :")


def _inert(text: str) -> str:
    text = _DEFINITION.sub(r"\1\\", _TAG.sub("&lt;", text))
    return _LINK.sub(r"]\\", text.replace("![", "\\!["))


def _shown(text: str) -> str:
    return _UNSHOWABLE.sub("\ufffd", text).encode("utf-8", "replace").decode()
