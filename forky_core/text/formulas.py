"""Whether what stands between two dollar signs is mathematics, or money, a shell variable or a sentence."""

from __future__ import annotations

import re

from forky_core.text.words import WIDE, word_set

DOLLARS = (
    rf"(?<![\\$])(?<![^\W{WIDE}])\$(?=[^\s$])(?P<dollar>[^$`\n]{{1,500}}?)(?<=[^\s\\])\$(?![A-Za-z0-9_$({{])"
)
"""The pattern of what may be a formula between two single dollar signs; `is_mathematics` says whether it is one."""

_NAMED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|operatorname|begin|end)\*?\{[^{}]*\}")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[,;:!|{}%&#_ \\])")
_INDEX = re.compile(
    r"(?<=[^\W_])[_^](?:\{[^{}]*\}|[^\W_](?![^\W\d_])|[*+'-])|(?<=[)}\]|!'])[_^](?:\{[^{}]*\}|[^\W_])"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_FUNCTIONS = word_set(
    "arccos arcsin arctan arg cos cosh cot cov csc deg det dim div erf exp gcd grad hom inf ker lcm lim ln log"
    " max min mod Pr sec sgn sign sin sinh sqrt sup tan tanh tr Var var"
)
_PROSE = word_set(
    "an and any are as at but by can did do each for from go had has he her his how if in is it its let me my"
    " no not of off on one or our out per so tax the to too two us was we who why you chf eur gbp jpy usd"
)
"""Short words that no formula has, in lower case."""
_LONGEST_PRODUCT = 3
"""Letters of a product that is written without signs, such as nRT."""
_RELATION = re.compile(r"[=≠≈≤≥∈∉⊂⊆→⇒↦∝]")
_SYMBOLS = re.compile(r"[\w\s+\-*/<>()\[\]|,.!:;'±×÷·∞∪∩↔∀∃∂∇∑∏√∫⊕⊗∧∨¬=≠≈≤≥∈∉⊂⊆→⇒↦∝]+")
_MONEY = re.compile(r"[\d.,]+\s")
_FOREIGN = re.compile(r"[€£¥₹%\"“”„?@#&~]")
"""Signs that are no part of a formula unless a backslash stands before them."""


def is_mathematics(inside: str) -> bool:
    """Whether LaTeX should draw the text between two dollar signs."""
    if inside.count("{") != inside.count("}"):
        return False
    bare, named = _NAMED.subn(" ", inside)
    bare, commands = _COMMAND.subn(" ", bare)
    if _FOREIGN.search(bare):
        return False
    bare, indices = _INDEX.subn(" ", bare)
    if "_" in bare or not any(sign.isalpha() for sign in inside):
        return False
    words = [word for word in _WORD.findall(bare) if word not in _FUNCTIONS]
    if any(len(word) > _LONGEST_PRODUCT or word.lower() in _PROSE for word in words):
        return False
    if _MONEY.match(inside) and words:
        return False
    marked = named or commands or indices or "^" in bare or _RELATION.search(bare) is not None
    return bool(marked) or (not words and _SYMBOLS.fullmatch(bare) is not None)
