"""A report as Markdown, which other programs may read without loading or running anything for it.

What people and models wrote is Markdown already and keeps its looks. Only three things are taken out of it, outside of
code: pictures, which a reader would fetch from wherever they are, become links; HTML becomes text; and links to
anything but the web and mail addresses become text.
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
"""Behind it the next backtick may begin code or not, by the number of backslashes: nothing of such a line is code."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\([ \t]*<?[ \t]*(?!https?://|mailto:|#))")
_DEFINITION = re.compile(r"^([ \t>]*)(?=\[[^\]\n]{1,300}\]:[ \t]*<?[ \t]*(?!https?://|mailto:|#))")
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def plain_markdown(report: Report) -> Iterator[bytes]:
    """The Markdown of a report, piece by piece."""
    yield encoded(f"# {plain_line(report.title)}\n")
    for sentence in report.about:
        yield encoded(f"\n{plain_line(sentence)}\n")
    for section in report.sections:
        yield encoded(f"\n## {plain_line(section.title)}\n")
        for block in section.blocks:
            for piece in _pieces(block):
                yield encoded(f"\n{piece}\n")


def _pieces(block: Block) -> Iterator[str]:
    """A block of a report as pieces of Markdown, between which an empty line belongs."""
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
    """A column as pieces of Markdown below a heading of its own."""
    facts = f"\n\n*{plain_line(column.facts)}*" if column.facts else ""
    yield f"### {plain_line(column.title)}{facts}"
    for leaf in column.blocks:
        yield from _pieces(leaf)


def plain_line(text: str) -> str:
    """A text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", _shown(" ".join(text.split())))


def _table(table: DataTable) -> str:
    """A table whose cells are one line each."""
    if not table.rows:
        return "*Nothing.*"
    rule = "|".join("---" for _ in table.head)
    lines = [_row(table.head), f"|{rule}|", *map(_row, table.rows)]
    return "\n".join(lines)


def _row(values: tuple[Value, ...]) -> str:
    return f"| {' | '.join('' if value is None else plain_line(str(value)) for value in values)} |"


def harmless_markdown(text: str) -> str:
    """What somebody wrote as Markdown that loads nothing, runs nothing and ends all code that it begins.

    Text counts as code only where every reader of Markdown takes it for code: below a fence at the beginning of a line,
    and between backticks of one line with none left over above it. Anywhere else it is made harmless, also if it looks
    a little worse for that.
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
            kept = found.group() if found["code"] else _spaced(found.group())
            pieces += (_inert(line[last : found.start()]), kept)
            last = found.end()
    return "".join((*pieces, _inert(line[last:])))


def _spaced(formula: str) -> str:
    """A formula in which nothing looks like a tag, a picture or a link; spaces mean nothing in it."""
    return _TAG.sub(r"\\lt ", formula).replace("![", "! [").replace("](", "] (").replace("]:", "] :")


def _inert(text: str) -> str:
    text = _DEFINITION.sub(r"\1\\", _TAG.sub("&lt;", text))
    return _LINK.sub(r"]\\", text.replace("![", "\\!["))


def _shown(text: str) -> str:
    return _UNSHOWABLE.sub("\ufffd", text).encode("utf-8", "replace").decode()
