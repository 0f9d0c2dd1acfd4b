"""The passage behind an address: of a document that is here, or as it came along with a conversation's file.

Documents do not travel with a conversation, what its answers cite does. An imported conversation so keeps the passages
of its file beside it; where the document is in the workspace as well, the citation opens in the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.documents.searching import split_address
from forky_core.model import ConversationId
from forky_core.model.document import Chunk, Cited, Document, DocumentId
from forky_core.model.errors import Ambiguous, NotFound
from forky_core.model.parts import Json, canonical_json
from forky_core.store.contract import Store

PASSAGES = "passages"
"""Key under which a store keeps the passages that came with a conversation: JSON Lines."""


class KeptPassages:
    """Those of one conversation, each looked up when it is asked for."""

    def __init__(self, store: Store, conversation: ConversationId) -> None:
        self._store = store
        self._came = {
            one.address: one
            for one in passages_in(store.derived(conversation, (PASSAGES,)).get(PASSAGES, ""))
        }

    def __call__(self, address: str) -> Cited | None:
        """As it came, or as its document has it; None where neither is here."""
        return self._came.get(address) or self._quoted(address)

    def opened(self, address: str) -> tuple[Document, int] | Cited | None:
        """The document that is here and the number of the chunk in it, or the passage that came along."""
        found = self._standing(address)
        return (found[0], found[1].number) if found is not None else self._came.get(address)

    def _quoted(self, address: str) -> Cited | None:
        found = self._standing(address)
        if found is None:
            return None
        document, chunk = found
        return Cited(address, document.id, document.name, chunk.place, chunk.text)

    def _standing(self, address: str) -> tuple[Document, Chunk] | None:
        try:
            id, number = split_address(address)
            document = self._store.documents.document(id)
        except (ValueError, NotFound, Ambiguous):
            return None
        chunks = self._store.documents.chunks(document.id, first=number, most=1)
        return (document, chunks[0]) if chunks and chunks[0].number == number else None


def passages_in(text: str) -> tuple[Cited, ...]:
    """Of JSON Lines."""
    return tuple(passage_of(json.loads(row)) for row in text.split("\n") if row)


def with_passages(text: str, passages: Iterable[Cited]) -> str:
    """JSON Lines with these in them; what stands there of an address stays."""
    kept = {one.address: one for one in (*passages, *passages_in(text))}
    return "\n".join(canonical_json(stored(one)) for one in kept.values())


def stored(passage: Cited) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "address": passage.address,
        "document": f"sha256:{passage.document}",
        "name": passage.name,
        "text": passage.text,
    }
    if passage.place:
        entry["place"] = passage.place
    return entry


def passage_of(entry: Mapping[str, Any]) -> Cited:
    """KeyError, TypeError or ValueError for what none is stored as."""
    address, document = entry["address"], entry["document"]
    name, place, text = entry["name"], entry.get("place", ""), entry["text"]
    if not all(isinstance(value, str) for value in (address, document, name, place, text)):
        raise TypeError("a passage is texts")
    id = document.removeprefix("sha256:")
    if not id.startswith(split_address(address)[0]):
        raise ValueError("its address names another document")
    return Cited(address, DocumentId(id), name, place, text)
