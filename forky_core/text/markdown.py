"""The one parser of Markdown: CommonMark with tables, strikes, boxes, formulas, addresses, and emphasis in CJK texts.

Chat, Compare and the pages outside of Streamlit draw its tokens. Where only the lines of code matter, or a text is cut
anywhere, fences.py and plain_words.py read lines without a parser; unfinished.py prepares a text that is still written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from forky_core.text.emphasis import CJK, flanking, is_cjk
from forky_core.text.formulas import DOLLARS, is_mathematics
from forky_core.text.words import WIDE

_FORMULA = re.compile(
    r"\\\((?P<inline>[^`]{1,1000}?)\\\)|\\\[(?P<display>[^`]{1,2000}?)\\\]|\$\$(?!\$)(?P<dollars>[^$`]{1,2000}?)\$\$"
    "|" + DOLLARS,
    re.DOTALL,
)
_WEB_OR_MAIL = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX])\]\s")
_SCHEME = re.compile(r"(?:^|[^A-Za-z0-9])(https?)$", re.IGNORECASE)
_DOMAIN = re.compile(r"://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
ADDRESS = rf"(?:[^\s<\x00-\x1f{CJK}]|(?<=[/?#=&_+\-{WIDE}])[{WIDE}])*"
"""The pattern of the rest of a bare address. In languages without spaces the sentence goes on behind it: their
characters belong to it where one begins a part of its path, and their punctuation never does."""
_BARE = re.compile(f"://{ADDRESS}")
_BREAK = re.compile(r"<br */?>", re.IGNORECASE)
_ENDS = {"$$": "$$", "\\[": "\\]"}
"""What ends a formula on lines of its own, by how it begins."""
_TALLEST = 60
"""Lines of a formula."""
GROWS = "grows"
"""A key of the environment of a text whose end is still to come, in which a formula without an end goes on to the last
line; its value then becomes False: the formula may be none, and its lines belong to the paragraph above them."""


class InlineState(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: FBT001, N802, N803 - markdown-it's names
        if not canSplitWord:
            return super().scanDelims(start, canSplitWord)
        end = start
        while end < self.posMax and self.src[end] == self.src[start]:
            end += 1
        before = self.src[start - 1] if start else " "
        after = self.src[end] if end < self.posMax else " "
        return Scanned(*flanking(before, after), end - start)


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def is_web_or_mail(address: str) -> bool:
    """Whether an address leads to the web or to a mail address."""
    return _WEB_OR_MAIL.fullmatch(address) is not None


def markdown_parser(*, nesting: int, is_link: Callable[[str], bool] = is_web_or_mail) -> MarkdownIt:
    """A parser that reads no HTML; `is_link` says which addresses may become links.

    A formula is a token of this name, with its LaTeX as `content` and its source as `markup`.

    The words of an item with a box to tick lack the box; whether it is ticked is the `meta["ticked"]` of their token.
    """
    made = MarkdownIt()
    made.inline = _Inline()
    made.configure("commonmark", {"html": False, "maxNesting": nesting})
    made.enable(["table", "strikethrough"])
    made.block.ruler.before("fence", "formula", _formula_lines, {"alt": ["paragraph", "blockquote", "list"]})
    made.inline.ruler.before("escape", "formula", _formula)
    made.inline.ruler.before("escape", "bare_address", _bare_address)
    made.inline.ruler.before("emphasis", "factor", _factor)
    made.core.ruler.push("boxes", _boxes)
    made.core.ruler.push("breaks", _breaks)
    made.validateLink = is_link  # type: ignore[assignment, method-assign]
    return made


def _boxes(state: StateCore) -> None:
    """Take the box out of the first words of an item."""
    for item, paragraph, words in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type == "list_item_open" and paragraph.type == "paragraph_open" and words.children:
            box, first = _BOX.match(words.content), words.children[0]
            if box is not None and first.type == "text":
                first.content = first.content[3:]
                words.meta["ticked"] = box[1] in "xX"


def _breaks(state: StateCore) -> None:
    """Read `<br>` in a cell of a table as a new line, for which Markdown has no sign there."""
    for cell, words in pairwise(state.tokens):
        if cell.type in ("th_open", "td_open") and "<" in words.content:
            words.children = [one for token in words.children or () for one in _broken(token)]


def _broken(token: Token) -> Iterator[Token]:
    for at, text in enumerate(_BREAK.split(token.content) if token.type == "text" else ()):
        yield from (Token("hardbreak", "br", 0),) if at else ()
        yield Token("text", "", 0, content=text)
    if token.type != "text":
        yield token


def _formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    if state.src[state.pos] not in "\\$":
        return False
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None or (found["dollar"] is not None and not is_mathematics(found["dollar"])):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = " ".join(next(text for text in found.groups() if text is not None).split())
        token.markup = found.group()
        token.meta = {"display": found["display"] is not None or found["dollars"] is not None}
    state.pos = found.end()
    return True


def _formula_lines(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - as above
    """Read a formula on several lines as a paragraph, whatever its lines would be on their own."""
    begins = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    end = _ENDS.get(begins[:2])
    if end is None or end in begins[2:] or state.is_code_block(first):
        return False
    line, furthest = first + 1, min(last, first + _TALLEST)
    while line < furthest and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
        if state.src[state.bMarks[line - 1] : state.eMarks[line - 1]].rstrip().endswith(end):
            break
    else:
        if GROWS not in state.env or line < state.lineMax:
            return False
        state.env[GROWS] = False
    if not silent:
        state.push("paragraph_open", "p", 1).map = [first, line]
        words = state.push("inline", "", 0)
        words.content = state.getLines(first, line, state.blkIndent, keepLastLF=False).strip()
        words.map, words.children = [first, line], []
        state.push("paragraph_close", "p", -1)
        state.line = line
    return True


def _bare_address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - as above
    """Read an address that is written as it is (GitHub's “extended autolinks”) as a link."""
    if state.src[state.pos] != ":" or state.linkLevel:
        return False
    scheme = _SCHEME.search(state.pending[-6:])
    if scheme is None or _DOMAIN.match(state.src, state.pos) is None:
        return False
    found = _BARE.match(state.src, state.pos, state.posMax)
    rest = trimmed(found.group()) if found is not None else ""
    if len(rest) < len("://x"):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[1])]
        opened = state.push("link_open", "a", 1)
        opened.attrs = {"href": state.md.normalizeLink(scheme[1] + rest)}
        state.push("text", "", 0).content = scheme[1] + rest
        state.push("link_close", "a", -1)
    state.pos += len(rest)
    return True


def trimmed(address: str) -> str:
    """Return a bare address without what belongs to the sentence around it."""
    while address:
        if address[-1] in "?!.,:*_~'\"”’»…" or (
            address[-1] == ")" and address.count(")") > address.count("(")
        ):
            address = address[:-1]
        elif (entity := re.search(r"&[A-Za-z0-9]+;$", address)) is not None:
            address = address[: entity.start()]
        else:
            break
    return address


def _factor(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - as above
    """Read an asterisk between two letters or digits, as in 2*3*4, as a sign and not as emphasis."""
    at = state.pos
    if state.src[at] != "*" or not 0 < at < state.posMax - 1:
        return False
    around = state.src[at - 1] + state.src[at + 1]
    if not all((sign.isalnum() or sign == "_") and not is_cjk(sign) for sign in around):
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True
