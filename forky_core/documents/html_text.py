"""Text out of the HTML that some exports contain: paragraphs, lists, code and emphasis as Markdown, nothing else.

None of it is ever displayed as HTML: everything that is not text is dropped.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

LONGEST = 2_000_000
"""The most characters that are read; an answer of a model is never longer."""
_BLOCKS = frozenset(("p", "div", "ul", "ol", "table", "tr", "section", "blockquote", "article"))
_SILENT = frozenset(("script", "style", "head", "title", "template", "svg"))
_INLINE = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_HEADING = re.compile(r"h[1-6]")
_UNKNOWN_SECTION = re.compile(
    r"<!\[(?!(?:temp|cdata|ignore|include|rcdata|if|else|endif)(?![-_.a-z0-9]))", re.IGNORECASE
)
_COMMENT_ENDS = re.compile(r"--!?\s{0,99}>")
_GAPS = re.compile(r"\n{3,}")
_SPACES = re.compile(r"\s+")


def markdown_of(html: str, longest: int = LONGEST) -> str:
    """The text of a piece of HTML as Markdown; only the first `longest` characters are read."""
    reader = _HtmlReader()
    reader.feed(_without_loose_ends(html[:longest]))
    reader.close()
    return _GAPS.sub("\n\n", "".join(reader.out)).strip()


def _without_loose_ends(html: str) -> str:
    """The same HTML with every unfinished tag, comment or section escaped as text.

    `html.parser` would search all of the remaining text for the end of each tag and comment: 40 kB of `<a ` took 12
    seconds. For a section with an unknown name it raises an AssertionError.
    """
    html = _UNKNOWN_SECTION.sub("&lt;![", html)
    ends = html.rfind(">") + 1
    html = html[:ends] + html[ends:].replace("<", "&lt;")
    last = max((end.end() for end in _COMMENT_ENDS.finditer(html)), default=0)
    return html[:last] + html[last:].replace("<!--", "&lt;!--")


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self._silent = 0
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - text only
        if tag in _SILENT:
            self._silent += 1
        elif tag == "pre":
            self._code += 1
            self.out.append("\n\n```\n")
        elif tag == "code" and not self._code:
            self.out.append("`")
        elif tag == "br":
            self.out.append("\n")
        elif tag == "li":
            self.out.append("\n- ")
        elif _HEADING.fullmatch(tag):
            self.out.append("\n\n" + "#" * int(tag[1]) + " ")
        elif tag in _BLOCKS:
            self.out.append("\n\n")
        else:
            self.out.append(_INLINE.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "pre":
            self._code = max(0, self._code - 1)
            self.out.append("\n```\n\n")
        elif tag == "code" and not self._code:
            self.out.append("`")
        elif tag in _BLOCKS or _HEADING.fullmatch(tag):
            self.out.append("\n\n")
        else:
            self.out.append(_INLINE.get(tag, ""))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.out.append(data if self._code else _SPACES.sub(" ", data))
