"""Markdown as trees of elements (trees.py): the one renderer of what models and people write on the pages of the app.

Nothing in a text is obeyed: HTML stays text, a picture becomes a link, and a link leads to the web, to a mail address,
to a heading or a note of the text itself, to a passage that the answer cites, or to the app's Settings. The trees hold
only elements that this module makes. How they look is in pages/ui/components/prose.css.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2s
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from forky_core.context.citations import NUMBERS
from forky_core.render.mermaid import HEAVIEST, LANGUAGE, Diagram, diagram
from forky_core.render.trees import Tree, element
from forky_core.text.markdown import ADDRESS, GROWS, is_web_or_mail, markdown_parser, trimmed
from forky_core.text.mathml import MathElement, math_element
from forky_core.text.showable import showable
from forky_core.text.unfinished import mend, open_code
from forky_core.text.words import WIDE
from forky_core.views.answers.code_colors import colored_code

_TEXT = re.compile(
    rf"(?P<web>(?<![./@:+-])(?<![^\W{WIDE}])www\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+{ADDRESS})"
    r"|(?P<mail>(?<![.+@/-])(?<![^\WWIDE])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
    r"\.[A-Za-z0-9_-]*[A-Za-z0-9](?![@-])(?![^\WWIDE]))".replace("WIDE", WIDE)
    + f"|(?P<cited>{NUMBERS})"
)
_NOTE = re.compile(r"\[\^([^\s\[\]]{1,60})\]:[ \t]*")
_NOTE_NUMBER = re.compile(r"\[\^([^\s\[\]]{1,60})\]")
_NOTES, _IN_NOTE = "notes", "in a note"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")
_DEEPEST = 50
_NESTING = 100
_CODE = {"class": "fk-code"}
_SAME = {"strong": "strong", "em": "em", "s": "del"}
AWAY = {"target": "_blank", "rel": "noopener noreferrer"}
"""What a link that leaves the app has beside its address."""

SETTINGS = "./settings"
"""The only page of the app to which a text can lead."""

Cited = Mapping[int, str]
"""The address that each number of a passage opens."""
_NOTHING: Cited = {}


def prose(text: str, cited: Cited = _NOTHING) -> tuple[Tree, ...]:
    """Return the blocks of a text as it is drawn; bracketed numbers that cite something are links."""
    return _prose(text, tuple(cited.items()))


@lru_cache(maxsize=2_000)
def _prose(text: str, cited: tuple[tuple[int, str], ...]) -> tuple[Tree, ...]:
    shown = showable(text)
    tokens = prose_parser().parse(shown, {})
    if is_too_deep(tokens):
        return (plain(shown),)
    drawing = ProseDrawing(dict(cited), blake2s(text.encode("utf-8", "replace"), digest_size=4).hexdigest())
    return (*drawing.blocks(tokens), *drawing.notes())


def is_too_deep(tokens: Sequence[Token]) -> bool:
    """Whether lists and quotations stand in each other deeper than they are drawn."""
    return any(token.level > _DEEPEST for token in tokens)


def plain(text: str) -> list[Any]:
    """Return a text as it was written."""
    return element("div", {"class": "fk-plain"}, (text,))


@lru_cache(maxsize=1)
def prose_parser() -> MarkdownIt:
    """Return the parser of what `ProseDrawing` draws."""
    made = markdown_parser(
        nesting=_NESTING, is_link=lambda to: is_web_or_mail(to) or to.startswith("#") or to == SETTINGS
    )
    made.block.ruler.before("reference", "note", _note, {"alt": ["paragraph"]})
    made.inline.ruler.before("escape", "open_code", open_code)
    made.inline.ruler.before("link", "note_number", _note_number)
    made.core.ruler.before("inline", "mend", mend)
    return made


def _note(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    """A note at the foot of the text, with the lines that belong to it."""
    found = _NOTE.match(state.src, state.bMarks[first] + state.tShift[first], state.eMarks[first])
    if found is None or state.is_code_block(first) or _IN_NOTE in state.env:
        return False
    if silent:
        return True
    indent, line = state.blkIndent + 4, first + 1
    while line < last and (
        (not state.isEmpty(line) and not state.isEmpty(line - 1) and not _NOTE.match(_line(state, line)))
        or (state.isEmpty(line) and line + 1 < last and state.sCount[line + 1] >= indent)
        or (not state.isEmpty(line) and state.sCount[line] >= indent)
    ):
        line += 1
    text = f"{state.src[found.end() : state.eMarks[first]]}\n{state.getLines(first + 1, line, indent, False)}"
    opened = state.push("note_open", "", 1)
    opened.map, opened.content = [first, line], found[1]
    state.env.setdefault(_NOTES, set()).add(found[1])
    state.env[_IN_NOTE] = True
    inner: list[Token] = []
    state.md.block.parse(text, state.md, state.env, inner)
    del state.env[_IN_NOTE]
    for token in inner:
        token.level += state.level
    state.tokens += inner
    state.push("note_close", "", -1)
    state.line = line
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _note_number(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - as above
    found = _NOTE_NUMBER.match(state.src, state.pos, state.posMax)
    if found is None or (found[1] not in state.env.get(_NOTES, ()) and GROWS not in state.env):
        return False
    if not silent:
        state.push("note", "", 0).content = found[1]
    state.pos = found.end()
    return True


class ProseDrawing:
    """Draws the tokens of one text."""

    def __init__(self, cited: Cited, name: str) -> None:
        """`name` tells the places of this text, to which its links lead, from those of others on the same page."""
        self._cited = cited
        self._name = name
        self._room = HEAVIEST
        """How heavy the diagrams that are still to come may be."""
        self._headings: dict[str, list[Any]] = {}
        self._leads: list[tuple[list[Any], str]] = []
        """Links to headings, with what they name."""
        self._numbers: dict[str, int] = {}
        """Of the notes that were named, in the order in which they were."""
        self._notes: dict[str, list[Tree]] = {}

    def notes(self) -> tuple[Tree, ...]:
        """Return the notes at the foot of the text, where there are any."""
        listed = [
            element("li", {"id": self._place(f"note-{number}")}, self._notes[label][2:])
            for label, number in self._numbers.items()
            if label in self._notes
        ]
        return (element("ol", {"class": "fk-notes"}, listed),) if listed else ()

    def blocks(self, tokens: Sequence[Token], *, growing: bool = False) -> list[Tree]:
        """Return the blocks of these tokens; of a text that is `growing` the last diagram may still be cut."""
        open_ = [element("", None)]
        for at, token in enumerate(tokens):
            here = open_[-1]
            match token.type:
                case "inline":
                    if "ticked" in token.meta:
                        listed, item = [one for one in open_ if one[0] in ("ul", "ol", "li")][-2:]
                        item[1] = {"class": "task-list-item"}
                        listed[1] = (listed[1] or {}) | {"class": "contains-task-list"}
                        here.append(tick_box(ticked=token.meta["ticked"]))
                    here += self._inline(token.children or ())
                    if here[0][:1] == "h":
                        self._headings.setdefault(_slug(token.content), here)
                case "fence" | "code_block":
                    here.append(self._code(token, growing=growing and at == len(tokens) - 1))
                case "hr":
                    here.append(element("hr", None))
                case "note_open":
                    open_.append(element("li", None))
                    self._notes.setdefault(token.content, open_[-1])
                case "table_open":
                    made = element("table", None)
                    here.append(element("div", {"class": "fk-table"}, (made,)))
                    open_.append(made)
                case _ if token.hidden:
                    pass
                case _ if token.nesting > 0:
                    made = element(token.tag, _attributes(token))
                    here.append(made)
                    open_.append(made)
                case _ if token.nesting < 0:
                    open_.pop()
                case _:
                    here.append(token.content)
        (root,) = open_
        self._lead()
        return root[2:]

    def _lead(self) -> None:
        """Have the links to headings lead there; one to nowhere is none."""
        for link, name in self._leads:
            heading = self._headings.get(name)
            if heading is None:
                link[:2] = "span", 0
            else:
                heading[1] = {"id": self._place(name)}
                link[1] = {"href": f"#{heading[1]['id']}"}
        self._leads.clear()

    def _place(self, name: str) -> str:
        return f"fk-{self._name}-{name}"

    def _inline(self, tokens: Sequence[Token]) -> Iterator[Tree]:
        open_ = [element("", None)]
        links = 0
        for token in tokens:
            here = open_[-1]
            kind, _, end = token.type.rpartition("_")
            if end == "open":
                links += kind == "link"
                open_.append(self._link(token) if kind == "link" else element(_SAME[kind], None))
                here.append(open_[-1])
            elif end == "close":
                links -= kind == "link"
                open_.pop()
            else:
                here += self._leaf(token, linked=links > 0)
        yield from _joined(open_[0][2:])

    def _link(self, token: Token) -> list[Any]:
        address, title = str(token.attrGet("href") or ""), token.attrGet("title")
        if not address:
            return element("span", None)
        made = element("a", {"href": address} | ({"title": str(title)} if title else {}) | AWAY)
        if address.startswith("#"):
            self._leads.append((made, address[1:]))
        return made

    def _leaf(self, token: Token, *, linked: bool) -> Iterator[Tree]:
        """A piece of a line that holds no others."""
        match token.type:
            case "text" if not linked:
                yield from self._text(token.content)
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield element("br", None)
                yield "\n"
            case "code_inline":
                yield element("code", None, (token.content,))
            case "formula":
                yield formula(token.content, token.markup, display=token.meta["display"])
            case "note":
                number = self._numbers.setdefault(token.content, len(self._numbers) + 1)
                to = {"href": f"#{self._place(f'note-{number}')}"}
                yield element("sup", None, (str(number) if linked else element("a", to, (str(number),)),))
            case "image":
                words, address = token.content or "image", str(token.attrGet("src") or "")
                yield "🖼 "
                away = not linked and is_web_or_mail(address)
                yield element("a", {"href": address} | AWAY, (words,)) if away else words
            case _:
                yield token.content

    def _text(self, text: str) -> Iterator[Tree]:
        at = 0
        for found in _TEXT.finditer(text):
            if found["cited"]:
                yield text[at : found.start()]
                yield from self._citation(found["cited"])
                at = found.end()
                continue
            address = trimmed(found["web"]) if found["web"] else found["mail"]
            yield text[at : found.start()]
            at = found.start() + len(address)
            target = f"http://{address}" if found["web"] else f"mailto:{address}"
            yield element("a", {"href": target} | AWAY, (address,))
        yield text[at:]

    def _citation(self, numbers: str) -> Iterator[Tree]:
        """`[1, 2]` with a link at each number that cites something."""
        for piece in re.split(r"(\d+)", numbers):
            address = self._cited.get(int(piece)) if piece.isdecimal() else None
            yield piece if address is None else element("a", {"href": address} | AWAY, (piece,))

    def _code(self, token: Token, *, growing: bool) -> Tree:
        info = _LANGUAGE.match(token.info.strip()) if token.type == "fence" else None
        text, language = token.content.removeprefix("\n").removesuffix("\n"), info.group() if info else ""
        if language.casefold() == LANGUAGE and text.strip() and not growing:
            return self._diagram(text)
        return code_box(tokens(colored_code(text, language)), language)

    def _diagram(self, source: str) -> Tree:
        found = diagram(source, self._room)
        self._room -= found.weight
        return diagram_box(found, element("pre", None, (found.source,)))


def code_box(code: Iterable[Tree], language: str, given: Mapping[str, str] = _CODE) -> list[Any]:
    """Return a block of code below its head, which copies it and wraps its lines; `given` are its attributes."""
    head = (
        element("span", None, (language,)),
        _button("fk-wrap-code", "Wrap the lines"),
        _button("fk-copy-code", "Copy to clipboard"),
    )
    pre = element("pre", None, (element("code", None, code),))
    return element("div", given, (element("div", {"class": "fk-code-head"}, head), pre))


def tokens(pieces: Iterable[tuple[str, str]]) -> list[Tree]:
    """Return pieces of code, each with the name of its colour."""
    return [element("span", {"class": f"token {kind}"}, (one,)) if kind else one for one, kind in pieces]


def diagram_box(found: Diagram, source: Tree) -> list[Any]:
    """Return the source of a diagram, which the browser folds below its picture where it draws one."""
    says = "Source" if found.drawn else f"Diagram, shown as its source: {found.why}"
    folded = element(
        "details", {} if found.drawn else {"open": ""}, (element("summary", None, (says,)), source)
    )
    drawn = {"data-diagram": found.drawn} if found.drawn else {}
    return element("div", {"class": "fk-diagram"} | drawn, (folded,))


def _button(kind: str, label: str) -> Tree:
    return element("button", {"type": "button", "class": kind, "aria-label": label, "title": label})


def tick_box(*, ticked: bool) -> Tree:
    given = {"type": "checkbox", "disabled": "", "aria-label": "Done" if ticked else "To do"}
    return element("input", given | ({"checked": ""} if ticked else {}))


def formula(latex: str, written: str, *, display: bool) -> Tree:
    """Return a formula, or what was written where it cannot be drawn."""
    found = math_element(latex, display=display)
    if found is None:
        return element("span", {"class": "fk-formula"}, (written,))
    made = math_tree(found, latex)
    return element("span", {"class": "fk-display"}, (made,)) if display else made


def math_tree(found: MathElement, label: str = "") -> Tree:
    """Return a formula as a tree; `label` is what it is called for those who do not see it."""
    given = dict(found.attributes) | ({"aria-label": label} if label else {})
    return element(
        found.name, given, [one if isinstance(one, str) else math_tree(one) for one in found.content]
    )


def _slug(heading: str) -> str:
    """The name by which links of a text lead to one of its headings."""
    return re.sub(r"[^\w\- ]", "", heading.strip().casefold()).replace(" ", "-")


def _joined(trees: Sequence[Tree]) -> Iterator[Tree]:
    """With neighbouring texts as one."""
    before = ""
    for tree in trees:
        if isinstance(tree, str):
            before += tree
            continue
        if before:
            yield before
        before = ""
        yield tree
    if before:
        yield before


def _attributes(token: Token) -> dict[str, str]:
    if token.type == "ordered_list_open" and (start := token.attrGet("start")) is not None:
        return {"start": str(start)}
    if token.type in ("th_open", "td_open") and (style := token.attrGet("style")) is not None:
        return {"style": str(style)}
    return {}
