"""An answer as blocks: paragraphs, headings, lines of code and rows of tables, as its Markdown means them.

Compare draws, aligns, marks and picks blocks. They hold text and a few styles and no markup, so whatever draws them
cannot be made to obey what a model wrote: HTML stays text, a picture becomes a link, and a link leads to the web or to
a mail address and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from forky_core.process.extras import needed_for
from forky_core.text.fences import fenced
from forky_core.text.showable import showable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FORMATTED = 20_000
"""The most characters of one answer that are read as Markdown; what follows them is plain text."""
PLAIN = 8_000
"""The most characters of one block of plain text."""
DEEPEST = 12
"""The most levels of lists and quotations that are told apart."""

BlockKind = Literal["paragraph", "heading", "code", "row", "rule", "plain"]
Style = Literal["strong", "em", "strike", "code", "formula", "display"]
"""The text of a "formula" is its LaTeX; one that also has "display" stands on a line of its own."""
ContainerTag = Literal["ul", "ol", "li", "quote"]

_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:[^\n]*$", re.MULTILINE)
_STYLES: dict[str, Style] = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}


@dataclass(frozen=True, slots=True)
class InlineRun:
    """A stretch of text with one look."""

    text: str
    styles: tuple[Style, ...] = ()
    href: str = ""
    """A web or mail address; "" for plain text."""


@dataclass(frozen=True, slots=True)
class BlockContainer:
    """A list, an item or a quotation that a block stands in."""

    tag: ContainerTag
    number: int
    """Tells it from the others of the same answer."""
    start: int = 1
    """The number of an item in its numbered list."""


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """One block of an answer."""

    kind: BlockKind
    spans: tuple[tuple[InlineRun, ...], ...]
    """The text of a paragraph or heading; the lines of code; the cells of a row of a table."""
    source: str
    """The Markdown that makes the same block elsewhere, without the lists and quotations around it."""
    inside: tuple[BlockContainer, ...] = ()
    """From the outermost to the innermost."""
    level: int = 0
    """Of a heading: 1 to 6."""
    language: str = ""
    """Of code, as the answer names it."""
    table: int = 0
    """Of a row: tells its table from the others of the same answer."""
    header: bool = False
    """Whether a row heads its table."""
    task: bool | None = None
    """Of an item with a box to tick: whether it is ticked."""
    align: tuple[str, ...] = ()
    """Of a row: "left", "center", "right" or "" for each cell."""

    @property
    def text(self) -> str:
        """The text without any markup."""
        between = "\n" if self.kind == "code" else " "
        return between.join("".join(run.text for run in span) for span in self.spans)


@lru_cache(maxsize=4_096)
def blocks_of(text: str) -> tuple[AnswerBlock, ...]:
    """Read an answer as blocks; beyond FORMATTED characters it is cut into blocks of plain text.

    Raises:
        NotInstalled: the package that reads Markdown is missing.
    """
    shown = showable(text).expandtabs(4)
    head, rest = _cut(shown)
    found = tuple(_Reading().read(_parser().parse(head)))
    # Lists in lists without end are cut by the parser: such a text is shown as it was written.
    whole = 2 * sum(_letters(block.source) for block in found) >= _letters(_DEFINITION.sub("", head))
    return (*(found if whole else _plain(head)), *_plain(rest))


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _cut(text: str) -> tuple[str, str]:
    """Cut a long text at the end of a line."""
    if len(text) <= FORMATTED:
        return text, ""
    at = text.rfind("\n", FORMATTED // 2, FORMATTED) + 1 or FORMATTED
    return text[:at], text[at:]


def _plain(text: str) -> Iterator[AnswerBlock]:
    while text:
        at = len(text) if len(text) <= PLAIN else text.rfind("\n", PLAIN // 2, PLAIN) + 1 or PLAIN
        piece, text = text[:at], text[at:]
        if piece.strip():
            yield AnswerBlock("plain", ((InlineRun(piece),),), piece.strip("\n"))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    with needed_for("Comparing answers", "app"):
        from forky_core.text.markdown import markdown_parser  # noqa: PLC0415 - the library does without it
    return markdown_parser(nesting=60)


@dataclass(slots=True)
class _Reading:
    """Reads the tokens of one answer."""

    inside: list[BlockContainer] = field(default_factory=list)
    count: int = 0
    depth: int = 0
    items: list[int] = field(default_factory=list)
    """The number of the next item of each open list."""

    def read(self, tokens: Sequence[Token]) -> Iterator[AnswerBlock]:
        row: list[Token] | None = None
        table: _Table | None = None
        for at, token in enumerate(tokens):
            match token.type:
                case "bullet_list_open" | "ordered_list_open" | "list_item_open" | "blockquote_open":
                    self._open(token)
                case "bullet_list_close" | "ordered_list_close" | "list_item_close" | "blockquote_close":
                    self._close(token)
                case "fence" | "code_block":
                    yield self._placed(_code(token))
                case "hr":
                    yield self._placed(AnswerBlock("rule", (), "---"))
                case "table_open":
                    self.count += 1
                    table = _Table(self.count)
                case "tr_open":
                    row = []
                case "tr_close" if table is not None and row is not None:
                    yield self._placed(table.row(row))
                    row = None
                case "inline" if row is not None:
                    row.append(tokens[at - 1])
                    row.append(token)
                case "inline":
                    yield self._placed(_prose(token, tokens[at - 1]))
                case _:
                    pass

    def _open(self, token: Token) -> None:
        self.depth += 1
        self.count += 1
        match token.type:
            case "bullet_list_open":
                self.items.append(1)
                made = BlockContainer("ul", self.count)
            case "ordered_list_open":
                start = token.attrGet("start")
                self.items.append(int(start) if start is not None else 1)
                made = BlockContainer("ol", self.count)
            case "list_item_open":
                made = BlockContainer("li", self.count, self.items[-1])
                self.items[-1] += 1
            case _:
                made = BlockContainer("quote", self.count)
        self.inside.append(made)

    def _close(self, token: Token) -> None:
        self.inside.pop()
        if token.type.endswith("list_close"):
            self.items.pop()

    def _placed(self, block: AnswerBlock) -> AnswerBlock:
        return replace(block, inside=tuple(self.inside[: 2 * DEEPEST]))


@dataclass(slots=True)
class _Table:
    """The table whose rows are being read."""

    number: int
    rows: int = 0

    def row(self, tokens: Sequence[Token]) -> AnswerBlock:
        cells = tuple(_runs(token) for token in tokens[1::2])
        align = tuple(str(token.attrGet("style") or "").removeprefix("text-align:") for token in tokens[::2])
        said = " | ".join(token.content.replace("|", "\\|") for token in tokens[1::2])
        header = self.rows == 0
        self.rows += 1
        source = f"| {said} |"
        if header:
            marks = {"left": ":---", "center": ":---:", "right": "---:"}
            source += f"\n| {' | '.join(marks.get(one, '---') for one in align)} |"
        return AnswerBlock("row", cells, source, table=self.number, header=header, align=align)


def _code(token: Token) -> AnswerBlock:
    text = token.content.removesuffix("\n")
    info = token.info.split()[0] if token.type == "fence" and token.info.split() else ""
    lines = tuple((InlineRun(line),) if line else () for line in text.split("\n"))
    return AnswerBlock("code", lines, fenced(text, info), language=info[:40])


def _prose(token: Token, before: Token) -> AnswerBlock:
    runs = _runs(token)
    if before.type == "heading_open":
        level = int(before.tag[1:])
        return AnswerBlock(
            "heading", (runs,), f"{'#' * level} {' '.join(token.content.split())}", level=level
        )
    ticked = token.meta.get("ticked")
    if ticked is not None:
        runs = (replace(runs[0], text=runs[0].text.lstrip()), *runs[1:])
    return AnswerBlock("paragraph", (runs,), token.content, task=ticked)


def _runs(token: Token) -> tuple[InlineRun, ...]:
    made: list[InlineRun] = []
    styles: list[Style] = []
    hrefs: list[str] = []
    for child in token.children or ():
        if child.type in _STYLES:
            styles.append(_STYLES[child.type])
        elif child.type.replace("close", "open") in _STYLES:
            styles.remove(_STYLES[child.type.replace("close", "open")])
        elif child.type == "link_open":
            hrefs.append(str(child.attrGet("href") or ""))
        elif child.type == "link_close":
            hrefs.pop()
        else:
            run = _run(child, styles, hrefs[-1] if hrefs else "")
            alike = made and (made[-1].styles, made[-1].href) == (run.styles, run.href)
            if alike and "formula" not in run.styles:
                made[-1] = replace(run, text=made[-1].text + run.text)
            elif run.text:
                made.append(run)
    return tuple(made)


def _run(child: Token, styles: Sequence[Style], href: str) -> InlineRun:
    own: tuple[Style, ...] = ()
    text = child.content
    match child.type:
        case "softbreak":
            text = " "
        case "hardbreak":
            text = "\n"
        case "code_inline":
            own = ("code",)
        case "formula":
            own = ("formula", "display") if child.meta.get("display") else ("formula",)
        case "image":
            text, href = f"🖼 {child.content or 'image'}", str(child.attrGet("src") or "")
        case _:
            pass
    return InlineRun(text, tuple(dict.fromkeys((*styles, *own))), href)
