"""Turns Markdown into HTML for pages outside of Streamlit; no markup but our own elements can come out.

The parser is that of Chat and Compare; this module says which element each of its tokens becomes. The only attribute
with text of a message is the address of a link, `http` or `https`. Formulas are drawn if the package for them is
installed, and shown as their source otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

from forky_core.context.citations import NOTHING, Opens, linked, opened_by_line, opened_in, opens_of
from forky_core.context.citing import SOURCES
from forky_core.render.templating import shown
from forky_core.text.fences import CodeBlocks
from forky_core.text.markdown import markdown_parser
from forky_core.text.mathml import mathml

_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`\n]{1,500})(?<!`)\1(?!`)")
_DEEPEST, _NESTING = 20, 24
"""A text with more levels of lists and quotations than the first is shown as plain lines; the parser reads more."""

AnchorLookup = Callable[[str], str]
"""Looks up the id of the element that the address of a passage opens; "" if the page does not show it."""


def markdown(text: str, place: AnchorLookup | None = None) -> Markup:
    """Return the HTML of a text; with `place`, numbers of passages link to the passages on the page."""
    text = shown(text)
    opens = opened_in(text) if place is not None and SOURCES in text else NOTHING
    env = {"words": lambda words: _words(words, opens, place)}
    tokens = _parser().parse(text, env)
    if any(token.level > _DEEPEST for token in tokens):
        return Markup('<p dir="auto">{}</p>').format(Markup("<br>").join(text.split("\n")))
    return Markup(_parser().renderer.render(tokens, _parser().options, env))  # noqa: S704 - our own elements


def inline_markdown(text: str) -> Markup:
    """Return the HTML of words on a line, with code, formulas, emphasis and links."""
    return Markup(_parser().renderInline(shown(text), {"words": escape}))  # noqa: S704 - our own elements


def needs_its_lines(text: str) -> bool:
    """Whether the same number stands for different passages in different lines of a text."""
    if SOURCES not in text:
        return False
    lines, opens = text.split("\n"), opened_in(text)
    return any(opens_of(line, opens) != here for line, here in zip(lines, opened_by_line(lines), strict=True))


def as_written(text: str, place: AnchorLookup | None = None) -> Markup:
    """Return the HTML of a text line by line as it was written: only code is marked up, and numbers of passages link to
    the passages if there is a `place`.
    """
    lines = shown(text).split("\n")
    cites = place is not None and SOURCES in text
    opened = opened_by_line(lines) if cites else [NOTHING] * len(lines)
    blocks = CodeBlocks()
    pieces: list[Markup] = []
    prose: list[Markup] = []
    code: list[str] = []

    def end_block() -> None:
        if block := Markup("\n").join(prose).strip("\n"):
            pieces.append(Markup('<div class="said" dir="auto">{}</div>').format(block))
        if code:
            pieces.append(Markup("<pre>{}</pre>").format("\n".join(code)))
        prose.clear()
        code.clear()

    for line, opens in zip(lines, opened, strict=True):
        part = blocks.take(line)
        if part == "code":
            code.append(line)
            continue
        if part == "opens" or code:
            end_block()
        if part == "prose":
            prose.append(_with_code(line, opens, place))
    end_block()
    return Markup().join(pieces)


def _with_code(line: str, opens: Opens, place: AnchorLookup | None) -> Markup:
    if "`" not in line:
        return _words(line, opens, place)
    pieces: list[Markup] = []
    last = 0
    for found in _SPAN.finditer(line):
        pieces += (
            _words(line[last : found.start()], opens, place),
            Markup("<code>{}</code>").format(found[2]),
        )
        last = found.end()
    return Markup().join((*pieces, _words(line[last:], opens, place)))


def _words(text: str, opens: Opens, place: AnchorLookup | None) -> Markup:
    """Escape a text and link its numbers of passages."""
    if place is None:
        return escape(text)

    def link(number: str, address: str) -> str:
        at = place(address)
        return Markup('<a href="#{}">{}</a>').format(at, number) if at else escape(number)

    return Markup(linked(text, opens, escape, link))  # noqa: S704 - both functions escape


@cache
def _parser() -> MarkdownIt:
    made = markdown_parser(nesting=_NESTING, is_link=lambda address: _ADDRESS.fullmatch(address) is not None)
    made.core.ruler.push("elements", _elements)
    made.renderer = _Renderer()
    return made


def _elements(state: StateCore) -> None:
    """Set the HTML element of each token."""
    closing: list[str] = []
    for at, token in enumerate(state.tokens):
        token.block = False  # The renderer begins no new line for an element.
        before = state.tokens[at - 1].type if at else ""
        match token.type:
            case "heading_open" | "heading_close":
                token.tag = f"h{min(int(token.tag[1:]) + 2, 5)}"
            case "paragraph_open":
                token.hidden = False
                token.tag = "span" if before == "list_item_open" else "p"
                token.attrs = {"dir": "auto"}
                closing.append(token.tag)
            case "paragraph_close":
                token.hidden = False
                token.tag = closing.pop()
            case "th_open" | "td_open":
                token.attrs = {"class": "right"} if token.attrGet("style") == "text-align:right" else {}
            case "inline":
                token.children = list(_line(token))
                alone = token.children[0] if len(token.children) == 1 else None
                if before == "paragraph_open" and alone is not None and alone.meta.get("display"):
                    state.tokens[at - 1].attrs = {"class": "formula"}
            case _:
                pass


def _line(words: Token) -> Iterator[Token]:
    """Yield the tokens of a line, with the checkbox of a list item as a sign."""
    if "ticked" in words.meta:
        yield Token("text", "", 0, content="☑" if words.meta["ticked"] else "☐")
    linked = False
    for token in words.children or ():
        match token.type:
            case "link_open":
                linked = bool(token.attrGet("href"))  # `[words]()` leads nowhere.
                yield from (_link(str(token.attrGet("href"))),) if linked else ()
            case "link_close":
                yield from (token,) if linked else ()
                linked = False
            case "image":
                source = str(token.attrGet("src"))
                shown = Token("text", "", 0, content=f"🖼 {token.content or 'image'}")
                yield from (_link(source), shown, Token("link_close", "a", -1)) if source else (shown,)
            case "text" if not linked:
                token.type = "words"
                yield token
            case _:
                yield token


def _link(address: str) -> Token:
    return Token(
        "link_open", "a", 1, attrs={"href": address, "target": "_blank", "rel": "noopener noreferrer"}
    )


class _Renderer(RendererHTML):
    """Renders tokens that are more than one element. Each public method is named after the type that it renders."""

    def words(self, tokens: Sequence[Token], at: int, _options: Any, env: Any) -> str:
        return str(env["words"](tokens[at].content))

    def text(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return str(escape(tokens[at].content))

    def softbreak(self, *_: Any) -> str:
        return "<br>"

    def hardbreak(self, *_: Any) -> str:
        return "<br>"

    def hr(self, *_: Any) -> str:
        return "<hr>"

    def table_open(self, *_: Any) -> str:
        return '<div class="wide"><table>'

    def table_close(self, *_: Any) -> str:
        return "</table></div>"

    def code_block(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        language = _LANGUAGE.match(tokens[at].info.strip())
        label = Markup(' data-language="{}"').format(language.group()) if language is not None else ""
        text = tokens[at].content.removesuffix("\n")
        return Markup("<pre{}><code>{}</code></pre>").format(label, text)

    def fence(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return self.code_block(tokens, at)

    def formula(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        token = tokens[at]
        drawn = mathml(token.content, display=token.meta["display"])
        return drawn or str(Markup("<br>").join(token.markup.split("\n")))
