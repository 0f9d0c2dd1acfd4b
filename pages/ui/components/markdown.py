r"""Text of models and people, made safe to draw: formatted as meant, never obeyed.

Streamlit escapes HTML, but it loads images from anywhere (a way to leak what was said), reads "$5 and $10" as a formula
and obeys its own directives (`:red[…]`, `:smile:`, `:material/x:`). Here all of that is text again outside code, while
`\( \)`, `\[ \]`, `$$` and a `$…$` that holds mathematics stay formulas, and images become links. A link leads to http,
https, mailto or a heading of the text itself; one with any other address (`data:`, `javascript:`, a path on this
server) is shown as it was written.
Where this scanner and the browser's parser could disagree about what is code (a code span over several lines, a stray
backtick), the text is escaped rather than trusted; the Content-Security-Policy is the second line of defence. That is
why it doesn't ask forky_core/text which lines are code: it takes only what is code for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import dedent
from typing import Literal

import streamlit as st

from forky_core.text.emphasis import CJK, flanking
from forky_core.text.fences import fenced
from forky_core.text.formulas import is_mathematics
from forky_core.text.showable import showable as without_control
from pages.ui.mermaid import HEAVIEST, LANGUAGE, Diagram, diagram
from pages.ui.sign_in import team

__all__ = [
    "SHOWN",
    "formatted",
    "plain_label",
    "safe_markdown",
    "show_formatted",
    "show_text",
    "showable",
    "undrawn_html",
]

SHOWN = 20_000
"""Characters of one text that are drawn before a person asks for all of it."""
_LABEL = 160
_DEEPEST = 12
"""Lists opened on one line."""
_JOINER = "\u2060"
"""Breaks a word for Streamlit's emoji and icon names, which it looks for after escapes are gone; draws nothing."""

_INDENT = re.compile(r"[ ]*")
_QUOTE = re.compile(r"(?: {0,3}> ?)+")
_ONE_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +)(?=\S)")
_FENCE = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_INFO = re.compile(r"[ \t]*([A-Za-z0-9_+#.-]{1,40})(?=\s|$)")
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*<?(?:https?://|mailto:)[^\n]*$", re.MULTILINE
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<]*\Z", re.IGNORECASE)
"""The beginning of an address, up to where a text is looked at: what strikes text out elsewhere is a part of it."""
_EMPHASIS = re.compile(
    r"""(?P<kept>\\. | (?<!`)(?P<ticks>`+)(?!`)[^\n]{0,2000}?(?<!`)(?P=ticks)(?!`) | \$\$[^$]+\$\$ | \$[^$\n]+\$ | ~{3,})
    | (?P<signs>\*+ | ~~) | (?P<tilde>~)""",
    re.VERBOSE,
)
"""What Streamlit's browser may take for emphasis in a Markdown that is safe, and code and formulas."""
_HAS_CJK = re.compile(f"[{CJK}]")
_IN_FORMULA = re.compile(r"!(?=\[)|\](?=[(:])|~(?=~~)|<(?=\S)")
_TABLE = re.compile(r"^[ >]*+(?:\|[ ]*+)?:?-++:?[ ]*+\|", re.MULTILINE)
_DESTINATION = r"[\s>]*+<?(?:https?://|mailto:|\#)"
"""How the address of a link begins that is drawn as one, as it is written: `&#104;ttps:` is none of them."""
_TOKEN = re.compile(
    r"""(?=[`\\$<!:\[\]~])(?:
      (?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]{0,2000}?(?<!`)(?P=ticks)(?!`))
    | (?P<inline>\\\((?P<formula>[^\n`]{1,1000}?)\\\))
    | (?P<display>\\\[(?P<block>[^`]{1,2000}?)\\\])
    | (?P<dollars>\$\$(?!\$)[^$`]{1,2000}?\$\$)
    | (?P<dollar>(?<![\w$\\])\$(?![\s$])(?P<inside>[^$`\n]{1,500}?)(?<![\s\\])\$(?![\w$({]))
    | (?P<escaped>\\[!-/:-@\[-`{-~])
    | (?P<autolink><https?://[^\s<>`]+>)
    | (?P<image>!\[(?P<empty>(?=\][\[(]))?)
    | (?P<note>\[\^[^\s\]\[]{1,60}\]:(?!\s*+<?(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\&])))
    | (?P<refused>\](?:\((?!_DESTINATION)|:(?!_DESTINATION)))
    | (?P<fence>~{3,}+)
    | (?P<name>:(?!-+:)(?=(?:material/)?[A-Za-z0-9_+\-]{1,60}:))
    | (?P<directive>(?<!(?<!\\):):++(?=[A-Za-z][\w-]{0,60}[\[{])|(?<![^\s>]):{2,}+(?=\s*+[A-Za-z]))
    | (?P<cited>(?<![\]\\])\[[0-9]{1,3}(?:\s?[,;]\s?[0-9]{1,3}){0,9}\](?![(\[:]))
    | (?P<special>[$`<])
    )""".replace("_DESTINATION", _DESTINATION),
    re.VERBOSE,
)
"""Of the characters that any of them begins with, the first line: of prose, nearly every character is none."""


