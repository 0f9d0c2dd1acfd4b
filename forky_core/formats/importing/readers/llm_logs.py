"""simonw/llm's logs.db, both generations; a migrated database has both.

Up to 0.31 a conversation is a list of responses. From 0.32 on messages are content-addressed, by the same contract as
Forky's, so a message has the same id here as there; threads point at them, and one that was forked from another is a
branch of the same conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, usage_of
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, ref, word
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.tables import Row, Tables, opened_tables
from forky_core.formats.openai_messages import text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import Usage
from forky_core.model.parts import (
    Draft,
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolResultPart,
    part_from_stored,
)

_NEW = frozenset(("messages", "parts", "threads"))
_OLD = frozenset(("conversations", "responses"))


class LlmLogs:
    name: ClassVar[str] = "llm"
    label: ClassVar[str] = "llm logs"

    def fits(self, sample: Sample) -> bool:
        return sample.tables >= _NEW or sample.tables >= _OLD

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        with opened_tables(document) as tables:
            threads: set[str] = set()
            if tables.names >= _NEW:
                threads |= {word(row.get("id")) for row in tables.rows("threads")}
                yield from _Threads(tables, files).found()
            if tables.names >= _OLD:
                yield from _Responses(tables, files).found(but=threads)


@dataclass(slots=True)
class _Threads:
    """The content-addressed generation."""

    tables: Tables
    files: SourceFiles
    messages: dict[str, Row] = field(default_factory=dict)
    turns: dict[str, Row] = field(default_factory=dict)
    """Turns, by each message that a turn added."""
    asked: dict[str, Row] = field(default_factory=dict)
    """Turns, by the last message that was sent."""

    def found(self) -> Iterator[ParsedConversation]:
        self.messages = {word(row.get("hash")): row for row in self.tables.rows("messages")}
        tips: dict[str, list[str]] = {}
        for turn in self.tables.rows("turns", order="id"):
            tip = word(turn.get("tip_message_hash"))
            tips.setdefault(word(turn.get("thread_id")), []).append(tip)
            asked = word(turn.get("parent_message_hash"))
            self.asked.setdefault(asked, turn)
            for hash in self._path(tip, asked):
                self.turns.setdefault(hash, turn)
        threads = {word(row.get("id")): row for row in self.tables.rows("threads", order="id")}
        for members in _families(threads):
            yield self._family(
                [threads[id] for id in members], [tip for id in members for tip in tips.get(id, ())]
            )

    def _path(self, tip: str, until: str) -> Iterator[str]:
        """A message and its ancestors, up to `until`."""
        seen: set[str] = set()
        while tip in self.messages and tip != until and tip not in seen:
            seen.add(tip)
            yield tip
            tip = word(self.messages[tip].get("parent_hash"))

    def _family(self, threads: list[Row], tips: Iterable[str]) -> ParsedConversation:
        ends = [*(word(one.get("tip_message_hash")) for one in threads), *tips]
        hashes = dict.fromkeys(hash for tip in ends for hash in reversed(list(self._path(tip, ""))))
        parts = self.tables.of("parts", "message_hash", list(hashes), order="position")
        reading = _Parts(self.tables, self.files, parts)
        first = threads[0]
        return ParsedConversation(
            source_id=word(first.get("id")),
            title=word(first.get("name")),
            nodes=tuple(self._node(hash, reading.of(hash)) for hash in hashes),
            current=ref(first.get("tip_message_hash")),
            created=micros(first.get("datetime_utc")),
            names={
                word(one.get("name")) or word(one.get("id")): word(one.get("tip_message_hash"))
                for one in threads[1:]
            },
        )

    def _node(self, hash: str, parts: tuple[Part, ...]) -> Node:
        row, turn = self.messages[hash], self.turns.get(hash, {})
        role = role_of(row.get("role"))
        return Node(
            hash,
            ref(row.get("parent_hash")),
            Draft(role, parts),
            created=micros((turn or self.asked.get(hash, {})).get("datetime_utc")),
            model=word(turn.get("model")) if role == "assistant" else "",
            usage=usage_of(turn) if role == "assistant" and turn.get("tip_message_hash") == hash else Usage(),
            extra=picked(row, "provider_metadata"),
        )


def _families(threads: Mapping[str, Row]) -> list[list[str]]:
    """Groups of threads that were forked from one another, in any number of steps; the original one comes first."""
    families: dict[str, list[str]] = {}
    for id in threads:
        first, seen = id, {id}
        while (above := word(threads[first].get("forked_from"))) in threads and above not in seen:
            seen.add(above)
            first = above
        families.setdefault(first, []).append(id)
    return [[first, *(id for id in members if id != first)] for first, members in families.items()]


class _Parts:
    """Parts with references replaced by their targets: texts of fragments, ids of attachments."""

    def __init__(self, tables: Tables, files: SourceFiles, rows: Mapping[Json, Sequence[Row]]) -> None:
        self._files = files
        self._rows = {
            hash: [(row, _object(row.get("payload"))) for row in found] for hash, found in rows.items()
        }
        payloads = [payload for found in self._rows.values() for _, payload in found]
        pieces = [piece for payload in payloads for piece in objs(payload.get("text_ref"))]
        self._fragments = _texts(tables, [piece["fragment"] for piece in pieces if "fragment" in piece])
        holders = [
            holder
            for payload in payloads
            for holder in (obj(payload.get("attachment")), *objs(payload.get("attachments")))
        ]
        ids = [word(holder.get("id")) for holder in holders if word(holder.get("id"))]
        self._attachments = {word(id): found[0] for id, found in tables.of("attachments", "id", ids).items()}

    def of(self, hash: str) -> tuple[Part, ...]:
        return tuple(self._part(row, dict(payload)) for row, payload in self._rows.get(hash, ()))

    def _part(self, row: Row, payload: dict[str, Json]) -> Part:
        payload["type"] = word(row.get("type")) or "unknown"
        if isinstance(row.get("text"), str):
            payload["text"] = row["text"]
        pieces = payload.pop("text_ref", None)
        if pieces is not None:
            payload["text"] = "".join(
                word(piece.get("literal")) or self._fragments.get(count(piece.get("fragment")), "")
                for piece in objs(pieces)
            )
        if isinstance(payload.get("attachments"), list):
            payload["attachments"] = [self._attachment(one)[0] for one in objs(payload["attachments"])]
        if payload["type"] == "attachment" and isinstance(payload.get("attachment"), dict):
            payload["attachment"], part = self._attachment(payload["attachment"])
            return part if part is not None and len(payload) == 2 else OpaquePart(kept_json(payload))
        return part_from_stored(payload)

    def _attachment(self, holder: Mapping[str, Json]) -> tuple[dict[str, Json], Part | None]:
        """The hashed fields of an attachment, and its part if the database has the bytes."""
        id = word(holder.get("id"))
        row = self._attachments.get(id, {})
        media = ref(row.get("type"))
        content = row.get("content")
        part = self._files.attach_bytes(content, media or "") if isinstance(content, bytes) else None
        hashed: dict[str, Json] = {"id": id, "type": media}
        return hashed, part if part is not None and part.hashed()["attachment"] == hashed else None


def _object(text: Json) -> dict[str, Any]:
    try:
        return dict(obj(parse(text))) if isinstance(text, str) else {}
    except ValueError:
        return {}


def _texts(tables: Tables, ids: Iterable[Json]) -> dict[Json, str]:
    wanted = list(dict.fromkeys(id for id in ids if count(id) is not None))
    return {id: word(found[0].get("content")) for id, found in tables.of("fragments", "id", wanted).items()}


@dataclass(slots=True)
class _Responses:
    """The older generation: a row for each question and its answer."""

    tables: Tables
    files: SourceFiles

    def found(self, *, but: set[str]) -> Iterator[ParsedConversation]:
        names = {word(row.get("id")): word(row.get("name")) for row in self.tables.rows("conversations")}
        rows: dict[str, list[str]] = {}
        for row in self.tables.rows("responses", order="id"):
            id = word(row.get("id"))
            rows.setdefault(word(row.get("conversation_id")) or f"response {id}", []).append(id)
        for conversation, ids in rows.items():
            if conversation not in but:
                yield self._conversation(conversation, names.get(conversation, ""), ids)

    def _conversation(self, id: str, name: str, ids: list[str]) -> ParsedConversation:
        responses = [
            row for found in self.tables.of("responses", "id", ids, order="id").values() for row in found
        ]
        calls = self.tables.of("tool_calls", "response_id", ids, order="id")
        results = self.tables.of("tool_results", "response_id", ids, order="id")
        chain = Chain()
        system = next((word(row.get("system")) for row in responses), "")
        said = system
        for row in responses:
            key = word(row.get("id"))
            at = micros(row.get("datetime_utc"))
            now = word(row.get("system"))
            if now and now != said:
                chain.add(text_parts(now), "system", id=f"{key}/system", created=at)
                said = now
            brought: list[Part] = [_result(one) for one in results.get(key, ())]
            chain.add([*brought, *self._asked(row)], "user", id=f"{key}/prompt", created=at)
            answer = _answer(row) + [_call(one) for one in calls.get(key, ())]
            model = word(row.get("model"))
            chain.add(answer, "assistant", id=key, created=at, model=model, usage=usage_of(row))
        return chain.conversation(
            id,
            name,
            created=chain.nodes[0].created if chain.nodes else 0,
            system=system or None,
        )

    def _asked(self, row: Row) -> list[Part]:
        id = row.get("id")
        used = [one.get("fragment_id") for one in self._of("prompt_fragments", id)]
        texts = _texts(self.tables, used)
        parts: list[Part] = []
        for held in self._of("prompt_attachments", id):
            for found in self.tables.rows("attachments", where="id", values=[held.get("attachment_id")]):
                content = found.get("content")
                part = self.files.attach_bytes(
                    content if isinstance(content, bytes) else b"", word(found.get("type"))
                )
                named = {"type": "attachment", **picked(found, "url")}
                parts.append(part if part is not None else OpaquePart(kept_json(named)))
        text = "\n".join(filter(None, (*(texts.get(one, "") for one in used), word(row.get("prompt")))))
        return [*parts, *text_parts(text)]

    def _of(self, table: str, id: Json) -> list[Row]:
        return list(self.tables.rows(table, where="response_id", values=[id], order="order"))


def _answer(row: Row) -> list[Part]:
    thought = word(row.get("reasoning"))
    return [*([ReasoningPart(thought)] if thought.strip() else []), *text_parts(word(row.get("response")))]


def _call(row: Row) -> Part:
    return tool_call(
        {"name": row.get("name"), "arguments": word(row.get("arguments"))}, word(row.get("tool_call_id"))
    )


def _result(row: Row) -> Part:
    failed = ref(row.get("exception"))
    return ToolResultPart(
        word(row.get("name")), word(row.get("output")), ref(row.get("tool_call_id")), failed
    )
