"""A conversation as one web page that anybody can read: templates/conversation.html of forky_core/render/.

The page in a file also has the Forky file in it, so that `forky import` reads it back.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from forky_core.formats.exporting.flattening import origins_of
from forky_core.formats.exporting.losses import Kind, losses, many
from forky_core.formats.exporting.outline import Outline, outline
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.writers.markdown import when, who
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import written
from forky_core.model import Generation, Message, MessageId
from forky_core.model.document import ADDRESS, CitedPassage
from forky_core.model.parts import Json, ToolCallPart
from forky_core.render.drawings import PAGE, DrawnEdge, PageGraph, PageGraphRow
from forky_core.render.material import somebody
from forky_core.render.page import page
from forky_core.text.plain_words import plain_words
from forky_core.views.layout.colors import line_colors
from forky_core.views.layout.lanes import Layout, lay_out

_KEPT = frozenset(get_args(Kind)) - {"log", "undone", "stashes"}
"""Everything visible is kept; undone and stashed content is not exported."""
_MOST_ROWS = 5_000
"""The most rows of the graph; a browser cannot draw more at once."""
_WORDS = 60


class WebPageExporter:
    name: ClassVar[str] = "html"
    label: ClassVar[str] = "Web page (HTML, for anybody)"
    suffix: ClassVar[str] = ".html"
    media_type: ClassVar[str] = "text/html"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, _KEPT)

    def write(self, chat: Chat) -> Iterator[bytes]:
        return _page(visible(chat), for_visitors=False)


def plain_page(chat: Chat) -> Iterator[bytes]:
    """The page of a conversation without a script and without the file in it, to be served to others.

    It also says what model calls cost and which rules the branches have, as far as `chat` holds that.
    """
    return _page(visible(chat), for_visitors=True)


def _page(chat: Chat, *, for_visitors: bool) -> Iterator[bytes]:
    read, origins = outline(chat), origins_of(chat)
    layout = _layout_of(read, chat)

    def speaker(message: Message) -> str:
        """Who wrote a message; a model is named without the address of its server, which is no business of readers."""
        if for_visitors and message.role == "user" and not (message.merges or message.name):
            return somebody(message.id)
        return who(message, origins.of(message.id).models if message.role == "assistant" else ())

    def row(at: int, id: MessageId) -> PageGraphRow:
        said = _first_words(chat.messages[id])
        words = f"{read.number[id]}. {speaker(chat.messages[id])}{f': {said}' if said else ''}"
        names = " ".join(f"({name})" for name in read.shape.branches.get(id, ()))
        return PageGraphRow(_anchor(id), layout.lane_of[at], layout.color_of[at], names, words)

    graph = None
    if len(read.shape.order) <= _MOST_ROWS:
        edges = (
            DrawnEdge(
                f"c{one.color}{' merge' if one.kind == 'merge' else ''}", PAGE.path(one, layout.lane_of)
            )
            for one in layout.edges
        )
        rows = (row(at, id) for at, id in enumerate(read.shape.order))
        graph = PageGraph(layout.lanes, tuple(edges), tuple(rows))
    pieces = page(
        "conversation",
        scripts=not for_visitors,
        title=chat.title or "A conversation",
        chat=chat,
        for_visitors=for_visitors,
        read=read,
        heads={name: one.head for name, one in chat.view.branches.items() if one.head in read.number},
        graph=graph,
        color=dict(zip(read.shape.order, layout.color_of, strict=True)),
        links=_Links(chat, frozenset(read.number)),
        file_name=_file_name(chat),
        packed=() if for_visitors else _packed(written(chat)),
        anchor=_anchor,
        arguments=_arguments,
        call_facts=lambda message: _call_facts(origins.of(message.id).call),
        indented=_indented,
        speaker=speaker,
        when=lambda message: when(message).removeprefix(" · "),
    )
    return map(str.encode, pieces)


def _layout_of(read: Outline, chat: Chat) -> Layout:
    """The rows of the outline with their lanes and the colours of their branches."""
    shape = read.shape
    row = {id: at for at, id in enumerate(shape.order)}
    line_of = {id: number for number, line in enumerate(shape.lines) for id in line}
    parents = []
    for id in shape.order:
        above = shape.parent[id]
        sides = (row[side] for side in shape.side_parents.get(id, ()))
        parents.append((row[above] if above is not None else -1, *sides))
    return lay_out(parents, [line_of[id] for id in shape.order], line_colors(shape, chat.view))


def _anchor(id: MessageId) -> str:
    return f"m-{id.removeprefix('b2:')}"


@dataclass(frozen=True, slots=True)
class _Links:
    """Where numbers of passages lead: to the passage at the end of the page, or to the cited message."""

    chat: Chat
    shown: frozenset[MessageId]
    """The messages on the page."""
    _passages: dict[str, CitedPassage | None] = field(default_factory=dict)

    def place(self, address: str) -> str:
        """The id on the page of what an address opens; "" if it is not there."""
        if not address.startswith(ADDRESS):
            return _anchor(MessageId(address)) if address in self.shown else ""
        if address not in self._passages:
            self._passages[address] = self.chat.passage_of(address)
        return _passage_anchor(address) if self._passages[address] is not None else ""

    def passages(self) -> list[tuple[str, CitedPassage]]:
        """All passages that were looked up, with their ids on the page."""
        return [(_passage_anchor(address), one) for address, one in self._passages.items() if one is not None]


def _passage_anchor(address: str) -> str:
    return "p-" + "".join(c if c.isalnum() else "-" for c in address.removeprefix(ADDRESS))


def _file_name(chat: Chat) -> str:
    name = "-".join("".join(c if c.isalnum() else " " for c in chat.title).split())[:60]
    return f"{name or 'conversation'}.forky.jsonl"


def _arguments(part: ToolCallPart) -> str:
    """The arguments of a call; as they are if they were no JSON object."""
    arguments = json.loads(part.arguments)
    return arguments if isinstance(arguments, str) else _indented(arguments)


def _indented(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _call_facts(call: Generation | None) -> list[str]:
    """What an answer cost, as far as that is known."""
    if call is None:
        return []
    usage = call.usage
    said = [f"{usage.completion_tokens:,} tokens"] if usage.completion_tokens is not None else []
    said += [f"${usage.cost:,.4f}"] if usage.cost else []
    return said + ([f"{call.seconds:,.1f} s"] if call.seconds is not None else [])


def _first_words(message: Message) -> str:
    """The beginning of a message; "" for a merge, whose text is for models and whose speaker names its sources."""
    if message.merges:
        return ""
    if message.reverts:
        return f"Takes back {many(len(message.reverts), 'message')}"
    words = " ".join(plain_words(message.text[:400]).split())
    return words if len(words) <= _WORDS else words[: _WORDS - 1].rstrip() + "…"


def _packed(rows: Iterable[str]) -> Iterator[str]:
    """The rows as gzip in Base64, which encodes three bytes at a time."""
    packer = zlib.compressobj(wbits=31)
    ready = bytearray()
    for row in rows:
        ready += packer.compress(row.encode())
        whole = len(ready) - len(ready) % 3
        yield base64.b64encode(ready[:whole]).decode()
        del ready[:whole]
    yield base64.b64encode(bytes(ready) + packer.flush()).decode()
