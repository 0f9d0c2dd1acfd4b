"""Diagrams in Mermaid's language: which of them are drawn, and what of their text the browser is given.

Streamlit draws a fence of Mermaid as an SVG picture (`<img>`), in which no link can be clicked, no script runs and
nothing is loaded. While Mermaid makes that picture its elements are part of the page for a moment, and there a picture
shape or a style with an address would be fetched. So everything that names an address, a setting or a picture is taken
out first, and a diagram in which it cannot be told apart from the rest is shown as its source. A browser lays out one
diagram at a time and answers nothing meanwhile (a mind map of 400 ideas took nine seconds), so there are limits, above
which a diagram is shown as its source. Exported pages show the source, too, because they run no script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

LANGUAGE = "mermaid"
LONGEST = 8_000
"""Characters of a diagram that is drawn."""
MOST_STATEMENTS = 200
"""Lines of a diagram that is drawn; two statements on one line count as two."""
MOST_LINKS = 150
"""Links between nodes of a diagram that is drawn."""
MOST_IDEAS = 100
"""Lines of a mind map, whose layout takes time with the square of them."""
HEAVIEST = 400
"""Statements and links of all the diagrams of one text that are drawn."""

_TOO_LONG = f"it is longer than {LONGEST:,} characters."
_TOO_MANY = f"it has more than {MOST_STATEMENTS} lines."
_TOO_LINKED = f"it has more than {MOST_LINKS} links."
_TOO_WIDE = f"a mind map of more than {MOST_IDEAS} lines takes too long to lay out."
_TOO_HEAVY = "the diagrams above it are as many as one message may have drawn."
_UNKNOWN = "Forky does not draw this kind."
_UNSAFE = "it asks for pictures, addresses or settings, which Forky does not load."

_LINKED = frozenset(
    (
        "flowchart",
        "graph",
        "classDiagram",
        "classDiagram-v2",
        "stateDiagram",
        "stateDiagram-v2",
        "erDiagram",
        "requirementDiagram",
    )
)
"""Kinds in which nodes are linked, and which know statements of style."""
_KINDS = _LINKED | frozenset(
    (
        "gantt",
        "gitGraph",
        "journey",
        "kanban",
        "mindmap",
        "pie",
        "quadrantChart",
        "sankey",
        "sankey-beta",
        "sequenceDiagram",
        "timeline",
        "xychart",
        "xychart-beta",
    )
)
"""Others load icons, or take a number of cells or ticks that a browser would lay out for minutes."""
_ACTIVE: Mapping[str, str] = {
    **dict.fromkeys(_LINKED | {"gantt"}, "click|callback|link|href"),
    "sequenceDiagram": "links?|properties|details",
}
"""Statements that make a part of a diagram a link or a button, by kind."""

_FRONT = re.compile(r"\s*---[ \t]*\n(.*?)\n[ \t]*---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*([^\n]+)$", re.MULTILINE)
_QUOTES = "\"'"
_SETTINGS = re.compile(r"%%\{.*?\}%%", re.DOTALL)
_COMMENT = re.compile(r"^[ \t]*%%[^\n]*(?:\n|\Z)", re.MULTILINE)
_KIND = re.compile(r"\s*([A-Za-z][\w-]*)(?=[\s;:{]|\Z)")
_STATEMENT = re.compile(r"(?:^|;)[ \t]*([^\n;]+)", re.MULTILINE)
_LINK = re.compile(r"[-=.~]{2,}")
_TAGS = re.compile(
    r"</?(?:b|i|u|s|em|strong|small|sub|sup|code|font|span|div|p|center)(?:\s[^<>\n]*)?>", re.IGNORECASE
)
"""Formatting that Mermaid would show as the letters of the tag; `<br/>` breaks the line and stays."""
_STYLE = re.compile(
    r"(?:style|classDef)\s+[\w,.\-]+(?:\s*,\s*[\w.\-]+)*\s+(?P<props>[^\n;]+)"
    r"|linkStyle\s+(?:default|\d+(?:\s*,\s*\d+)*)\s+(?:interpolate\s+\w+\s+)?(?P<line>[^\n;]+)"
)
_PROPERTY = re.compile(r"\s*[a-z-]+\s*:\s*#?[\w.%-]+(?: +#?[\w.%-]+)*\s*")
_FILL = re.compile(r"(?:^|,)\s*fill\s*:\s*(#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?\b|[a-z]+)")
_LIGHT = re.compile(
    r"(?:light|pale|ghost|floral|antique)\w+|\w*(?:white|yellow)|aqua|azure|beige|bisque|cyan|gold|gainsboro|honeydew|ivory"
    r"|khaki|lavender|lime|linen|mintcream|moccasin|orange|pink|plum|salmon|silver|snow|tan|thistle|wheat"
)
"""Names of colours on which dark letters read best."""
_AREA = re.compile(r"^([ \t]*(?:rect|box))\b[ \t]*([^\n]*)$", re.MULTILINE)
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,[\s\d.]*)?\)")
_BEHIND = "rgba(128,128,128,0.15)"
"""The colour of what lies behind letters: it reads in the light theme and in the dark one."""
_OWN_SETTINGS: Mapping[str, str] = {
    "gantt": f'%%{{init: {{"themeVariables": {{"excludeBkgColor": "{_BEHIND}"}}}}}}%%\n'
}
"""What Streamlit's theme leaves in the colours of a light page, by kind."""
_DATA = re.compile(r"@\{(.*?)\}", re.DOTALL)
_DATUM = (
    r"\"?(?:shape|label|title|type|animate|animation|curve|alias|assigned|ticket|priority)\"?\s*:\s*"
    r"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w .-]+)"
)
_HARMLESS_DATA = re.compile(rf"\s*{_DATUM}(?:[\s,]+{_DATUM})*[\s,]*")
_ADDRESS = re.compile(
    r"(?<![\w-])(?:url|src|image|image-set|expression)\s*\(|@import|\\[0-9a-f]", re.IGNORECASE
)
"""In a style, CSS that fetches something, or letters of it written as numbers."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """A block of Mermaid somebody wrote."""

    source: str
    drawn: str
    """What Mermaid is given; "" where the source is shown in its place."""
    why: str = ""
    """Why it is not drawn: the end of a sentence."""
    weight: int = 0
    """Statements and links, to which the time of its layout is roughly proportional."""


def diagram(source: str, room: int = HEAVIEST) -> Diagram:
    """The diagram that `source` describes; `room` is how heavy it may be."""
    source = source.strip("\n")
    text, why = _taken_out(source)
    kind = found[1] if (found := _KIND.match(text)) else ""
    why = why or ("" if kind in _KINDS else _UNKNOWN)
    if why:
        return Diagram(source, "", why)
    statements, links = len(_STATEMENT.findall(text)), _links(text) if kind in _LINKED else 0
    weight = statements + links
    if len(source) > LONGEST:
        why = _TOO_LONG
    elif statements > MOST_STATEMENTS:
        why = _TOO_MANY
    elif links > MOST_LINKS:
        why = _TOO_LINKED
    elif kind == "mindmap" and statements > MOST_IDEAS:
        why = _TOO_WIDE
    elif weight > room:
        why = _TOO_HEAVY
    else:
        text, why = _harmless(text, kind)
    return (
        Diagram(source, "", why)
        if why
        else Diagram(source, _front(source) + _OWN_SETTINGS.get(kind, "") + text, "", weight)
    )


def _taken_out(source: str) -> tuple[str, str]:
    """The text without front matter, settings and comments, and why it cannot be drawn."""
    text = _FRONT.sub("", source, count=1) if _FRONT.match(source) else source
    text = _COMMENT.sub("", _SETTINGS.sub("", text)).strip("\n")
    # What is left of a setting that was cut open, or the beginning of one without an end, Mermaid would still obey.
    return text, _UNSAFE if "%%{" in text or text.lstrip().startswith("---") else ""


def _front(source: str) -> str:
    """Front matter with the title of the source's own, and nothing else of it."""
    found = _FRONT.match(source)
    title = _TITLE.search(found[1]) if found else None
    return f"---\ntitle: {json.dumps(title[1].strip().strip(_QUOTES))}\n---\n" if title is not None else ""