def safe_markdown(text: str, cited: Mapping[int, str] | None = None) -> str:
    """What to hand to `st.markdown` so that it shows `text` and obeys none of it.

    `cited` makes bracketed numbers outside code links: the address that each opens. Diagrams are shown as their source;
    `formatted` draws them.
    """
    return _for_streamlit(_safe(_shown(text), cited or {}))


def formatted(text: str, cited: Mapping[int, str] | None = None) -> tuple[str | Diagram, ...]:
    """The text as `safe_markdown` makes it, in pieces, with the diagrams between them that are to be drawn."""
    text = _shown(text)
    if LANGUAGE not in text.casefold():
        return (_safe(text, cited or {}),)
    prose = "".join(block.text for block in _blocks(text) if block.part == "prose")
    definitions = "".join(f"\n\n{found}" for found in _DEFINITION.findall(prose))

    def safe(piece: str) -> str:
        return _safe(piece + definitions, cited or {}) if _DEFINITION.sub("", piece).strip() else ""

    pieces: list[str | Diagram] = []
    room = HEAVIEST
    while (found := _first_diagram(text)) is not None:
        drawing = diagram(found.source, room)
        room -= drawing.weight
        pieces += (safe(text[: found.start]), drawing)
        text = _outdented(text[found.end :], found.base)
    pieces.append(safe(text))
    return tuple(piece for piece in pieces if piece)


def showable(text: str) -> str:
    """The text without what cannot or must not be drawn, and with names in the place of ids of the team's people."""
    people = team()
    return without_control(text if people is None else people.members.names_in(text))


