"""A Markdown text drawn while it is written, each block once it is whole, and the last one anew each time.

Blocks are JSON of trees (prose.py), which never change once there is another block below them, so that a reader who has
some of them needs only those that follow and the last one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.context.citing import without_sources
from forky_core.model.hashing import mend_text
from forky_core.render.prose import ProseDrawing, is_too_deep, plain, prose_parser
from forky_core.render.trees import Tree
from forky_core.text.markdown import GROWS
from forky_core.text.showable import showable
from forky_core.text.unfinished import drawable


@dataclass(frozen=True, slots=True)
class LiveProse:
    """How far a text is drawn."""

    blocks: tuple[str, ...] = ()
    """Those that are whole: JSON of lists of trees."""
    last: str = "[]"
    """What stands below them and may still change."""


class ProseWriter:
    """Draws a text whose pieces are added one after the other."""

    def __init__(self) -> None:
        self.drawn = LiveProse()
        self._rest = ""
        """The text of the last block, and of what follows it."""
        self._half = ""
        """The end of the last piece, where the next one may change what it is."""
        self._links: dict[str, Any] = {}
        self._drawing = ProseDrawing({}, "live")
        self.parse = prose_parser().parse

    def add(self, text: str) -> None:
        """Take a piece, which may end in the middle of a character."""
        text = self._half + text
        cut = len(text) - (text[-1:] == "\r" or "\ud800" <= text[-1:] <= "\udbff")
        self._rest += showable(mend_text(text[:cut]))
        self._half = text[cut:]

    def draw(self, *, whole: bool = False) -> LiveProse:
        """Draw what has been added; of a text that is `whole` the last block, too, is what it will stay."""
        if whole:
            self._rest, self._half = without_sources(self._rest + showable(self._half)), ""
        text, guessed = (self._rest, False) if whole else drawable(self._rest)
        env: dict[str, Any] = {"references": self._links} | ({} if whole else {GROWS: not guessed})
        tokens = self.parse(text, env)
        if is_too_deep(tokens):
            self.drawn = LiveProse(self.drawn.blocks, _json([plain(text)]))
            return self.drawn
        begins = [at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
        if not env.get(GROWS, True):
            begins = begins[:-1]  # The last may go on as the paragraph above it.
        last = begins[-1] if begins else 0
        line = tokens[last].map if last else None
        if line is not None:
            self._rest = self._rest.split("\n", line[0])[-1]
            ends = [*begins[1:], last]
            whole_blocks = [
                _json(self._drawing.blocks(tokens[a:b])) for a, b in zip(begins, ends, strict=False)
            ]
            self.drawn = LiveProse((*self.drawn.blocks, *whole_blocks), "[]")
        trees = self._drawing.blocks(tokens[last:], growing=not whole)
        self.drawn = LiveProse(self.drawn.blocks, _json([*trees, *(self._drawing.notes() if whole else ())]))
        return self.drawn


def _json(trees: Sequence[Tree]) -> str:
    return json.dumps(trees, separators=(",", ":"))
