"""Every text that a store keeps, written and read again, for comparing what is in its columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from forky_core.model import Change, Message, seal
from forky_core.model.document import Chunk, Document, DocumentId, DocumentPiece
from forky_core.model.errors import StoreError
from forky_core.model.parts import Draft, ReasoningPart, TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.moving.contract import MovableStore
from tests.store.talk import HERE, begin, full_generation, now

TEXTS = {
    "U+0000, and what PostgreSQL has for it": "a\0b \uf8fe0 \uf8fe1 \uf8fe \0\0",
    "quotes and breaks": 'it\'s "so"\\ $x %s %(x)s {x} \r\n\t\x7f\u2028 \U0001f6f6',
    "empty": "",
    "a million letters": "abcdefghij \0\uf8fe" * 77_000,
}
A_SURROGATE = "half a pair: \ud83d"
"""No UTF-8 holds it. Messages are mended before a store sees them; any other text that has one is refused."""
_KEYS_UP_TO = 200
"""Letters of a text that is part of a key, since PostgreSQL's indexes hold no longer ones."""
_DOCUMENT = DocumentId("d" * 64)

NO_WORDS = frozenset(
    {
        *("conversations.id", "generations.id", "blobs.sha256", "documents.id"),
        *("messages.role", "generations.status", "documents.shelf", "operations.reverts", "migrations.name"),
        *("packs.heads", "packs.texts"),
    }
)
"""Columns of texts that nobody writes as they like: ids, words of a short list, numbers, and what is derived."""


def refuses_half_a_pair(store: MovableStore) -> None:
    """Give a store texts that no UTF-8 holds; it takes none of them."""
    begin(store)
    writes: list[Callable[[], object]] = [
        lambda: store.set_setting("theme", A_SURROGATE),
        lambda: store.keep_derived(HERE, {"key": A_SURROGATE}),
        lambda: store.put_blob(b"", A_SURROGATE, A_SURROGATE),
    ]
    for write in writes:
        with pytest.raises((UnicodeError, StoreError)):
            write()
    assert (store.settings(), store.derived_keys(HERE), store.blob_names()) == ({}, (), ())


def written(store: Store, text: str) -> dict[str, Any]:
    """Put the text wherever one can be in an empty store; what reading all of it has to give."""
    key = f"k{text[:_KEYS_UP_TO]}"
    parts = (TextPart(text), ReasoningPart(text))
    messages = (_message(text, TextPart(text)), _message(text, *parts, name=text))
    ended = full_generation(1, messages[0], text)
    running = replace(full_generation(2, messages[0], text), status="running")
    made = Commit(
        HERE,
        "create",
        text,
        (Change("title", None, text), Change(key, None, [text])),
        messages,
        generations=(ended, running),
        actor=text,
        at=now(),
    )
    later = Commit(HERE, text, text, (Change("program", None, text),), actor=text, at=now())
    operations = (store.commit(made), store.commit(later))
    store.record(HERE, running)
    store.keep_derived(HERE, {key: text})
    store.set_setting(key, text)
    sha256 = store.put_blob(text.encode(), text, text)
    document = Document(_DOCUMENT, text, text, 1, 1)
    chunk = Chunk(1, text, text, 0, {7: 1})
    store.documents.take_in([DocumentPiece(document, (chunk,))])
    model = text or "a model"  # None has the empty name.
    (at,) = store.documents.unembedded(model, 9)
    store.documents.embed(model, [at], np.ones((1, 2), np.float32))
    return {
        "messages": messages,
        "operations": operations,
        "entries": {"title": text, key: [text], "program": text},
        "generations": (ended, running),
        "derived": {key: text},
        "settings": {key: text},
        "blob": (text, text, text.encode()),
        "blob_names": (sha256,),
        "document": replace(document, whole=True, chunks=1, terms=1),
        "chunks": ((text, text, {7: 1}, model, [1.0, 1.0]),),
    }


def _message(text: str, *parts: TextPart | ReasoningPart, name: str | None = None) -> Message:
    return seal(Draft("user", parts, name), [None], created=1)


def read(store: MovableStore) -> dict[str, Any]:
    """All that `written` wrote, as a store gives it."""
    (sha256,) = store.blob_names()
    blob = store.blob(sha256)
    stored = store.documents.stored_chunks(_DOCUMENT, first=1, most=9)
    return {
        "messages": tuple(store.messages(HERE).values()),
        "operations": store.operations(HERE),
        "entries": dict(store.view(HERE).entries),
        "generations": store.generations(HERE),
        "derived": dict(store.derived(HERE, store.derived_keys(HERE))),
        "settings": dict(store.settings()),
        "blob": (blob.media_type, blob.name, blob.content),
        "blob_names": (sha256,),
        "document": store.documents.document(_DOCUMENT),
        "chunks": tuple(
            (one.chunk.place, one.chunk.text, dict(one.chunk.counts), one.model, _numbers(one.vector))
            for one in stored
        ),
    }


def _numbers(vector: Any) -> list[float] | None:
    return vector.tolist() if vector is not None else None


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """The names of what was not read as it was written; of model calls by field."""
    names = [name for name, value in expected.items() if found[name] != value]
    if "generations" in names:
        names.remove("generations")
        names += sorted(
            {
                f"generations: {one.name}"
                for meant, had in zip(expected["generations"], found["generations"], strict=True)
                for one in fields(meant)
                if getattr(meant, one.name) != getattr(had, one.name)
            }
        )
    return names


def lacking(columns: Mapping[str, Sequence[str | None]], text: str, as_stored: str) -> set[str]:
    """Those of these columns, by `table.column` with all that is in them, that have the text in no row.

    It is there as it is, as this store has such texts, or in JSON. The empty one may be NULL.
    """
    if not text:
        return set()
    key = f"k{text[:_KEYS_UP_TO]}"
    escaped = json.dumps(text, ensure_ascii=False)
    forms = [text, as_stored, escaped]
    if len(text) > _KEYS_UP_TO:
        forms += [key, as_stored[:_KEYS_UP_TO]]
    return {
        name
        for name, values in columns.items()
        if not any(form in (value or "") for form in forms for value in values)
    }
