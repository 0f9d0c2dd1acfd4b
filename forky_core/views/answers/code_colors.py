"""The parts of code that are drawn in colours: keywords, names, texts, numbers, comments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from forky_core.process.extras import needed_for

MOST_COLORED = 20_000
"""The most characters of one block of code that are coloured."""


def colored(lines: Sequence[str], language: str) -> list[list[tuple[str, str]]]:
    """Return the pieces of each line of code, as `colored_code` does of a block."""
    found: list[list[tuple[str, str]]] = [[]] if lines else []
    for value, color in colored_code("\n".join(lines), language) if lines else ():
        for at, piece in enumerate(value.split("\n")):
            if at:
                found.append([])
            if piece:
                found[-1].append((piece, color))
    return found


@lru_cache(maxsize=1_024)
def colored_code(text: str, language: str) -> tuple[tuple[str, str], ...]:
    """Return the pieces of a block of code in their order, each with what it is; "" for what has no colour of its own.

    A text whose language is not known, or which is too long, is one piece.

    Raises:
        NotInstalled: the package that reads code is missing.
    """
    if not language or len(text) > MOST_COLORED:
        return ((text, ""),)
    with needed_for("Colouring code", "app"):
        from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - the library does without it
        from pygments.util import ClassNotFound  # noqa: PLC0415 - as above
    try:
        lexer = get_lexer_by_name(language.casefold(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ((text, ""),)
    found: list[tuple[str, str]] = []
    known: dict[object, str] = {}
    for kind, value in lexer.get_tokens(text):
        if kind not in known:
            begins = str(kind).removeprefix("Token.")
            known[kind] = next((name for start, name in _NAMES if begins.startswith(start)), "")
        if found and found[-1][1] == known[kind]:
            found[-1] = (found[-1][0] + value, known[kind])
        elif value:
            found.append((value, known[kind]))
    return tuple(found) if "".join(piece for piece, _ in found) == text else ((text, ""),)


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
