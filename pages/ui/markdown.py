r"""Text of models and people, made safe to draw: formatted as meant, never obeyed.

Streamlit escapes HTML, but it loads images from anywhere (a way to leak what was said), reads "$5 and $10" as a formula
and obeys its own directives (`:red[…]`, `:smile:`, `:material/x:`). Here all of that is text again outside code, while
`\( \)`, `\[ \]` and `$$` stay formulas and images become links. Where this scanner and the browser's parser could
disagree about what is code (a code span over several lines, a stray backtick), the text is escaped rather than trusted;
the Content-Security-Policy is the second line of defence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import streamlit as st

SHOWN = 20_000
"""Characters of one text that are drawn before a person asks for all of it."""
_LABEL = 160
_DEEPEST = 12
"""Lists opened on one line."""
_JOINER = "\u2060"
"""Breaks a word for Streamlit's emoji and icon names, which it looks for after escapes are gone; draws nothing."""

_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]")
"""Control characters, overrides of the writing direction, halves of characters."""
_INDENT = re.compile(r"[ ]*")
_QUOTE = re.compile(r"(?: {0,3}> ?)+")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +)(?=\S)")
_FENCE = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,})")
_TABLE = re.compile(r"^[ >]*+(?:\|[ ]*+)?:?-++:?[ ]*+\|", re.MULTILINE)
_TOKEN = re.compile(
    r"""(?=[`\\$<!:\[])(?:
      (?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]{0,2000}?(?<!`)(?P=ticks)(?!`))
    | (?P<inline>\\\((?P<formula>[^\n`]{1,1000}?)\\\))
    | (?P<display>\\\[(?P<block>[^`]{1,2000}?)\\\])
    | (?P<dollars>\$\$(?!\$)[^$`]{1,2000}?\$\$)
    | (?P<escaped>\\[!-/:-@\[-`{-~])
    | (?P<autolink><https?://[^\s<>`]+>)
    | (?P<image>!\[(?P<empty>\](?=[\[(]))?)
    | (?P<name>:(?=(?:material/)?[A-Za-z0-9_+\-]{1,60}:))
    | (?P<directive>(?<!(?<!\\):):++(?=[A-Za-z][\w-]{0,60}[\[{])|(?<![^\s>]):{2,}+(?=\s*+[A-Za-z]))
    | (?P<cited>(?<![\]\\])\[[0-9]{1,3}(?:\s?[,;]\s?[0-9]{1,3}){0,9}\](?![(\[:]))
    | (?P<special>[$`<])
    )""",
    re.VERBOSE,
)
"""Of the characters that any of them begins with, the first line: of prose, nearly every character is none."""


def showable(text: str) -> str:
    """The text with what cannot or must not be drawn as “�”."""
    return _UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def safe_markdown(text: str, cited: Mapping[int, str] | None = None) -> str:
    """What to hand to `st.markdown` so that it shows `text` and obeys none of it.

    `cited` makes bracketed numbers outside code links: the address that each opens.
    """
    text = showable(text).expandtabs(4)
    tables = _TABLE.search(text) is not None
    return "".join(
        part if code else _escape(part, cited or {}, tables=tables) for code, part in _blocks(text)
    )


