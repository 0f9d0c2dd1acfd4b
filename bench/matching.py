"""Finding a program's array among all that is stored, hashing it, and what a stateless client costs in bytes.

A million messages are filed as programs file them: a thousand conversations of a thousand messages, in one scope.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from bench.measure import Line, compare, in_turns, started
from bench.merge_cases import LOG, sessions
from bench.talks import RANDOM, text
from forky_core.conversation.recording.recording import Reply
from forky_core.conversation.workspace import Workspace
from forky_core.llm.catalogue import Catalogue
from forky_core.matching.keys import digest, path_keys
from forky_core.model import ConversationId, seal
from forky_core.model.hashing import message_id
from forky_core.model.parts import Draft, Json, TextPart
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.store.rows import id_key
from forky_core.wire.call import Call
from forky_core.wire.chat import chat_call

_SCOPE = "bench"


def array(length: int, say: Callable[[], str]) -> list[Json]:
    """Messages of the user and the assistant in turn."""
    return [{"role": "assistant" if at % 2 else "user", "content": say()} for at in range(length)]


class Filed:
    """A store of conversations that programs began, and ways to look an array up in it."""

    def __init__(self, path: Path, conversations: int, length: int) -> None:
        self.store = DuckDBStore.open(path)
        self.forky = Workspace(self.store, Catalogue())
        self._said = count()
        self._arrays: list[tuple[ConversationId, list[Json]]] = []
        kept = set(RANDOM.sample(range(conversations), min(conversations, 40)))
        for number in range(conversations):
            messages = array(length, self._say)
            begun = self.forky.record(chat_call(messages[:1]), Reply(()), scope=_SCOPE)
            reply = Reply((TextPart(messages[-1]["content"]),))
            filed = self.forky.record(
                chat_call(messages[:-1]), reply, scope=_SCOPE, conversation=begun.conversation
            )
            if number in kept:
                self._arrays.append((filed.conversation, messages))
        self.store.rest()
        self._next = count()

    def _say(self) -> str:
        return f"{next(self._said)} {text()}"

    def _pick(self, length: int) -> tuple[ConversationId, Call]:
        conversation, messages = self._arrays[next(self._next) % len(self._arrays)]
        return conversation, chat_call([*messages[: length - 1], {"role": "user", "content": "new"}])

    def matching(self, length: int, *, cold: bool, packed: bool = True) -> Callable[[], None]:
        """Find where an array of so many messages belongs, all of them known but the last.

        `cold`: from the file; there by its ids where the conversation is not taken for packed.
        """
        prepared = [self._pick(length) for _ in self._arrays]
        turn = count()

        def run() -> None:
            conversation, call = prepared[next(turn) % len(prepared)]
            if cold:
                self.store._cache.drop(conversation)
                self.forky.indexes.drop(conversation)
            if not packed:
                self.store._writer.whole.discard(self.store._numbers.of(conversation))
            recorder = self.forky._recorder
            opening = recorder._scopes.opening(_SCOPE, call.turns)
            found = recorder._find(call, _SCOPE, opening, None)
            assert (found.session.id, found.match.known) == (conversation, length - 1)

        return run

    def look(self, matching: Callable[[], None]) -> None:
        """Once for each array: what that reads of the file is in DuckDB's memory then, as it is for the other side,
        which asks a thousand times.
        """
        for _ in self._arrays:
            matching()

    def strange(self) -> None:
        """Look for an array with a history that nobody has filed: it might be one whose head was trimmed."""
        call = chat_call(array(11, self._say))
        recorder = self.forky._recorder
        found = recorder._find(call, _SCOPE, recorder._scopes.opening(_SCOPE, call.turns), None)
        assert found.version == 0

    def trimmed(self) -> None:
        """Look for an array whose head was trimmed: it is found by its answers, and by what nobody else says."""
        conversation, messages = self._arrays[next(self._next) % len(self._arrays)]
        call = chat_call([*messages[-6:], {"role": "user", "content": "new"}])
        recorder = self.forky._recorder
        found = recorder._find(call, _SCOPE, recorder._scopes.opening(_SCOPE, call.turns), None)
        assert (found.session.id, found.match.known) == (conversation, 6)

    def warm(self) -> None:
        for conversation, _ in self._arrays:
            self.forky._session(conversation).match(())

    def step_by_step(self, length: int) -> Callable[[], None]:
        """Ask the store for each message in turn, as one would at first."""

        def run() -> None:
            conversation, call = self._pick(length)
            number = self.store._numbers.of(conversation)
            parent = None
            for known, turn in enumerate(call.turns):
                message = seal(turn, (parent,))
                if not self.store._file.rows(sql.PLACE, conversation=number, id=id_key(message.id)):
                    assert known == length - 1
                    return
                parent = message.id

        return run


def hashing(rounds: int) -> list[Line]:
    turns = [Draft("assistant" if at % 2 else "user", (TextPart(text()),)) for at in range(1_000)]

    def ids() -> None:
        parent: tuple[str, ...] = ()
        for turn in turns:
            parent = (message_id(parent, turn.role, turn.parts),)

    texts = [turn.parts[0].text.encode() for turn in turns if isinstance(turn.parts[0], TextPart)]
    mine, theirs, bare = _least(
        [lambda: path_keys(turns), ids, lambda: [digest(content) for content in texts]], rounds
    )
    return [
        Line("keys of 1,000 messages, processor / bound", mine, 2.0, 1.0),
        Line("ids of 1,000 messages, processor / bound", theirs, 2.0, 1.0),
        Line("  the keys / BLAKE2b of the bare texts", mine, bare, None),
    ]


def _least(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least milliseconds of the processor that each call took, the calls taking turns."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            start = time.process_time()
            call()
            least[at] = min(least[at], (time.process_time() - start) * 1000)
    return least


def finding(folder: Path, rounds: int, *, conversations: int, length: int) -> list[Line]:
    filed = Filed(folder / "million.duckdb", conversations, length)
    stored, slowly = f"{conversations * length:,}", filed.step_by_step(length)
    (cold, ten), (by_ids, ten_by_ids), (warm, ten_warm) = (
        (filed.matching(length, **how), filed.matching(10, **how))
        for how in ({"cold": True}, {"cold": True, "packed": False}, {"cold": False})
    )
    with started():
        unread = compare(
            "  the same, a part of the file read for the first time", cold, slowly, None, rounds=rounds
        )
        filed.look(cold)
        found = [
            compare(
                f"match {length:,} of {stored}, from the file / step by step",
                cold,
                slowly,
                1 / 100,
                rounds=rounds,
            ),
            unread,
            compare("  from the file / match 10", cold, ten, 3, rounds=rounds),
        ]
        filed.look(by_ids)
        found += [
            compare("  where it is not packed / step by step", by_ids, slowly, 1 / 100, rounds=rounds),
            compare("  the same / match 10", by_ids, ten_by_ids, 3, rounds=rounds),
        ]
        filed.warm()
        found += [
            compare(f"match {length:,}, lately used / step by step", warm, slowly, 1 / 100, rounds=rounds),
            # Half a microsecond a message, and next to nothing beside: that is far more than three times what ten take.
            compare("  the same / match 10", warm, ten_warm, None, rounds=rounds * 4),
        ]
    unknown, trimmed = in_turns([filed.strange, filed.trimmed], rounds)
    found += [
        Line("an unknown array with a history / bound", unknown, 500, 1),
        Line("an array without its head / bound", trimmed, 500, 1),
    ]
    filed.forky.close()
    return found


def growing(folder: Path, turns: int) -> list[Line]:
    """A client that sends all it has said at each turn; megabytes half-way and at the end."""
    store = DuckDBStore.open(folder / "growing.duckdb")
    forky = Workspace(store, Catalogue())
    said: list[Json] = []

    def turn() -> None:
        said.append({"role": "user", "content": text()})
        answer = text()
        forky.record(chat_call(said), Reply((TextPart(answer),)), scope=_SCOPE)
        said.append({"role": "assistant", "content": answer})

    def rest() -> None:
        store.rest()

    ours = _grown([folder / "growing.duckdb"], turn, rest, turns)
    forky.close()
    found = [Line(f"file at {turns:,} turns / at half of them (linear: 2)", ours[1], ours[0], 2.5, "MB")]
    try:
        from bench.langgraph_peer import LangGraphTalk  # noqa: PLC0415 - it need not be installed
    except ImportError:
        print("LangGraph is not installed (bench/requirements-bench.txt has it): its lines are left out.")
        return found
    path = folder / "langgraph.sqlite"
    peer = LangGraphTalk(path, 2, text)
    theirs = _grown([path, path.with_name(f"{path.name}-wal")], peer.turn, lambda: None, turns)
    return [
        *found,
        Line("  the same of LangGraph's saver (quadratic: 4)", theirs[1], theirs[0], None, "MB"),
        Line(f"file at {turns:,} turns / LangGraph's", ours[1], theirs[1], 1 / 20, "MB"),
    ]


def _grown(
    files: Sequence[Path], turn: Callable[[], None], rest: Callable[[], None], turns: int
) -> tuple[float, float]:
    sizes = []
    for _ in range(2):
        for _ in range(turns // 2):
            turn()
        rest()
        sizes.append(sum(file.stat().st_size for file in files if file.exists()) / 1e6)
    return sizes[0], sizes[1]


def strangers() -> list[Line]:
    """Windows of a real log's sessions, as a program without the head of its history would send them.

    Each is looked for twice: before its session is filed, when all that is there is strangers', and afterwards.
    """
    if not LOG.exists():
        print("The log is not beside the checkout: lines about strangers are left out.")
        return []
    forky = Workspace(MemoryStore(), Catalogue())
    found = []
    talks = [talk for one in sessions(LOG.read_text("utf-8")) if len(talk := _spoken(one)) >= 4]
    for length in (1, 2, 4, 6):
        strange, own = [], []
        scope = f"{_SCOPE}/{length}"
        for talk in talks:
            windows = [
                talk[end - length : end]
                for end in range(length + 1, len(talk) + 1)
                if talk[end - 1]["role"] == "assistant"
            ]
            strange += [_found_in(forky, scope, window) is not None for window in windows]
            call = chat_call(talk[:-1])
            begun = forky.record(chat_call(talk[:1]), Reply(()), scope=scope)
            forky.record(
                call, Reply((TextPart(talk[-1]["content"]),)), scope=scope, conversation=begun.conversation
            )
            own += [_found_in(forky, scope, window) == begun.conversation for window in windows]
        found += [
            Line(f"turns without their head: {length}, in a stranger's / bound", _share(strange), 2, 1, "%"),
            Line("  in their own / bound", _share(own), 100, None, "%"),
        ]
    return found


def _spoken(session: Sequence[tuple[str, str]]) -> list[Json]:
    """What the person and the model say, each side's neighbouring lines as one message."""
    said: list[Json] = []
    for role, words in session:
        if role == "tool" or not words.strip():
            continue
        if said and said[-1]["role"] == role:
            said[-1]["content"] += f"\n{words}"
        else:
            said.append({"role": role, "content": words})
    return said if not said or said[-1]["role"] == "assistant" else said[:-1]


def _found_in(forky: Workspace, scope: str, window: Sequence[Json]) -> ConversationId | None:
    call = chat_call([*window, {"role": "user", "content": "new"}])
    found = forky._recorder._find_trimmed(call, scope)
    return found[0].session.id if found else None


def _share(hits: Sequence[bool]) -> float:
    """Of a hundred."""
    return 100 * sum(hits) / max(1, len(hits))


def lines(*, quick: bool) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *hashing(20 if quick else 60),
            *strangers(),
            *finding(folder, 3 if quick else 7, conversations=20 if quick else 1_000, length=1_000),
            *growing(folder, 100 if quick else 1_000),
        ]
