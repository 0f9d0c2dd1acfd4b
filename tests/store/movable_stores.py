"""Every kind of store that a workspace can be moved from and to, and a workspace with something of everything.

A further kind is one more row of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import numpy as np

from forky_core.model import Change, ConversationId, Message, seal
from forky_core.model.document import Shelf
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart, Draft, Json, TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.store.moving.contract import MovableStore
from tests.store.document_laws import keep
from tests.store.talk import full_generation, generation, now

KINDS: Mapping[str, Callable[[Path], MovableStore]] = {
    "memory": lambda _: MemoryStore(),
    "duckdb": lambda folder: DuckDBStore.open(folder / "forky.duckdb"),
}
_TEXTS = (
    "The harbour master wrote down which boats had left before the storm came up.",
    "You said: The harbour master wrote down which boats had left before the storm came up. True?",
    "Nothing of the kind, as far as anybody in the harbour can remember today.",
    "naïve\u2028café",
    "",
)


def fill(store: MovableStore, random: Random, conversations: int = 4, steps: int = 14) -> None:
    """Random histories with everything that a store has: also erasures, trash, stashes, documents and settings."""
    for number in range(conversations):
        _talk(store, random, ConversationId(f"01890000-0000-7000-8000-00000000c{number:03d}"), steps)
    for number in range(random.randint(0, 2)):
        shelf: Shelf = random.choice(("workspace", "", "trash"))
        one = keep(store, f"paper {number}", "A sloop has one mast.", "A ketch has two.", shelf=shelf)
        keys = [chunk.key for chunk in store.documents.stored_chunks(one.id, first=1, most=9)]
        if random.random() < 0.7:
            store.documents.embed("a model", keys[1:], np.ones((1, 3), np.float32) * number)
    for number in range(random.randint(0, 2)):
        store.set_setting(f"choice {number}", random.choice(_TEXTS))


def _talk(store: Store, random: Random, here: ConversationId, steps: int) -> None:
    first = (Change("title", None, f"Talk {here[-1]}"), Change("heads/main", None, {"at": None}))
    store.commit(Commit(here, "create", "Created", first, actor="ada", at=now()))
    known: list[Message] = []
    for _ in range(random.randint(1, steps)):
        random.choice((_say, _say, _say, _point, _stash, _derive, _erase, _trash))(store, random, here, known)


def _say(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    parts: list[TextPart | AttachmentPart] = [TextPart(random.choice(_TEXTS))]
    if random.random() < 0.3:
        sha256 = store.put_blob(random.choice((b"a boat", b"a mast")), "text/plain", "boat.txt")
        parts.append(AttachmentPart(sha256, "text/plain", "boat.txt"))
    above = {one.id: one for one in random.choices(known, k=random.randint(0, 2))} if known else {}
    message = seal(
        Draft("user", tuple(parts), sources=tuple(above)), above, created=now(), hidden=random.random() < 0.1
    )
    call = random.randint(1, 99)
    calls = (full_generation(call, message), generation(call + 100))[: random.randint(0, 2)]
    branch = random.choice(("main", "side"))
    before = store.view(here).entries.get(f"heads/{branch}")
    change = Change(f"heads/{branch}", before, {"at": message.id})
    store.commit(
        Commit(
            here,
            "ask",
            f"Asked “{message.text[:60]}”",
            (change,),
            (message,),
            calls,
            at=now(),
            group=random.choice((None, 2)),
            reverts=random.choice(((), (1, 2))),
        )
    )
    if all(one.id != message.id for one in known):
        known.append(message)


def _point(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    key = random.choice(("tags/v1", "rules/main", "title"))
    before = store.view(here).entries.get(key)
    after: Json | None
    if key == "tags/v1":
        after = {"at": random.choice(known).id} if known and before is None else None
    else:
        after = {"system": random.choice(_TEXTS)} if key == "rules/main" else random.choice(_TEXTS)
    store.commit(Commit(here, "change", f"Changed {key}", (Change(key, before, after),), at=now()))


def _stash(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    del known
    file = store.put_blob(b"only in a stash", "text/plain", "stash.txt")
    before = store.view(here).entries.get("stash/1")
    after = {"note": random.choice(_TEXTS), "attachments": [file], "created": now()}
    change = Change("stash/1", before, None if before is not None else after)
    store.commit(Commit(here, "stash", "Stashed", (change,), at=now()))


def _derive(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    del known
    store.keep_derived(here, {f"digest {random.randint(1, 3)}": random.choice(_TEXTS)})


def _erase(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    if known and random.random() < 0.5:
        try:
            store.erase(here, random.choice(known).id, by="ada", at=now())
        except ForkyError:
            return  # It was erased before.


def _trash(store: Store, random: Random, here: ConversationId, known: list[Message]) -> None:
    del known
    if random.random() < 0.3:
        before = store.view(here).entries.get("trashed")
        change = Change("trashed", before, None if before else True)
        store.commit(Commit(here, "trash", "Trashed", (change,), at=now()))
