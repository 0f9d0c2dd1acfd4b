"""Looking at packs, for the tests of stores."""

from __future__ import annotations

from forky_core.model import ConversationId
from forky_core.store.duckdb.read.packs import read_packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.talk import HERE


def packed(store: DuckDBStore, here: ConversationId = HERE) -> int:
    """How many messages of a conversation are in packs; BadPack where they are no good."""
    with store._file.cursor() as cursor:
        return len(read_packs(cursor, store._numbers.of(here)))
