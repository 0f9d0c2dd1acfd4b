"""A process that commits without end and says each commit once it is acknowledged; meant to be killed."""

from __future__ import annotations

import sys
import threading

from forky_core.model import Change, ConversationId, Message, seal
from forky_core.model.parts import Draft, TextPart
from forky_core.store.contract import Commit
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore


def write(store: DuckDBStore, name: str) -> None:
    here = ConversationId(name)
    before: Message | None = None
    number = 0
    while True:
        text = f"{name} {number} " + "word " * (number * 37 % 400)
        message = seal(Draft("user", (TextPart(text),)), [before.id if before else None], created=number)
        head = Change("heads/main", {"at": before.id} if before else None, {"at": message.id})
        store.commit(Commit(here, "ask" if before else "create", "Asked", (head,), (message,), at=number))
        sys.stdout.write(f"{name} {message.id}\n")
        sys.stdout.flush()
        before = message
        number += 1


def rest(store: DuckDBStore) -> None:
    while True:
        store.rest()


def main(path: str, name: str, beside: str) -> None:
    """Beside “rest” what was said is packed and folded in all the while."""
    opened = DuckDBStore.open(path)
    if beside == "rest":
        packs.WORTH, packs.LEAST = 0, 4
        threading.Thread(target=rest, args=(opened,), daemon=True).start()
    for writer in range(4):
        threading.Thread(target=write, args=(opened, f"{name}-{writer}"), daemon=True).start()
    threading.Event().wait()
