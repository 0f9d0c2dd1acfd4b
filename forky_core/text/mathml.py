"""LaTeX as MathML, which browsers draw by themselves: no script, no font and no style has to be loaded for it.

`math-core` converts. What it returns is read again here, and of its elements and attributes only those in the lists
below are kept, so that a formula that a model wrote cannot become anything else in a page, whatever the converter does.
Inline styles are no part of it, because the pages that are given away allow none: alignment becomes a class, a colour
the attribute `mathcolor`.

KaTeX, which the Chat page has from Streamlit, needs twenty font files and inline styles, and latex2mathml writes the
text of a formula into its markup without escaping. What `math-core` does not know (`ce`, `tag`) stays its source. No
other module uses `math-core`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from forky_core.text.words import word_set

if TYPE_CHECKING:
    from math_core import LatexToMathML

LONGEST = 2_000
"""Characters of a formula that is drawn."""
_DEEPEST = 60
"""Elements in elements of a formula that is drawn."""
_MOST = 4_000
"""Elements of a formula that is drawn."""
ELEMENTS = word_set(
    "math mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle"
    " msub msubsup msup mtable mtd mtext mtr munder munderover none"
)
"""The elements of MathML Core that lay something out."""
_ATTRIBUTES: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        word_set(
            "accent accentunder displaystyle fence form largeop movablelimits separator stretchy symmetric"
        ),
        re.compile("true|false|prefix|infix|postfix"),
    ),
    **dict.fromkeys(
        ["depth", "height", "linethickness", "lspace", "maxsize", "minsize", "rspace", "voffset", "width"],
        re.compile(r"-?\d{0,4}(?:\.\d{1,9})?(?:em|ex|px|pt|%)?"),
    ),
    **dict.fromkeys(["columnspan", "rowspan", "scriptlevel"], re.compile(r"[+-]?\d{1,2}")),
    "display": re.compile("block|inline"),
    "mathvariant": re.compile("normal"),
}
ATTRIBUTES = frozenset({*_ATTRIBUTES, "class", "mathcolor"})
"""The attributes that an element of a formula may have."""
_STYLES = (
    (re.compile(r"text-align:\s*(left|right|center)"), "class", "to-{}"),
    (re.compile(r"(?:^|;)\s*color:\s*(#[0-9A-Fa-f]{3,8})"), "mathcolor", "{}"),
)
_BOXED = {
    "box": "boxed",
    "updiagonalstrike": "struck",
    "downdiagonalstrike": "struck",
    "horizontalstrike": "struck",
}
"""For the notations of `menclose`, which is no element of MathML Core, a class of the element in its place."""


@dataclass(frozen=True, slots=True)
class MathElement:
    """An element of a formula: everything of it is from the lists above, but for the text."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    content: tuple[MathElement | str, ...] = ()


@lru_cache(maxsize=2_048)
def math_element(latex: str, *, display: bool = False) -> MathElement | None:
    """The formula as an element; None for one that cannot be read or is too long, and where `math-core` is missing."""
    converter = _converter()
    if converter is None or not latex.strip() or len(latex) > LONGEST:
        return None
    from math_core import LatexError  # noqa: PLC0415 - the library does without it

    try:
        written = converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError:
        return None
    reader = _MathmlReader()
    reader.feed(written)
    reader.close()
    return reader.found


def mathml(latex: str, *, display: bool = False) -> str:
    """The formula as markup for an HTML page; "" where `math_element` returns None."""
    found = math_element(latex, display=display)
    return _written(found, label=" ".join(latex.split())) if found is not None else ""


def _written(element: MathElement, *, label: str = "") -> str:
    named = {**element.attributes, **({"aria-label": label} if label else {})}
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in named.items())
    inner = "".join(escape(one) if isinstance(one, str) else _written(one) for one in element.content)
    return f"<{element.name}{attributes}>{inner}</{element.name}>"


@lru_cache(maxsize=1)
def _converter() -> LatexToMathML | None:
    try:
        from math_core import LatexToMathML  # noqa: PLC0415 - the library does without it
    except ModuleNotFoundError:
        return None
    return LatexToMathML(fancy_error=False, max_expansions=200)


@dataclass(slots=True)
class _Open:
    name: str
    attributes: dict[str, str]
    content: list[MathElement | str] = field(default_factory=list)

    def closed(self) -> MathElement:
        return MathElement(self.name, self.attributes, tuple(self.content))


class _MathmlReader(HTMLParser):
    """Reads the converter's markup into elements. `found` is None for markup with an element that is not listed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._found: MathElement | None = None
        self._open: list[_Open] = []
        self._spoilt = False
        self._number = 0

    @property
    def found(self) -> MathElement | None:
        return None if self._spoilt or self._open else self._found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._number += 1
        given = {name: value or "" for name, value in attrs}
        boxed = _BOXED.get(given.get("notation", "")) if tag == "menclose" else None
        name = "mrow" if boxed is not None else tag
        if name not in ELEMENTS or len(self._open) >= _DEEPEST or self._number > _MOST:
            self._spoilt = True
        kept = {key: value for key, value in given.items() if _allowed(key, value)}
        for pattern, key, form in _STYLES:
            if (said := pattern.search(given.get("style", ""))) is not None:
                kept[key] = form.format(said[1])
        if boxed is not None:
            kept["class"] = boxed
        self._open.append(_Open(name, kept))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        del tag  # The converter nests its elements properly; markup that does not is not drawn.
        if not self._open:
            self._spoilt = True
            return
        done = self._open.pop().closed()
        if self._open:
            self._open[-1].content.append(done)
        elif self._found is None and done.name == "math":
            self._found = done
        else:
            self._spoilt = True

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].content.append(data)


def _allowed(name: str, value: str) -> bool:
    pattern = _ATTRIBUTES.get(name)
    return pattern is not None and pattern.fullmatch(value) is not None
