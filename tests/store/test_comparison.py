from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from forky_core.model import (
    Change,
    ConversationId,
    Generation,
    GenerationId,
    GenerationStatus,
    Message,
    MessageId,
    seal,
)
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart, Draft, TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.examples import examples

CONVERSATIONS = tuple(ConversationId(f"c{number}") for number in range(2))
KEYS = ("title", "trashed", "heads/main", "heads/side", "tags/v1", "rules/main")
WORDS = st.sampled_from(("cache", "Cache miss", "50% off_x", "naïve", "", "a'b\\c\n"))
conversations = st.sampled_from(CONVERSATIONS)


class AnswersAsMemoryDoes(RuleBasedStateMachine):
    """Any sequence of calls, reopening included, gives the same values and the same errors in both stores."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: Store = MemoryStore()
        self.other: Store = self.opened()
        self.clock = 0
        self.known: dict[ConversationId, list[Message]] = {id: [] for id in CONVERSATIONS}

    def opened(self) -> Store:
        """The store that is compared: a new one at first, and the same one after it was closed."""
        raise NotImplementedError

    def teardown(self) -> None:
        self.other.close()

    def both(self, call: str, *given: object, **more: object) -> object:
        outcomes: list[object] = []
        for store in (self.memory, self.other):
            try:
                outcomes.append(getattr(store, call)(*given, **more))
            except ForkyError as error:
                outcomes.append((type(error), str(error), getattr(error, "first", None)))
        assert outcomes[0] == outcomes[1]
        return outcomes[0]

    def moment(self) -> int:
        self.clock += 1
        return self.clock

    @initialize()
    def begin(self) -> None:
        for id in CONVERSATIONS:
            self.both(
                "commit", Commit(id, "create", "Created", (Change("title", None, "T"),), at=self.moment())
            )

    @rule(
        id=conversations,
        text=WORDS,
        parents=st.lists(st.integers(0, 30), max_size=3),
        key=st.sampled_from(KEYS),
        stale=st.booleans(),
        removes=st.booleans(),
        hidden=st.booleans(),
        verb=st.sampled_from(("ask", "create")),
    )
    def commit(
        self,
        id: ConversationId,
        text: str,
        parents: list[int],
        key: str,
        stale: bool,
        removes: bool,
        hidden: bool,
        verb: str,
    ) -> None:
        known = self.known[id] or [seal(Draft("user", (TextPart("stray"),)), [])]
        above = dict.fromkeys(known[number % len(known)].id for number in parents)
        parts = (
            (TextPart(text),) if "x" not in text else (TextPart(text), AttachmentPart("f" * 64, "text/plain"))
        )
        message = seal(Draft("user", parts), above, created=self.moment(), hidden=hidden)
        before = self.before(id, key)
        after = (
            None
            if removes
            else {"title": text, "trashed": True, "rules/main": {"system": text}}.get(key, {"at": message.id})
        )
        change = Change(key, "stale" if stale else before, after)
        made = self.both("commit", Commit(id, verb, f"Did {key}", (change,), (message,), at=self.moment()))
        if not isinstance(made, tuple):
            self.known[id].append(message)

    def before(self, id: ConversationId, key: str) -> object:
        try:
            return self.memory.view(id).entries.get(key)
        except ForkyError:
            return None

    def ids_down_to(self, id: ConversationId, message: Message) -> list[MessageId]:
        path = [message]
        while path[0].parent is not None:
            path.insert(0, next(one for one in self.known[id] if one.id == path[0].parent))
        return [one.id for one in path]

    @rule(
        id=conversations,
        number=st.integers(0, 3),
        status=st.sampled_from(("running", "done", "failed")),
        text=WORDS,
    )
    def record(self, id: ConversationId, number: int, status: GenerationStatus, text: str) -> None:
        generation = Generation(
            GenerationId(f"g{number}"), "main", None, "m", status, started=number, partial=(TextPart(text),)
        )
        self.both("record", id, generation)

    @rule(words=WORDS, id=st.none() | conversations, limit=st.integers(0, 3))
    def search(self, words: str, id: ConversationId | None, limit: int) -> None:
        self.both("search", words, conversation=id)
        self.both("search", words, conversation=id, limit=limit)
        self.both("search", words, among=[id] if id is not None else [], limit=limit)

    @rule(text=WORDS)
    def saying(self, text: str) -> None:
        self.both("saying", text.strip(), "user")

    @rule(id=conversations, prefix=st.sampled_from(("", "0", "b2:a", "f", "zz")))
    def match(self, id: ConversationId, prefix: str) -> None:
        self.both("match", id, prefix, limit=2)

    @rule(id=conversations, after=st.integers(-1, 5), limit=st.none() | st.integers(0, 3))
    def operations(self, id: ConversationId, after: int, limit: int | None) -> None:
        self.both("operations", id, after=after, limit=limit)

    @rule(content=st.binary(max_size=3), name=WORDS)
    def blob(self, content: bytes, name: str) -> None:
        self.both("blob", str(self.both("put_blob", content, "text/plain", name)))

    @rule(value=st.none() | WORDS)
    def setting(self, value: str | None) -> None:
        self.both("set_setting", "key", value)
        self.both("setting", "key")

    @rule(id=conversations)
    def purge(self, id: ConversationId) -> None:
        if self.both("purge", id) is None:
            self.known[id].clear()

    @rule()
    def reopen(self) -> None:
        self.other.close()
        self.other = self.opened()

    @precondition(lambda self: self.clock)
    @invariant()
    def agree(self) -> None:
        for id in CONVERSATIONS:
            self.both("view", id)
            self.both("generations", id)
            for message in self.known[id][-2:]:
                self.both("path_overlap", id, self.ids_down_to(id, message), most=3)
            self.both("messages", id)
            self.both("stems", id)
            self.both("stretch", id, after=1, most=2)
            self.both("stretch_of_log", id, after=1, most=2)
            self.both("stretch_of_calls", id, after=None, most=2)
            for message in self.known[id][-3:]:
                self.both("path", id, message.id)
                self.both("message", id, message.id)
        self.both("running")
        for trashed in (False, True):
            self.both("conversations", trashed=trashed)
        self.both("verify")


class DuckDBAnswersAsMemoryDoes(AnswersAsMemoryDoes):
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.usual = packs.WORTH, packs.LEAST
        packs.WORTH, packs.LEAST = 0, 2
        super().__init__()

    def opened(self) -> Store:
        return DuckDBStore.open(self.folder / "forky.duckdb")

    @rule()
    def rest(self) -> None:
        assert isinstance(self.other, DuckDBStore)
        assert self.other.rest()

    def teardown(self) -> None:
        packs.WORTH, packs.LEAST = self.usual
        super().teardown()
        shutil.rmtree(self.folder)


TestDuckDBAnswersAsMemoryDoes = DuckDBAnswersAsMemoryDoes.TestCase
TestDuckDBAnswersAsMemoryDoes.settings = settings(max_examples=examples(40), stateful_step_count=25)
