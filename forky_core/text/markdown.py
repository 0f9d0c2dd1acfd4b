"""The Markdown parser of Chat and Compare: CommonMark with tables and strikes, and emphasis between CJK words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
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


def markdown_parser(*, nesting: int, is_link: Callable[[str], bool]) -> MarkdownIt:
    """A parser that reads no HTML; `is_link` says which addresses may become links."""
    made = MarkdownIt()
    made.inline = _Inline()
    made.configure("commonmark", {"html": False, "maxNesting": nesting})
    made.enable(["table", "strikethrough"])
    made.validateLink = is_link  # type: ignore[assignment, method-assign]
    return made


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
