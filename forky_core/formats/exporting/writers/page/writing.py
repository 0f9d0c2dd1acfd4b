"""The page as a whole: the conversation, a policy that blocks all foreign scripts, and the embedded Forky file.

The policy allows the one script and the one style by their hashes and nothing else: no address is ever requested, and
if a text ever got past the escaping, a browser still would not run it. Everything can be read without scripts.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import ClassVar, get_args

from forky_core.conversation.message_origins import MessageOrigin, MessageOrigins
from forky_core.formats.exporting.flattening import origins_of
from forky_core.formats.exporting.losses import Kind, losses, many
from forky_core.formats.exporting.outline import Outline, OutlineSection, outline
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.writers.markdown import when, who
from forky_core.formats.exporting.writers.page.cells import PageLinks, part_html, text_html
from forky_core.formats.exporting.writers.page.lanes import anchor, lanes_svg, layout_of
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.page import HOLDER, MARK
from forky_core.formats.forky_file.writing import written
from forky_core.layout.inks import ink_css
from forky_core.model import Generation, Message, MessageId
from forky_core.showing.assets import source_hash
from forky_core.showing.escaping import safe
from forky_core.showing.material import somebody

_KEPT = frozenset(get_args(Kind)) - {"log", "undone", "stashes"}
"""Everything visible is kept; undone and stashed content is not exported."""
_MOST_ROWS = 5_000
"""The most rows of the graph; a browser cannot draw more at once."""


class Page:
    name: ClassVar[str] = "html"
    label: ClassVar[str] = "Web page (HTML, for anybody)"
    suffix: ClassVar[str] = ".html"
    media_type: ClassVar[str] = "text/html"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, _KEPT)

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = visible(chat)
        read = outline(plain)
        origins = origins_of(plain)
        style, script = ink_css() + _file("page.css"), _file("page.js")
        yield _head(plain, style, script).encode()
        yield _top(plain, read, tools=True).encode()
        for piece in _body(plain, read, origins):
            yield piece.encode()
        yield from _foot(plain, script)


PLACE_FOR_MORE = "<!-- more -->"
"""Stands once in a plain page, below its head: what serves the page can put something of its own there."""


def plain_page(chat: Chat) -> Iterator[bytes]:
    """The page of a conversation without a script and without the file in it, to be served to others.

    It also says what model calls cost and which rules the branches have, as far as `chat` holds that.
    """
    plain = visible(chat)
    read = outline(plain)
    yield _head(plain, ink_css() + _file("page.css"), "").encode()
    yield _top(plain, read, tools=False).encode()
    yield PLACE_FOR_MORE.encode()
    for name, branch in plain.view.branches.items():
        if branch.rules.system:
            summary = f"The system prompt of “{safe(name)}”"
            yield f"<details><summary>{summary}</summary>{text_html(branch.rules.system)}</details>".encode()
    for piece in _body(plain, read, origins_of(plain), served=True):
        yield piece.encode()
    yield b"</main><footer><p>This page loads nothing and sends nothing. Written by Forky.</p></footer></body></html>\n"


def _body(plain: Chat, read: Outline, origins: MessageOrigins, *, served: bool = False) -> Iterator[str]:
    """The graph, the messages section by section, and what they cite.

    A page that is `served` draws Markdown and says what calls cost; one in a file has each text as it was written.
    """

    def speaker(message: Message) -> str:
        return _who(message, origins.of(message.id), to_strangers=served)

    layout = layout_of(read, plain.view)
    color = {id: layout.color_of[row] for row, id in enumerate(read.shape.order)}
    if len(read.shape.order) <= _MOST_ROWS:
        graph = lanes_svg(read, plain.messages, layout, speaker)
        yield f'<details class="graph" open><summary>Graph</summary><div class="lanes">{graph}</div></details>'
    link = PageLinks(plain, anchor, frozenset(read.number))
    for at, section in enumerate(read.sections):
        yield f"<section>{_section_heading(section, read, first=at == 0)}"
        for number, id in section.messages:
            message, origin = plain.messages[id], origins.of(id)
            yield _article(read, message, number, origin, color[id], link, served=served)
        yield "</section>\n"
    if passages := list(link.passages()):
        yield f'<div class="passages"><h2>What is cited</h2>{"".join(passages)}</div>\n'


def _file(name: str) -> str:
    return files("forky_core.formats.exporting.writers.page").joinpath(name).read_text("utf-8")


def _head(chat: Chat, style: str, script: str) -> str:
    scripts = f"script-src '{source_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {scripts}style-src '{source_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    mark = f"{MARK}\n" if script else '<meta name="robots" content="noindex">\n'
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'{mark}<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(chat.title) or 'A conversation'}</title>\n<style>{style}</style></head>\n<body>\n"
    )


def _top(chat: Chat, read: Outline, *, tools: bool) -> str:
    heads = {name: one.head for name, one in chat.view.branches.items() if one.head in read.number}
    shown = f"{many(len(read.number), 'message')}, {many(max(1, len(heads)), 'branch')}"
    title = f"<header><h1>{safe(chat.title) or 'A conversation'}</h1><p>{shown}. Written by Forky.</p></header><main>"
    if not tools:
        return title
    picker = ""
    if len(heads) > 1:
        choices = "".join(
            f'<option value="{anchor(head)}">{safe(name)}</option>' for name, head in heads.items() if head
        )
        picker = (
            '<select id="branch" aria-label="Branch"><option value="">All branches</option>'
            f"{choices}</select>"
        )
    return (
        f'{title}<div class="tools needs-script"><input id="search" type="search" placeholder="Search these messages" '
        f'aria-label="Search these messages">{picker}'
        f'<button id="download" type="button" data-name="{_file_name(chat)}">Take the Forky file</button>'
        '<span id="found" role="status"></span></div>\n'
    )


def _file_name(chat: Chat) -> str:
    name = "-".join("".join(c if c.isalnum() else " " for c in chat.title).split())[:60]
    return safe(f"{name or 'conversation'}.forky.jsonl")


def _section_heading(section: OutlineSection, read: Outline, *, first: bool) -> str:
    if len(read.sections) == 1:
        return '<h2 class="unseen">Messages</h2>'
    name = f"Branch “{safe(section.name)}”" if section.name else "Beside the branches"
    leaves = "" if first or section.after is None else _leaves(section, read)
    return f"<h2>{name}{leaves}</h2>"


def _leaves(section: OutlineSection, read: Outline) -> str:
    _, first = section.messages[0]
    above = read.shape.parent[first]
    assert above is not None
    return f' <small>from <a href="#{anchor(above)}">message {section.after}</a></small>'


def _article(
    read: Outline,
    message: Message,
    number: int,
    origin: MessageOrigin,
    color: int,
    link: PageLinks,
    *,
    served: bool,
) -> str:
    shape = read.shape
    parent: MessageId | None = shape.parent[message.id]
    labels = [*shape.branches.get(message.id, ()), *shape.tags.get(message.id, ())]
    sides = [id for id in shape.side_parents.get(message.id, ()) if id in read.number]
    merged = "".join(f' <a href="#{anchor(id)}">← message {read.number[id]}</a>' for id in sides)
    tags = "".join(f'<span class="tag">{safe(name)}</span>' for name in labels)
    heading = (
        f'<h3><a href="#{anchor(message.id)}">{number}. {safe(_who(message, origin, to_strangers=served))}</a>'
        f"<span>{safe(when(message).removeprefix(' · '))}</span>{_facts(origin.call) if served else ''}{merged}{tags}</h3>"
    )
    above = f' data-parent="{anchor(parent)}"' if parent is not None else ""
    body = "".join(part_html(part, link.chat, link, drawn=served) for part in message.parts)
    return (
        f'<article id="{anchor(message.id)}" class="{message.role} c{color}"{above}>'
        f"{heading}{body}</article>\n"
    )


def _who(message: Message, origin: MessageOrigin, *, to_strangers: bool) -> str:
    """Who wrote a message; a model is named without the address of its server, which is no business of readers."""
    if to_strangers and message.role == "user" and not (message.merges or message.name):
        return somebody(message.id)
    return who(message, origin.models if message.role == "assistant" else ())


def _facts(call: Generation | None) -> str:
    """What an answer cost, as far as that is known."""
    if call is None:
        return ""
    usage = call.usage
    said = [f"{usage.completion_tokens:,} tokens"] if usage.completion_tokens is not None else []
    said += [f"${usage.cost:,.4f}"] if usage.cost else []
    said += [f"{call.seconds:,.1f} s"] if call.seconds is not None else []
    return f"<span>{' · '.join(said)}</span>" if said else ""


def _foot(chat: Chat, script: str) -> Iterator[bytes]:
    yield (
        "</main><footer><p>This page loads nothing and sends nothing. With Forky, "
        "<code>forky import</code> reads it as it is, every branch included.</p></footer>\n"
        f"{HOLDER}"
    ).encode()
    yield from _packed(written(chat))
    yield f"</script>\n<script>{script}</script></body></html>\n".encode()


def _packed(rows: Iterable[str]) -> Iterator[bytes]:
    """The rows as gzip in Base64, which encodes three bytes at a time."""
    packer = zlib.compressobj(wbits=31)
    ready = bytearray()
    for row in rows:
        ready += packer.compress(row.encode())
        whole = len(ready) - len(ready) % 3
        yield base64.b64encode(ready[:whole])
        del ready[:whole]
    yield base64.b64encode(bytes(ready) + packer.flush())
