"""A cache of exact token counts: counting a short message takes a vocabulary 28 µs, a lookup takes 2.

Counts are stored by the vocabulary's name and a hash of the text, so that they apply wherever the text occurs and never
go stale. They are derived data: bounded, in no operation, purged with the conversation; lost or damaged counts are
computed again. The estimate is arithmetic and needs no cache.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from hashlib import blake2b
from threading import Lock

from forky_core.llm.tokens import Vocabulary
from forky_core.model import ConversationId
from forky_core.store.contract import Store

MOST = 100_000
"""Texts that are cached for one conversation and vocabulary; any more are counted each time."""
WORTH = 256
"""New counts that are worth writing; writing takes 7 ms."""
_GROWTH = 16
"""Counts are rewritten as a whole, once the new ones are at least 1/16 of them."""


class Counts:
    """Token counts by one vocabulary for one conversation. Safe from any thread."""

    def __init__(self, store: Store, conversation: ConversationId, vocabulary: Vocabulary) -> None:
        self._store, self._conversation, self._vocabulary = store, conversation, vocabulary
        self._key = f"tokens/{vocabulary.name}"
        self._lock = Lock()
        self._known: dict[int, int] | None = None
        self._fresh = 0

    def __call__(self, text: str) -> int:
        """The number of tokens of a text."""
        mark = int.from_bytes(
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        known = self._known
        found = known.get(mark) if known is not None else None
        return self._count(mark, text) if found is None else found

    def _count(self, mark: int, text: str) -> int:
        with self._lock:
            if self._known is None:
                self._known = _read(self._store.derived(self._conversation, [self._key]).get(self._key, ""))
            found = self._known.get(mark)
            if found is None:
                found = self._vocabulary.count(text)
                if len(self._known) < MOST:
                    self._known[mark] = found
                    self._fresh += 1
            return found

    def keep(self) -> None:
        """Write new counts in the background if there are enough to be worth it."""
        with self._lock:
            if self._known is None or self._fresh < max(WORTH, len(self._known) // _GROWTH):
                return
            self._fresh = 0
            entry = {self._key: _written(self._known)}
        self._store.keep_derived(self._conversation, entry, waits=False)


def _written(known: dict[int, int]) -> str:
    """Encode counts as Base64 of all hashes, 8 bytes each, followed by all counts, 4 bytes each."""
    return b64encode(struct.pack(f"<{len(known)}Q{len(known)}I", *known, *known.values())).decode()


def _read(value: str) -> dict[int, int]:
    """Decode counts; empty if they cannot be read."""
    try:
        content = b64decode(value, validate=True)
        many = len(content) // 12
        numbers = struct.unpack(f"<{many}Q{many}I", content)
    except (ValueError, struct.error):
        return {}
    return dict(zip(numbers[:many], numbers[many:], strict=True))
