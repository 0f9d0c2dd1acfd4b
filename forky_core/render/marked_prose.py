"""Blocks of answers with marks on what differs (views/answers/marks.py) as trees of elements, which Compare draws.

Each block has its number as `data-b`, by which it is found, chosen and held in place. Code, diagrams and formulas are
those of prose.py; in code that another answer has in part, each line is an element of its own with its mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, cast

from forky_core.render.mermaid import HEAVIEST, LANGUAGE, diagram
from forky_core.render.prose import AWAY, code_box, diagram_box, formula, plain, tick_box, tokens
from forky_core.render.trees import Tree, element
from forky_core.views.answers.blocks import AnswerBlock, BlockContainer
from forky_core.views.answers.code_colors import colored
from forky_core.views.answers.marks import MarkedBlock, MarkedRun

_MEANS = {
    "only": "Only this one says it",
    "other": "The pinned one does not say it",
    "clash": "Another one says otherwise",
    "gone": "The pinned one says this",
}
"""What a mark means, which is read on hover."""
_CONTAINERS = {"ul": "ul", "ol": "ol", "li": "li", "quote": "blockquote"}
_WRAPS = {"strong": "strong", "em": "em", "strike": "s", "code": "code"}


def marked_prose(blocks: Sequence[MarkedBlock], *, growing: bool = False) -> list[Tree]:
    """Return the blocks in their lists, quotations and tables; of a text that is `growing` no diagram is drawn."""
    drawing = _Drawing(room=0 if growing else HEAVIEST)
    for at, one in enumerate(blocks):
        here = drawing.place_of(one.block)
        made = drawing.block(one, here)
        made[1] = (made[1] or {}) | {"data-b": str(at)}
        here.append(made)
    return drawing.root[2:]


@dataclass(slots=True)
class _Drawing:
    room: int
    """How heavy the diagrams that are still to come may be."""
    root: list[Any] = field(default_factory=lambda: element("", None))
    open: list[tuple[BlockContainer, list[Any]]] = field(default_factory=list)
    """The lists, items and quotations that the last block stands in."""
    table: int = 0
    rows: list[Any] = field(default_factory=list)
    """The table of the last block, where that was a row."""
    level: int = 2
    """That of the last heading; those of columns are the second."""

    def place_of(self, block: AnswerBlock) -> list[Any]:
        """Return the element that a block stands in."""
        same = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], zip(self.open, block.inside)))  # noqa: B905 - the shorter counts
        if same < max(len(self.open), len(block.inside)) or block.kind != "row":
            self.table = 0
        del self.open[same:]
        here = self.open[-1][1] if self.open else self.root
        for container in block.inside[same:]:
            made = element(_CONTAINERS[container.tag], None)
            if container.tag == "li" and here[0] == "ol" and len(here) == 2:
                here[1] = {"start": str(container.start)}
            here.append(made)
            self.open.append((container, made))
            here = made
        if block.kind != "row":
            return here
        if self.table != block.table:
            self.table, self.rows = block.table, element("table", None)
            here.append(element("div", {"class": "fk-table", "tabindex": "0"}, (self.rows,)))
        part = "thead" if block.header else "tbody"
        if len(self.rows) == 2 or self.rows[-1][0] != part:
            self.rows.append(element(part, None))
        return cast("list[Any]", self.rows[-1])

    def block(self, one: MarkedBlock, here: list[Any]) -> list[Any]:
        block = one.block
        match block.kind:
            case "row":
                return element("tr", None, _cells(one))
            case "heading":
                # No heading is more than one level below the one before it.
                self.level = min(6, block.level + 2, self.level + 1)
                return element(f"h{self.level}", _alone(one), _runs(one.spans[0]))
            case "code" if block.language.casefold() == LANGUAGE and self.room:
                found = diagram(block.text, self.room)
                self.room -= found.weight
                return diagram_box(found, _code(one))
            case "code":
                return _code(one)
            case "rule":
                return element("hr", None)
            case "plain":
                return plain(block.text)
            case _:
                if block.task is None:
                    return element("p", _alone(one), _runs(one.spans[0]))
                here[1] = {"class": "task-list-item"}
                return element("p", _alone(one), (tick_box(ticked=block.task), *_runs(one.spans[0])))


def _alone(one: MarkedBlock) -> dict[str, str]:
    """A block that one answer alone has, from its first word to its last, is marked at its side."""
    said = [
        run for span in one.spans for run in span if run.mark != "gone" and any(map(str.isalnum, run.text))
    ]
    alone = said and all(run.mark == "only" for run in said)
    return {"class": "only", "title": _MEANS["only"]} if alone else {}


def _runs(runs: Iterable[MarkedRun]) -> Iterator[Tree]:
    """Words with their styles; what is marked is a mark, and what is missing here is deleted text."""
    for run in runs:
        mark = {"class": run.mark, "title": _MEANS[run.mark]} if run.mark in _MEANS else {}
        if run.mark == "gone":
            yield element("del", mark, (run.text,))
            continue
        trees: list[Tree] = [piece for line in run.text.split("\n") for piece in (element("br", None), line)][
            1:
        ]
        if "formula" in run.styles:
            trees = [formula(run.text, run.text, display="display" in run.styles)]
        for tag in (_WRAPS[style] for style in run.styles if style in _WRAPS):
            trees = [element(tag, None, trees)]
        if run.href:
            trees = [element("a", {"href": run.href} | AWAY, trees)]
        yield from [element("mark", mark, trees)] if mark else trees


def _cells(one: MarkedBlock) -> Iterator[Tree]:
    for cell, align in zip(one.spans, one.block.align, strict=True):
        mark = next((run.mark for run in cell if run.mark in _MEANS), "")
        given = {"class": mark, "title": _MEANS[mark]} if mark else {}
        given |= {"style": f"text-align:{align}"} if align else {}
        words = _runs(replace(run, mark="") for run in cell)
        yield element("th" if one.block.header else "td", given, words)


def _code(one: MarkedBlock) -> list[Any]:
    """Code of which another answer says a part is a diff, to which the style of the page adds the signs."""
    lines = ["".join(run.text for run in span) for span in one.spans]
    marks = [span[0].mark if span else "" for span in one.spans]
    said = {mark for mark, line in zip(marks, lines, strict=True) if line.strip()}
    kind = "only" if said == {"only"} else "diff" if said & {"only", "other"} else ""
    trees: list[Tree] = []
    for at, (mark, pieces) in enumerate(zip(marks, colored(lines, one.block.language), strict=True), 1):
        line = (*tokens(pieces), *("\n" if at < len(lines) else ""))
        trees += [element("span", {"class": f"ln {mark}"}, line)] if kind == "diff" else line
    return code_box(trees, one.block.language, {"class": f"fk-code {kind}", "data-wraps": ""})
