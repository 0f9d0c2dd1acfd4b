"""Thoughts that a server without a parser for them sends in the text of an answer, between tags at its beginning.

Tags count only where an answer begins: in the middle of an answer, and in code, they are text that somebody wrote. A
template may have opened the thought before the answer, as those of DeepSeek R1 and Qwen do. Then its end alone is sent,
in a line of its own, and only the complete answer can be split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

_NAMES = ("think", "thinking", "thought", "reasoning", "seed:think")
_TAGS: dict[str, str | None] = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "◁think▷": "◁/think▷",
    "[think]": "[/think]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|start|>assistant<|channel|>final<|message|>": None,
    "<|channel|>final<|message|>": None,
    "<|start_response|>": None,
}
"""Closing tags by opening tags, in lower case; None for a tag with which the text itself begins."""
_UNOPENED = re.compile(r"^[ \t]*</think>[ \t]*$", re.IGNORECASE | re.MULTILINE)

TAGS_BEGIN = tuple({tag[0] for tag in _TAGS})
"""The characters with which a tag can begin."""


class Said(NamedTuple):
    """A piece of an answer."""

    kind: Literal["thought", "text"]
    text: str


@dataclass(slots=True)
class ThoughtSplitter:
    """Splits an answer that arrives in pieces into its thoughts and its text."""

    _closing: str | None = ""
    """The closing tag that is awaited; "" before the beginning is known, None once all that follows is text."""
    _held: str = ""
    """What cannot be told apart yet."""
    _between: str | None = None
    """What stands before the next thought: a paragraph's end after another one; None if no tag has come yet."""
    _fresh: bool = True
    """Whether nothing of the present thought has come yet."""

    def feed(self, piece: str) -> Iterator[Said]:
        """Yield what is known of an answer with a further piece."""
        self._held += piece
        while self._closing is not None:
            if not self._closing and not self._begin():
                return
            if self._closing:
                yield from self._think(self._closing)
                if self._closing:
                    return
        if self._held:
            held, self._held = self._held, ""
            yield Said("text", held)

    def close(self) -> Iterator[Said]:
        """Yield the rest of an answer that has ended; a thought without its closing tag stays a thought."""
        held, self._held = self._held, ""
        if self._closing:
            yield from self._thought(held.rstrip())
        elif held := held.lstrip() if self._between is not None else held:
            yield Said("text", held)
        self._closing = None

    def _begin(self) -> bool:
        """Look for an opening tag; return whether it is known if there is one."""
        start = self._held.lstrip()
        small = start[:_LONGEST].lower()
        opening = next((tag for tag in _TAGS if small.startswith(tag)), None)
        if opening is not None:
            self._closing, self._held, self._fresh = _TAGS[opening], start[len(opening) :], True
            if self._closing is None:
                self._held = self._held.lstrip()
        elif any(tag.startswith(small) for tag in _TAGS):
            return False
        else:
            self._closing = None
            self._held = start if self._between is not None else self._held
        return True

    def _think(self, closing: str) -> Iterator[Said]:
        """Yield what is known of a thought; at its closing tag, look for the beginning anew."""
        if self._fresh:
            self._held = self._held.lstrip()
        found = re.search(re.escape(closing), self._held, re.IGNORECASE)
        if found is not None:
            yield from self._thought(self._held[: found.start()].rstrip())
            self._held, self._closing = self._held[found.end() :], ""
            self._between = self._between or "" if self._fresh else "\n\n"
            return
        # White space and the beginning of a tag may belong to the end of the thought.
        safe = self._held[: len(self._held) - _begun(closing, self._held)].rstrip()
        self._held = self._held[len(safe) :]
        yield from self._thought(safe)

    def _thought(self, text: str) -> Iterator[Said]:
        if text:
            yield Said("thought", ((self._between or "") if self._fresh else "") + text)
            self._fresh = False


_LONGEST = max(map(len, _TAGS))


def _begun(tag: str, text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    sizes = range(min(len(tag) - 1, len(text)), 0, -1)
    return next((size for size in sizes if text[-size:].lower() == tag[:size]), 0)


def split_thoughts(text: str) -> tuple[str, str]:
    """Return the thoughts and the text of a complete answer."""
    splitter = ThoughtSplitter()
    thoughts: list[str] = []
    words: list[str] = []
    for said in (*splitter.feed(text), *splitter.close()):
        (thoughts if said.kind == "thought" else words).append(said.text)
    found, text = "".join(thoughts), "".join(words)
    if not found and (end := _UNOPENED.search(text)) is not None:
        before = text[: end.start()]
        if "<think" not in before.lower() and before.count("```") % 2 == 0:
            return before.strip(), text[end.end() :].strip()
    return found, text
