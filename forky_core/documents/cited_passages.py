"""Looks up the passage behind an address, in a stored document or among those that came with a conversation's file.

A conversation's file contains the passages that its answers cite, but no documents. So an imported conversation keeps
the passages of its file; if the document is in the workspace as well, the citation opens in the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.documents.searching import split_address
from forky_core.model import ConversationId
from forky_core.model.document import Chunk, CitedPassage, Document, DocumentId
from forky_core.model.errors import Ambiguous, NotFound
from forky_core.model.parts import Json, canonical_json
from forky_core.store.contract import Store

PASSAGES = "passages"
"""The derived key under which a store keeps the passages that came with a conversation: JSON Lines."""


class KeptPassages:
    """The passages of one conversation, each looked up on demand."""

    def __init__(self, store: Store, conversation: ConversationId) -> None:
        self._store = store
        self._came = {
            one.address: one
            for one in passages_in(store.derived(conversation, (PASSAGES,)).get(PASSAGES, ""))
        }

    def __call__(self, address: str) -> CitedPassage | None:
        """The passage that came with the file, or else the document's; None if there is neither."""
        return self._came.get(address) or self._quoted(address)

    def opened(self, address: str) -> tuple[Document, int] | CitedPassage | None:
        """The stored document and the chunk's number, or else the passage that came with the file; None if there is
        neither.
        """
        found = self._standing(address)
        return (found[0], found[1].number) if found is not None else self._came.get(address)

    def _quoted(self, address: str) -> CitedPassage | None:
        found = self._standing(address)
        if found is None:
            return None
        document, chunk = found
        return CitedPassage(address, document.id, document.name, chunk.place, chunk.text)

    def _standing(self, address: str) -> tuple[Document, Chunk] | None:
        try:
            id, number = split_address(address)
            document = self._store.documents.document(id)
        except (ValueError, NotFound, Ambiguous):
            return None
        chunks = self._store.documents.chunks(document.id, first=number, most=1)
        return (document, chunks[0]) if chunks and chunks[0].number == number else None


def passages_in(text: str) -> tuple[CitedPassage, ...]:
    """Parse passages from JSON Lines."""
    return tuple(passage_of(json.loads(row)) for row in text.split("\n") if row)


def with_passages(text: str, passages: Iterable[CitedPassage]) -> str:
    """Add passages to JSON Lines; entries that exist already are unchanged."""
    kept = {one.address: one for one in (*passages, *passages_in(text))}
    return "\n".join(canonical_json(stored(one)) for one in kept.values())


def stored(passage: CitedPassage) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "address": passage.address,
        "document": f"sha256:{passage.document}",
        "name": passage.name,
        "text": passage.text,
    }
    if passage.place:
        entry["place"] = passage.place
    return entry


def passage_of(entry: Mapping[str, Any]) -> CitedPassage:
    """Parse one stored passage. Raises KeyError, TypeError or ValueError if it is malformed."""
    address, document = entry["address"], entry["document"]
    name, place, text = entry["name"], entry.get("place", ""), entry["text"]
    if not all(isinstance(value, str) for value in (address, document, name, place, text)):
        raise TypeError("a passage is texts")
    id = document.removeprefix("sha256:")
    if not id.startswith(split_address(address)[0]):
        raise ValueError("its address names another document")
    return CitedPassage(address, DocumentId(id), name, place, text)
