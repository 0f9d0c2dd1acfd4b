"""The parts of code that are drawn in colours: keywords, names, texts, numbers, comments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeVar

from forky_core.process.extras import needed_for

Color = Literal["", "keyword", "text", "number", "comment", "name"]
Name = TypeVar("Name", bound=str)
ColoredLine = tuple[tuple[str, Color], ...]

MOST_COLORED = 20_000
"""The most characters of one block of code that are coloured."""


def colored(lines: Sequence[str], language: str) -> tuple[ColoredLine, ...]:
    """Return each line of code in coloured pieces; in one piece without a colour if the language is not known.

    Raises:
        NotInstalled: the package that reads code is missing.
    """
    return _colored(tuple(lines), language.casefold())


@lru_cache(maxsize=1_024)
def _colored(lines: tuple[str, ...], language: str) -> tuple[ColoredLine, ...]:
    found: list[list[tuple[str, Color]]] = [[]] if lines else []
    for value, color in named_pieces("\n".join(lines), language, _COLORS) if lines else ():
        for at, piece in enumerate(value.split("\n")):
            if at:
                found.append([])
            if piece:
                found[-1].append((piece, color))
    return tuple(map(tuple, found))


@lru_cache(maxsize=1_024)
def colored_code(text: str, language: str) -> tuple[tuple[str, str], ...]:
    """Return the pieces of a block of code in their order, each with what it is; "" for what has no colour of its own.

    Raises:
        NotInstalled: the package that reads code is missing.
    """
    return named_pieces(text, language.casefold(), _NAMES)


def named_pieces(
    text: str, language: str, names: Sequence[tuple[str, Name]]
) -> tuple[tuple[str, Name | Literal[""]], ...]:
    """Return the pieces of code in their order, each with its name; "" for one that has none.

    `names` are the names by how Pygments' name of a kind of piece begins; the first that fits counts. A text whose
    language is not known, or which is too long, is one piece.

    Raises:
        NotInstalled: the package that reads code is missing.
    """
    if not language or len(text) > MOST_COLORED:
        return ((text, ""),)
    with needed_for("Colouring code", "app"):
        from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - the library does without it
        from pygments.util import ClassNotFound  # noqa: PLC0415 - as above
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ((text, ""),)
    found: list[tuple[str, Name | Literal[""]]] = []
    known: dict[object, Name | Literal[""]] = {}
    for kind, value in lexer.get_tokens(text):
        if kind not in known:
            begins = str(kind).removeprefix("Token.")
            known[kind] = next((name for start, name in names if begins.startswith(start)), "")
        if found and found[-1][1] == known[kind]:
            found[-1] = (found[-1][0] + value, known[kind])
        elif value:
            found.append((value, known[kind]))
    return tuple(found) if "".join(piece for piece, _ in found) == text else ((text, ""),)


_COLORS: tuple[tuple[str, Color], ...] = (
    ("Comment", "comment"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Literal.String", "text"),
    ("Literal.Number", "number"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "name"),
    ("Name.Builtin", "name"),
    ("Name.Decorator", "name"),
)
_NAMES = (
    ("Comment", "comment"),
    ("Keyword.Constant", "boolean"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Literal.String.Regex", "regex"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Name.Function", "function"),
    ("Name.Class", "class-name"),
    ("Name.Tag", "tag"),
    ("Name.Attribute", "attr-name"),
    ("Name.Property", "property"),
    ("Name.Variable", "variable"),
    ("Name.Constant", "constant"),
    ("Name.Decorator", "decorator"),
    ("Name.Entity", "entity"),
    ("Operator", "operator"),
    ("Punctuation", "punctuation"),
    ("Generic.Deleted", "deleted"),
    ("Generic.Inserted", "inserted"),
)
"""By the beginning of what Pygments calls a piece: what it is called here."""
