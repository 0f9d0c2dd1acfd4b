"""The one parser of Markdown: CommonMark with tables, strikes, boxes to tick, and emphasis between CJK words.

Chat, Compare and the pages outside of Streamlit draw its tokens, each with its own table of elements. Where only the
lines of code matter, or a text is cut anywhere, fences.py and plain_words.py read lines without a parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from forky_core.text.emphasis import flanking
from forky_core.text.formulas import DOLLARS, is_mathematics

_FORMULA = re.compile(
    r"\\\((?P<inline>[^`]{1,1000}?)\\\)|\\\[(?P<display>[^`]{1,2000}?)\\\]|\$\$(?!\$)(?P<dollars>[^$`]{1,2000}?)\$\$"
    "|" + DOLLARS,
    re.DOTALL,
)
_WEB_OR_MAIL = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX])\]\s")


class _State(StateInline):
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
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def is_web_or_mail(address: str) -> bool:
    """Whether an address leads to the web or to a mail address."""
    return _WEB_OR_MAIL.fullmatch(address) is not None


def markdown_parser(*, nesting: int, is_link: Callable[[str], bool] = is_web_or_mail) -> MarkdownIt:
    """A parser that reads no HTML; `is_link` says which addresses may become links.

    The words of an item with a box to tick lack the box; whether it is ticked is the `meta["ticked"]` of their token.
    """
    made = MarkdownIt()
    made.inline = _Inline()
    made.configure("commonmark", {"html": False, "maxNesting": nesting})
    made.enable(["table", "strikethrough"])
    made.core.ruler.push("boxes", _boxes)
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


def formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    """A rule that reads a formula as a token of this name, with its LaTeX as `content` and its source as `markup`."""
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
