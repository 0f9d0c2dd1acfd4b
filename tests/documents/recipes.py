"""A kind of document that nobody uses, as somebody's package would read it: a card box of recipes."""

from __future__ import annotations

from collections.abc import Iterator

from forky_core import BadContent
from forky_core.extending import DocumentKind, DocumentSection, DocumentSource

BOX = b"RECIPES\0Bread\0Flour and water.\0Soup\0Water and salt."


def read(source: DocumentSource) -> Iterator[tuple[DocumentSection, float]]:
    with source.open() as stream:
        _, *cards = stream.read().decode("utf-8", "replace").split("\0")
    if not any(map(str.strip, cards)):
        raise BadContent(f"“{source.name}” holds no recipe.")
    for at in range(0, len(cards) - 1, 2):
        yield DocumentSection(cards[at], cards[at + 1]), (at + 2) / len(cards)


RECIPES = DocumentKind(
    name="recipes",
    label="boxes of recipes",
    media_type="application/x-recipes",
    endings=frozenset((".recipes",)),
    recognises=lambda _source, start: start.startswith(b"RECIPES\0"),
    read=read,
)


def stumble(_source: DocumentSource, start: bytes) -> bool:
    return start[1_000_000] == 0


CLUMSY = DocumentKind(
    name="clumsy", label="clumsy files", media_type="x/clumsy", recognises=stumble, read=read
)
