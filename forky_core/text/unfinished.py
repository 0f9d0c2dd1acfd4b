"""Markdown that is still written: what of it can be drawn already, and what is open in it closed.

A text that is cut anywhere would show signs that mean something once the rest has come: `**`, a fence, the line below
the head of a table. Here such signs are left out until it is known what they are (`drawable`), and what they have
opened ends where the text does (`mend`). Both guess; a block that is whole is read without them.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.balance_pairs import link_pairs

from forky_core.text.markdown import GROWS, InlineState

_LONGEST = 300
"""Characters of a last line that may still become anything, and of the words of a link."""
_AROUND = r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
"""Quotations and items that a line may stand in."""
_UNCLEAR = re.compile(
    rf"{_AROUND}(?:"
    r"[-+*=_#|:`~$\\. \t>]*|\d{1,9}[.)]?[ \t]*"  # signs alone
    r"|`{3,}[^`]*|~{3,}.*"  # a fence, whose language may go on
    r"|\[.?\]?[ \t]*"  # a box to tick
    r"|\[[^\[\]]*\]:.*|\[\^.*"  # where links lead, or a note
    r"|SOURCES:.*)"
)
_ROW = re.compile(rf"(?P<around>{_AROUND})(?P<row>\|.*)")
_BAR = re.compile(r"(?<!\\)\|")
_LOOSE = "*_~`$!(<[\\ \t\n"
"""Signs at the end of words whose meaning depends on what comes behind them."""
_LINK = re.compile(
    rf"(?<![\w\])])!?\[(?!\^)(?P<words>(?:[^\[\]\n]|\\.){{0,{_LONGEST}}})"
    r"(?:\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s[^()\n]*)?)?)?\Z"
)
_NOTE_NUMBER = re.compile(r"\[\^[^\s\[\]]{0,60}\Z")
_NUMBERS = re.compile(r"[\d,; ]*")
_TICKS = re.compile(r"`+")
_FORMULA = re.compile(r"\\[(\[]|\$\$")
_TRIAL = "trial"


def drawable(text: str) -> tuple[str, bool]:
    """Return the text without a last line that may still become anything, and whether what it ends in may be the head
    of a table: then a line that makes it one stands below.
    """
    above, _, line = text.rpartition("\n")
    if len(line) <= _LONGEST and _UNCLEAR.fullmatch(line):
        text = above
        above, _, line = text.rpartition("\n")
    head = _ROW.fullmatch(line) if len(line) <= 4 * _LONGEST else None
    if head is None or not head["row"].strip("| ") or _ROW.fullmatch(above.rpartition("\n")[2]):
        return text, False
    cells = len(_BAR.split(head["row"].strip().removeprefix("|").removesuffix("|")))
    return f"{text}\n{re.sub('[^ >]', ' ', head['around'])}|{'---|' * cells}", True


def mend(state: StateCore) -> None:
    """Close what is open in the last words of a text that grows: a rule for before the words are read."""
    if GROWS not in state.env:
        return
    for token in reversed(state.tokens):
        if token.type == "inline":
            token.content = _closed(token.content, state.md)
        if token.nesting >= 0:
            return


def _closed(words: str, parser: MarkdownIt) -> str:
    words = _NOTE_NUMBER.sub("", words.rstrip(_LOOSE)).rstrip(_LOOSE)
    link = _LINK.search(words, max(0, len(words) - 8 * _LONGEST))
    if link is not None and not _NUMBERS.fullmatch(link["words"]):
        words = words[: link.start()] + link["words"].rstrip(_LOOSE)
    trial = InlineState(words, parser, {_TRIAL: ""}, [])
    parser.inline.tokenize(trial)
    link_pairs(trial)
    signs = [chr(one.marker) for one in trial.delimiters if one.open and one.end < 0]
    closing = "".join("~~" if sign == "~" else sign for sign in reversed(signs))
    return f"{trial.env[_TRIAL] or words}{closing}"


def open_code(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    """Read code and formulas without an end as code: a rule for words that `mend` tries, before that of code."""
    if _TRIAL not in state.env:
        return False
    text, at = state.src, state.pos
    if (ticks := _TICKS.match(text, at)) is not None:
        marks, inside = ticks.group(), text[ticks.end() :]
        closed = any(one.group() == marks for one in _TICKS.finditer(inside))
    else:
        marks, inside = "`", text[at + 2 :].strip()
        closed = _FORMULA.match(text, at) is None or "`" in inside
    if closed or not inside:
        return False
    if not silent:
        state.env[_TRIAL] = f"{text[:at]}{marks}{inside}{marks}"
    state.pos = state.posMax
    return True