def plain_label(text: str, limit: int = _LABEL) -> str:
    """One line without any formatting, for the labels of widgets, which read Markdown too."""
    line = " ".join(showable(text[: limit * 4]).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return re.sub(r"[\\`*_{}\[\]()#+\-.!|<>$~&]", r"\\\g<0>", line).replace(":", f":{_JOINER}")


def show_text(text: str, key: str, cited: Mapping[int, str] | None = None) -> None:
    """Draw what a model or a person wrote. A very long text is cut until someone asks for it (`<key>.all`).

    All of it is then shown as it is, without formatting: a browser takes minutes to format a megabyte.
    """
    if len(text) <= SHOWN:
        show_formatted(formatted(text, cited), key)
        return
    if st.toggle(f"Show all {len(text):,} characters", key=f"{key}.all"):
        st.code(showable(text), language=None, wrap_lines=True, height=480)
    else:
        show_formatted(formatted(f"{text[:SHOWN]}\n\n…", cited), key)


def show_formatted(pieces: Sequence[str | Diagram], key: str) -> None:
    """Draw what `formatted` made. Keys: `diagram-<key>-<number>` (containers)."""
    for number, piece in enumerate(pieces):
        if isinstance(piece, str):
            st.markdown(_for_streamlit(piece))
        elif source := undrawn_html(piece):
            st.html(source)
        else:
            with st.container(key=f"diagram-{key.replace('.', '-')}-{number}"):
                st.markdown(fenced(piece.drawn, LANGUAGE))
                st.html(
                    _source('Source<span class="fk-undrawn">: Mermaid cannot read it</span>', piece.source)
                )


def undrawn_html(diagram: Diagram) -> str:
    """HTML of a diagram that is shown as its source; "" for one that is drawn."""
    if diagram.drawn:
        return ""
    return _source(f"Diagram, shown as its source: {diagram.why}", diagram.source, opened=True)


def _source(summary: str, source: str, *, opened: bool = False) -> str:
    """HTML of a diagram's source behind one click; style.py shows it where Mermaid draws nothing."""
    return (
        f'<details class="fk-diagram"{" open" if opened else ""}><summary>{summary}</summary>'
        f"<pre>{escape(source)}</pre></details>"
    )


@dataclass(frozen=True, slots=True)
class _MermaidBlock:
    """A block of Mermaid in a text: where it stands, the indentation of the list item around it, what is in it."""

    start: int
    end: int
    base: int
    source: str


def _first_diagram(text: str) -> _MermaidBlock | None:
    """The first that has an end and stands in no quotation."""
    at = start = 0
    lines: list[str] | None = None
    for block in _blocks(text):
        match block.part:
            case "opens" if block.fence.depth == 0 and block.fence.language.casefold() == LANGUAGE:
                start, lines = at, []
            case "code" if lines is not None:
                lines.append(block.text)
            case "closes" if lines is not None and any(line.strip() for line in lines):
                return _MermaidBlock(start, at + len(block.text), block.fence.base, dedent("".join(lines)))
            case _:
                lines = None
        at += len(block.text)
    return None


def _outdented(text: str, base: int) -> str:
    """What follows a diagram in a list item, as if it stood in none: its lines less the item's indentation."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if base == 0:
            break
        if line.strip():
            indent = len(line) - len(line.lstrip(" "))
            # The item ends: a list that goes on with “2.” is none where it follows a paragraph.
            lines[at] = line[base:] if indent >= base else "\n" + line[indent:]
            base = min(base, indent)
    return "".join(lines)


def _shown(text: str) -> str:
    return without_control(text).expandtabs(4)


def _safe(text: str, cited: Mapping[int, str]) -> str:
    tables = _TABLE.search(text) is not None
    return "".join(
        _escape(block.text, cited, tables=tables) if block.part == "prose" else block.safe
        for block in _blocks(text)
    )


def _for_streamlit(safe: str) -> str:
    """Markdown in which Streamlit's browser finds the same emphasis as `prose`.

    One tilde strikes nothing out. Between words of CJK languages a sign that draws nothing stands between the
    punctuation and the signs of emphasis.
    """

    def joined(found: re.Match[str]) -> str:
        if found["kept"]:
            return found.group()
        if found["tilde"]:
            return "~" if _ADDRESS.search(found.string, 0, found.start()) else "\\~"
        signs = found["signs"]
        before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() :][:1]
        strict, wanted = flanking(before, after, cjk=False), flanking(before, after)
        opens, closes = wanted.opens and not strict.opens, wanted.closes and not strict.closes
        return _JOINER * closes + signs + _JOINER * opens

    if "~" not in safe and ("*" not in safe or _HAS_CJK.search(safe) is None):
        return safe
    return "".join(
        _EMPHASIS.sub(joined, block.text) if block.part == "prose" else block.text for block in _blocks(safe)
    )


def _blocks(text: str) -> Iterator[_Block]:
    """The text in pieces: the lines of fenced code, and everything between."""
    prose: list[str] = []
    fence = _NO_FENCE
    items = _Items()
    for line in text.splitlines(keepends=True) if "\x0b" not in text else [text]:
        quotes = _QUOTE.match(line)
        depth = quotes.group().count(">") if quotes else 0
        body = line[quotes.end() :] if quotes else line
        indent = len(_INDENT.match(body).group()) if body.strip() else None  # type: ignore[union-attr]
        if fence.open and fence.ended_by(line):
            fence = _NO_FENCE
        if fence.open:
            closes = fence.closed_by(line)
            yield _Block("closes" if closes else "code", line, fence)
            if closes:
                fence = _NO_FENCE
            continue
        if indent is not None:
            items.leave(depth, indent)
        body = items.enter(body)
        opening = _FENCE.match(body)
        # An indented quotation may stand in an item, and end with it where the next one does not.
        if opening and items.surely_hold(len(opening[1])) and not (depth and line.startswith(" ")):
            if prose:
                yield _Block("prose", "".join(prose))
                prose = []
            fence = _Fence(opening[2], depth, items.base, opening[3])
            yield _Block("opens", line, fence)
        else:
            prose.append(line)
    if prose:
        yield _Block("prose", "".join(prose))


class _Items:
    """The items of lists that a line stands in, by the columns where their texts begin."""

    __slots__ = ("_depth", "_doubtful", "_offsets")

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._doubtful: set[int] = set()
        """Of items that have ended, or go on with a line that is not indented."""
        self._depth = 0
        """How many quotations the items stand in."""

    @property
    def base(self) -> int:
        return self._offsets[-1] if self._offsets else 0

    def leave(self, depth: int, indent: int) -> None:
        """Go on to a line with this indentation in so many quotations."""
        if depth != self._depth:
            self._doubtful.update(self._offsets)
            self._offsets, self._depth = [], depth
        while self.base > indent:
            self._doubtful.add(self._offsets.pop())

    def enter(self, body: str) -> str:
        """Go into the items that begin on this line, and return it with spaces in place of their signs."""
        for _ in range(_DEEPEST):
            item = _ITEM.match(body)
            if item is None or len(item[1]) - self.base > 3:
                break
            self._offsets.append(item.end() if len(item[3]) <= 4 else item.end(2) + 1)
            body = " " * item.end() + body[item.end() :]
        return body

    def surely_hold(self, indent: int) -> bool:
        """Whether a fence with this indentation stands in the innermost item, or in none if none is open."""
        doubtful = any(self.base < offset <= indent for offset in self._doubtful)
        return 0 <= indent - self.base <= 3 and not doubtful


class _Fence:
    """An opened block of code and what ends it."""

    __slots__ = ("base", "depth", "info", "marker")

    def __init__(self, marker: str, depth: int, base: int, info: str) -> None:
        self.marker, self.depth, self.base, self.info = marker, depth, base, info

    @property
    def open(self) -> bool:
        return bool(self.marker)

    @property
    def language(self) -> str:
        """What the code is said to be written in; "" where that is no plain name."""
        found = _INFO.match(self.info)
        return found[1] if found is not None else ""

    def ended_by(self, line: str) -> bool:
        """Whether the quote or list item that holds it is over."""
        inside = self._inside(line)
        return inside is None or (inside.strip() != "" and len(inside) - len(inside.lstrip(" ")) < self.base)

    def _inside(self, line: str) -> str | None:
        """The line without the marks of the quotes that hold it; None if it stands in fewer."""
        for _ in range(self.depth):
            quote = _ONE_QUOTE.match(line)
            if quote is None:
                return None
            line = line[quote.end() :]
        return line

    def closed_by(self, line: str) -> bool:
        line = self._inside(line) or ""
        bare = line.strip()
        inset = len(line) - len(line.lstrip(" ")) - self.base
        return inset <= 3 and len(bare) >= len(self.marker) and set(bare) == {self.marker[0]}


_NO_FENCE = _Fence("", 0, 0, "")


@dataclass(frozen=True, slots=True)
class _Block:
    """Prose, or a line of fenced code."""

    part: Literal["prose", "opens", "code", "closes"]
    text: str
    fence: _Fence = _NO_FENCE

    @property
    def safe(self) -> str:
        """A line of code as it is drawn. Streamlit draws as Mermaid whatever names a language that begins so."""
        if self.part != "opens":
            return self.text
        language = self.fence.language
        if language.casefold().startswith(LANGUAGE):
            language = "text"
        line_end = "\n" if self.text.endswith("\n") else ""
        return self.text.rstrip("\n").removesuffix(self.fence.info.rstrip("\n")) + language + line_end


def _linked(numbers: str, cited: Mapping[int, str]) -> str:
    """`[1, 2]` with a link at each number that cites something."""
    if not any(int(number) in cited for number in re.findall(r"\d+", numbers)):
        return numbers

    def link(found: re.Match[str]) -> str:
        target = cited.get(int(found.group()))
        return found.group() if target is None else f"[{found.group()}]({target})"

    return f"\\[{re.sub(r'[0-9]+', link, numbers[1:-1])}\\]"


def _formula(found: re.Match[str]) -> str:
    """With spaces, which mean nothing in a formula, in what would be a picture, a link or code outside of one."""
    inline = found["formula"] or found["inside"]
    marks, text = ("$", inline.strip()) if inline else ("$$", found["block"] or found.group())
    return marks + _IN_FORMULA.sub(r"\g<0> ", text.replace("$", "")) + marks


def _escape(prose: str, cited: Mapping[int, str], *, tables: bool) -> str:
    pieces: list[str] = []
    at = 0
    while (found := _TOKEN.search(prose, at)) is not None:
        pieces.append(prose[at : found.start()])
        inside = found["inside"]
        if inside and (not is_mathematics(inside) or (tables and "|" in inside)):
            pieces.append("\\$")  # What follows it is looked at anew.
            at = found.start() + 1
        else:
            pieces.append(_replacement(found, cited, tables=tables))
            at = found.end()
    return "".join((*pieces, prose[at:]))


def _replacement(found: re.Match[str], cited: Mapping[int, str], *, tables: bool) -> str:
    piece = found.group()
    match found.lastgroup:
        case "code" if tables and "|" in piece:
            return re.sub(r"[`$<!:\[]", r"\\\g<0>", piece)
        case "code" | "escaped" | "autolink" | "note":
            return piece
        case "inline" | "display" | "dollars" | "dollar":
            return _formula(found)
        case "image":
            return "🖼 [image" if found["empty"] is not None else "🖼 ["
        case "refused":
            return f"]\\{piece[1]}"
        case "fence":
            return "".join(f"\\{sign}" for sign in piece)
        case "cited":
            return _linked(piece, cited)
        case "name":
            return f":{_JOINER}"
        case "directive":
            return "".join(f"\\:{_JOINER}" for _ in piece)
        case _:
            return "&lt;" if piece == "<" else f"\\{piece}"