def _links(text: str) -> int:
    """At least as many links as the text makes: `a & b --> c & d` are four."""
    number = 0
    for statement in _STATEMENT.findall(text):
        sizes = [1 + group.count("&") for group in _LINK.split(statement)]
        number += sum(one * other for one, other in pairwise(sizes))
    return number


def _harmless(text: str, kind: str) -> tuple[str, str]:
    """The text without links, buttons and styles that do more than colour; or why it cannot be drawn."""
    if "@{" in _DATA.sub("", text) or not all(_HARMLESS_DATA.fullmatch(data) for data in _DATA.findall(text)):
        return "", _UNSAFE
    if active := _ACTIVE.get(kind):
        text = re.sub(rf"(^|;)[ \t]*(?:{active})[ \t]+(?![-<])[^\n;]*", r"\1", text, flags=re.MULTILINE)
    if kind in _LINKED:
        text = re.sub(
            r"(^|;)([ \t]*)((?:style|classDef|linkStyle)\s[^\n;]*)", _styled, text, flags=re.MULTILINE
        )
    if kind == "sequenceDiagram":
        text = _AREA.sub(_translucent, text)
    # `$$` would be a formula, which some kinds of diagram draw and others show as it is.
    text = _TAGS.sub("", text).replace("$$", "$\u2060$")
    return (text, "") if _ADDRESS.search(text) is None else ("", _UNSAFE)


def _styled(found: re.Match[str]) -> str:
    """A statement of style whose every property is a word, a number or a colour; "" in place of any other."""
    statement = _STYLE.fullmatch(found[3].strip())
    props = (statement["props"] or statement["line"]) if statement is not None else ""
    if not props or not all(_PROPERTY.fullmatch(prop) for prop in props.split(",")):
        return found[1]
    fill = _FILL.search(props)
    letters = (
        "" if fill is None or re.search(r"(?:^|,)\s*color\s*:", props) else f",color:{_letters_on(fill[1])}"
    )
    return f"{found[1]}{found[2]}{found[3].rstrip()}{letters}"


def _letters_on(fill: str) -> str:
    """The colour of letters that reads on this ground, whatever the theme's letters are."""
    light = _LIGHT.fullmatch(fill) is not None
    if fill.startswith("#"):
        digits = fill[1:] if len(fill) == 7 else "".join(2 * digit for digit in fill[1:])
        red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 140  # Rec. 601
    return "#1b1f21" if light else "#ffffff"


def _translucent(found: re.Match[str]) -> str:
    """A `rect` or a `box` of a sequence diagram in its colour, but so that letters of either theme read on it."""
    statement, keyword = found[1], found[1].strip()
    colour = _RGB.match(found[2])
    if colour is not None:
        red, green, blue = colour.groups()
        return f"{statement} rgba({red},{green},{blue},0.15){found[2][colour.end() :]}"
    # A box may begin with its title; a rectangle has a colour only.
    title = "" if keyword == "rect" else re.sub(r"^(?:[\w-]+\([^)\n]*\)|#[0-9a-fA-F]{3,8}\b)", "", found[2])
    return f"{statement} {_BEHIND} {title.strip()}".rstrip()
