"""Safe Markdown as trees of elements (tree.py): what Streamlit's Markdown would draw, made on the server.

What markdown.py hands over obeys nothing that a model wrote; here it is parsed as Streamlit's browser parses it
(CommonMark with GitHub's tables, strikes and bare addresses), and the trees hold only elements that this module makes.
Formulas, footnotes and links to headings are left to Streamlit: `prose` says None for a text that has one. How the
elements look is in chat/notebook.css, which repeats what Streamlit does with its own; a browser test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from forky_core.text.markdown import is_web_or_mail, markdown_parser
from pages.ui.components.code import colored_code
from pages.ui.components.tree import Tree, element

_SCHEME = re.compile(r"(?:^|[^A-Za-z0-9])(https?)$", re.IGNORECASE)
_BARE = re.compile(r"://[^\s<\x00-\x1f]+")
_DOMAIN = re.compile(r"://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_TEXT = re.compile(
    r"(?P<web>(?<![\w./@:+-])www\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+[^\s<]*)"
    r"|(?P<mail>(?<![\w.+@/-])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z0-9_-]*[A-Za-z0-9](?![\w@-]))"
)
_SIGNS = {"<->": "↔", "->": "→", "<-": "←", "--": "—", ">=": "≥", "<=": "≤", "~=": "≈"}
"""What Streamlit writes as one sign, where it stands between spaces."""
_SIGN = re.compile(rf"(?<!\S)(?:{'|'.join(_SIGNS)})(?!\S)")
_DEEPEST = 50
_NESTING = 100
_SAME = {"strong": "strong", "em": "em", "s": "del"}


def prose(safe: str, cited: Collection[str] = ()) -> tuple[Tree, ...] | None:
    """The trees of a Markdown that `safe_markdown` made; None where it has what only Streamlit draws.

    Links lead to the web, to mail, and to the addresses in `cited`.
    """
    return _prose(safe, frozenset(cited))


@lru_cache(maxsize=2_000)
def _prose(safe: str, cited: frozenset[str]) -> tuple[Tree, ...] | None:
    tokens = _parser().parse(dedent(safe).strip())
    if any(token.level > _DEEPEST for token in tokens):
        return None
    try:
        return _Drawing(cited).blocks(tokens)
    except _LeftToStreamlit:
        return None


class _LeftToStreamlit(Exception):
    """There is something in the text that is not drawn here."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    made = markdown_parser(nesting=_NESTING, is_link=_is_link)
    made.inline.ruler.before("escape", "bare_address", _bare_address)
    made.inline.ruler.before("escape", "left", _left)
    return made


def _is_link(address: str) -> bool:
    return is_web_or_mail(address) or address.startswith(("./", "#"))


