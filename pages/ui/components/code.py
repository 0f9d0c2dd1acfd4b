"""Code in coloured pieces, by the names that the style sheet has colours for (style.py)."""

from __future__ import annotations

from functools import lru_cache

from forky_core.views.answers.code_colors import named_pieces

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


@lru_cache(maxsize=1_024)
def colored_code(text: str, language: str) -> tuple[tuple[str, str], ...]:
    """The pieces of the code in their order, each with what it is; "" for what has no colour of its own."""
    return named_pieces(text, language.casefold(), _NAMES)