def plain_label(text: str, limit: int = _LABEL) -> str:
    """One line without any formatting, for the labels of widgets, which read Markdown too."""
    line = " ".join(showable(text[: limit * 4]).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return re.sub(r"[\\`*_{}\[\]()#+\-.!|<>$~&]", r"\\\g<0>", line).replace(":", f":{_JOINER}")


def show_text(text: str, key: str, cited: Mapping[int, str] | None = None) -> None:
    """Draw what a model or a person wrote. A very long text is cut until someone asks for it (`<key>.all`).

    All of it is then shown as it is, without formatting: a browser takes minutes to format a megabyte.
    """
    if len(text) <= SHOWN:
        st.markdown(safe_markdown(text, cited))
        return
    if st.toggle(f"Show all {len(text):,} characters", key=f"{key}.all"):
        st.code(showable(text), language=None, wrap_lines=True, height=480)
    else:
        st.markdown(safe_markdown(text[:SHOWN], cited) + "\n\n…")


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces: fenced code (True), and everything between."""
    prose: list[str] = []
    fence = _NO_FENCE
    offsets: list[int] = []
    for line in text.splitlines(keepends=True) if "\x0b" not in text else [text]:
        quotes = _QUOTE.match(line)
        depth = quotes.group().count(">") if quotes else 0
        body = line[quotes.end() :] if quotes else line
        indent = len(_INDENT.match(body).group()) if body.strip() else None  # type: ignore[union-attr]
        if fence.open and fence.ended_by(depth, indent):
            fence = _NO_FENCE
        if fence.open:
            yield True, line
            if fence.closed_by(body if fence.depth else line):
                fence = _NO_FENCE
            continue
        if indent is not None:
            while offsets and offsets[-1] > indent:
                offsets.pop()
        for _ in range(_DEEPEST):
            item = _ITEM.match(body)
            if item is None or len(item[1]) - (offsets[-1] if offsets else 0) > 3:
                break
            offsets.append(item.end() if len(item[3]) <= 4 else item.end(2) + 1)
            body = " " * item.end() + body[item.end() :]
        opening = _FENCE.match(body)
        base = offsets[-1] if offsets else 0
        if opening and 0 <= len(opening[1]) - base <= 3:
            if prose:
                yield False, "".join(prose)
                prose = []
            fence = _Fence(opening[2], depth, base)
            yield True, line
        else:
            prose.append(line)
    if prose:
        yield False, "".join(prose)


class _Fence:
    """An opened block of code and what ends it."""

    __slots__ = ("base", "depth", "marker")

    def __init__(self, marker: str, depth: int, base: int) -> None:
        self.marker, self.depth, self.base = marker, depth, base

    @property
    def open(self) -> bool:
        return bool(self.marker)

    def ended_by(self, depth: int, indent: int | None) -> bool:
        """Whether the quote or list item that holds it is over."""
        if depth < self.depth:
            return True
        return self.base > 0 and indent is not None and indent < self.base

    def closed_by(self, line: str) -> bool:
        bare = line.strip()
        inset = len(line) - len(line.lstrip(" ")) - self.base
        return inset <= 3 and len(bare) >= len(self.marker) and set(bare) == {self.marker[0]}


_NO_FENCE = _Fence("", 0, 0)


def _linked(numbers: str, cited: Mapping[int, str]) -> str:
    """`[1, 2]` with a link at each number that cites something."""
    if not any(int(number) in cited for number in re.findall(r"\d+", numbers)):
        return numbers

    def link(found: re.Match[str]) -> str:
        target = cited.get(int(found.group()))
        return found.group() if target is None else f"[{found.group()}]({target})"

    return f"\\[{re.sub(r'[0-9]+', link, numbers[1:-1])}\\]"


def _escape(prose: str, cited: Mapping[int, str], *, tables: bool) -> str:
    def replacement(found: re.Match[str]) -> str:
        piece = found.group()
        match found.lastgroup:
            case "code" if tables and "|" in piece:
                return re.sub(r"[`$<!:\[]", r"\\\g<0>", piece)
            case "code" | "escaped" | "autolink" | "dollars":
                return piece
            case "inline":
                return f"${found['formula'].strip().replace('$', '')}$"
            case "display":
                return f"$${found['block'].replace('$', '')}$$"
            case "image":
                return "🖼 [image]" if found["empty"] else "🖼 ["
            case "cited":
                return _linked(piece, cited)
            case "name":
                return f":{_JOINER}"
            case "directive":
                return "".join(f"\\:{_JOINER}" for _ in piece)
            case _:
                return "&lt;" if piece == "<" else f"\\{piece}"

    return _TOKEN.sub(replacement, prose)