def _left(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    """The beginning of a formula or of the number of a footnote."""
    if not state.src.startswith(("$", "[^"), state.pos):
        return False
    if not silent:
        state.push("left", "", 0)
    state.pos += 1
    return True


def _bare_address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    """An address that is written as it is (GitHub's “extended autolinks”)."""
    if state.src[state.pos] != ":" or state.linkLevel:
        return False
    scheme = _SCHEME.search(state.pending)
    if scheme is None or _DOMAIN.match(state.src, state.pos) is None:
        return False
    found = _BARE.match(state.src, state.pos, state.posMax)
    rest = _trimmed(found.group()) if found is not None else ""
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


def _trimmed(address: str) -> str:
    """Without what belongs to the sentence around it."""
    while address:
        if address[-1] in "?!.,:*_~'\"" or (address[-1] == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        elif (entity := re.search(r"&[A-Za-z0-9]+;$", address)) is not None:
            address = address[: entity.start()]
        else:
            break
    return address


class _Drawing:
    """Draws the tokens of one text."""

    def __init__(self, cited: frozenset[str]) -> None:
        self.cited = cited

    def blocks(self, tokens: Sequence[Token]) -> tuple[Tree, ...]:
        open_ = [element("", None)]
        for token in tokens:
            here = open_[-1]
            match token.type:
                case "inline":
                    if "ticked" in token.meta:
                        listed, item = [one for one in open_ if one[0] in ("ul", "ol", "li")][-2:]
                        item[1] = {"class": "task-list-item"}
                        listed[1] = (listed[1] or {}) | {"class": "contains-task-list"}
                        here.append(_box(ticked=token.meta["ticked"]))
                    here += self._inline(token.children or ())
                case "fence" | "code_block":
                    here.append(_code(token))
                case "hr":
                    here.append(element("hr", None))
                case _ if token.hidden:
                    pass
                case _ if token.nesting > 0:
                    made = element(token.tag, _attributes(token))
                    here.append(made)
                    open_.append(made)
                case _ if token.nesting < 0:
                    open_.pop()
                case _:
                    here.append(token.content)
        (root,) = open_
        return tuple(root[2:])

    def _inline(self, tokens: Sequence[Token]) -> Iterator[Tree]:
        open_ = [element("", None)]
        links = 0
        for token in tokens:
            here = open_[-1]
            kind, _, end = token.type.rpartition("_")
            if end == "open":
                links += kind == "link"
                open_.append(_link(token, self.cited) if kind == "link" else element(_SAME[kind], None))
                here.append(open_[-1])
            elif end == "close":
                links -= kind == "link"
                open_.pop()
            else:
                here += _leaf(token, linked=links > 0)
        yield from _joined(open_[0][2:])


def _leaf(token: Token, *, linked: bool) -> Iterator[Tree]:
    """A piece of a line that holds no others."""
    match token.type:
        case "left":
            raise _LeftToStreamlit
        case "text" if not linked:
            yield from _text(token.content)
        case "softbreak":
            yield "\n"
        case "hardbreak":
            yield element("br", None)
            yield "\n"
        case "code_inline":
            yield element("code", None, (token.content,))
        case "image":
            yield f"🖼 {token.content or 'image'}"
        case _:
            yield token.content


def _joined(trees: Sequence[Tree]) -> Iterator[Tree]:
    """With neighbouring texts as one."""
    before = ""
    for tree in trees:
        if isinstance(tree, str):
            before += tree
            continue
        if before:
            yield before
        before = ""
        yield tree
    if before:
        yield before


def _attributes(token: Token) -> dict[str, str]:
    if token.type == "ordered_list_open" and (start := token.attrGet("start")) is not None:
        return {"start": str(start)}
    if token.type in ("th_open", "td_open") and (style := token.attrGet("style")) is not None:
        return {"style": str(style)}
    return {}


def _link(token: Token, cited: frozenset[str]) -> list[Tree]:
    address = str(token.attrGet("href") or "")
    if address.startswith("#"):
        raise _LeftToStreamlit
    if not is_web_or_mail(address) and address not in cited:
        return element("span", None)
    title = token.attrGet("title")
    given = {"href": address} | ({"title": str(title)} if title else {})
    return element("a", given | {"target": "_blank", "rel": "noopener noreferrer"})


def _text(text: str) -> Iterator[Tree]:
    text = _SIGN.sub(lambda found: _SIGNS[found.group()], text)
    at = 0
    for found in _TEXT.finditer(text):
        address = _trimmed(found["web"]) if found["web"] else found["mail"]
        yield text[at : found.start()]
        at = found.start() + len(address)
        target = f"http://{address}" if found["web"] else f"mailto:{address}"
        yield element("a", {"href": target, "target": "_blank", "rel": "noopener noreferrer"}, (address,))
    yield text[at:]


def _code(token: Token) -> Tree:
    info = token.info.split() if token.type == "fence" else []
    text = token.content.removeprefix("\n").removesuffix("\n")
    language = re.match(r"\w+", info[0]) if info else None
    pieces = colored_code(text, language.group() if language is not None else "")
    spans = [
        element("span", {"class": f"token {kind}"}, (piece,)) if kind else piece for piece, kind in pieces
    ]
    copy = element(
        "button",
        {
            "type": "button",
            "class": "fk-copy-code",
            "data-act": "copy-code",
            "aria-label": "Copy to clipboard",
        },
    )
    pre = element("pre", None, (element("code", None, spans),))
    return element("div", {"class": "fk-code"}, (pre, copy))


def _box(*, ticked: bool) -> Tree:
    return element("input", {"type": "checkbox", "disabled": ""} | ({"checked": ""} if ticked else {}))
