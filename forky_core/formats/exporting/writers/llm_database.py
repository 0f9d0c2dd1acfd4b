"""simonw/llm's `logs.db`, the content-addressed generation (0.32 and later): `llm logs`, `llm chat --continue` read it.

For a message with one parent and no author, llm's hash is our id (law 1); merges are flattened first, so that all
messages have one parent. A branch becomes a thread, an answer a turn; the turn of an answer whose model is unknown has
no model.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, NamedTuple

from forky_core.formats.exporting.flattening import flattened
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.rewriting import RewriteRules, rewritten
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Generation, Message, MessageId
from forky_core.model.opaque import is_left_unsaid
from forky_core.model.parts import AttachmentPart, OpaquePart, Part, TextPart

_PIECE = 1 << 20


class LlmDatabase:
    name: ClassVar[str] = "llm"
    label: ClassVar[str] = "llm's database (SQLite)"
    suffix: ClassVar[str] = ".llm.db"
    media_type: ClassVar[str] = "application/vnd.sqlite3"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "branch names", "tools", "reasoning", "files", "models", "calls"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = _without_strangers(flattened(chat, names=False))
        with TemporaryDirectory(prefix="forky-") as folder:
            path = Path(folder) / "logs.db"
            database = sqlite3.connect(path)
            try:
                database.executescript(_schema())
                _fill(database, plain)
                database.commit()
            finally:
                database.close()
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece


def _schema() -> str:
    return files("forky_core.formats.exporting.writers").joinpath("llm_schema.sql").read_text("utf-8")


def _without_strangers(chat: Chat) -> Chat:
    """Replace parts that llm has no type for, or whose bytes are missing, by text: llm could not read them."""

    def parts(message: Message) -> tuple[Part, ...]:
        kept = tuple(said(part) for part in message.parts if not is_left_unsaid(part))
        return kept or (TextPart(""),)

    def said(part: Part) -> Part:
        if isinstance(part, AttachmentPart) and part.sha256 not in chat.blobs:
            return TextPart(f"[{part.name or part.media_type}]")
        if isinstance(part, OpaquePart):
            return TextPart(f"[{json.loads(part.json).get('type')}]")
        return part

    if all(parts(message) == message.parts for message in chat.messages.values()):
        return chat
    return rewritten(chat, RewriteRules("llm", parts=parts))


def _fill(database: sqlite3.Connection, chat: Chat) -> None:
    for blob in chat.blobs.values():
        database.execute(
            "INSERT OR IGNORE INTO attachments (id, type, content) VALUES (?, ?, ?)",
            (blob.sha256, blob.media_type, blob.content),
        )
    for message in chat.messages.values():
        database.execute(
            "INSERT INTO messages (hash, parent_hash, role) VALUES (?, ?, ?)",
            (message.id, message.parent, message.role),
        )
        for position, part in enumerate(message.parts):
            _add_part(database, message.id, position, part)
    threads = _add_threads(database, chat)
    known = {one.message for one in chat.generations}
    calls = [(chat.messages[one.message], _known(one)) for one in chat.generations if one.message is not None]
    calls += [
        (message, _CallRecord(message.id.removeprefix("b2:")))
        for message in chat.messages.values()
        if message.role == "assistant" and message.id not in known
    ]
    for answer, call in calls if threads else ():
        _add_turn(database, chat, answer, call, threads.get(call.branch) or next(iter(threads.values())))


class _CallRecord(NamedTuple):
    """The known facts about the call behind an answer."""

    id: str
    branch: str = ""
    at: int = 0
    told: tuple[str | int | None, ...] = (None,) * 5
    """Model, options, tokens in, tokens out, milliseconds."""


def _known(call: Generation) -> _CallRecord:
    return _CallRecord(
        call.id,
        call.branch,
        call.started,
        (
            call.model,
            json.dumps(dict(call.parameters)) if call.parameters else None,
            call.usage.prompt_tokens,
            call.usage.completion_tokens,
            round(call.seconds * 1000) if call.seconds else None,
        ),
    )


def _add_part(database: sqlite3.Connection, message: MessageId, position: int, part: Part) -> None:
    payload = part.hashed()
    kind = payload.pop("type")
    text = payload.pop("text") if kind in ("text", "reasoning") else None
    if isinstance(part, AttachmentPart):
        payload = {"attachment": {"id": part.sha256}}
    row = database.execute(
        "INSERT INTO parts (message_hash, position, type, tool_name, text, payload) VALUES (?, ?, ?, ?, ?, ?)",
        (
            message,
            position,
            kind,
            payload.get("name"),
            text,
            json.dumps(payload, ensure_ascii=False) if payload else None,
        ),
    )
    if isinstance(part, AttachmentPart):
        database.execute("INSERT INTO part_attachments VALUES (?, ?, 0)", (row.lastrowid, part.sha256))


def _add_threads(database: sqlite3.Connection, chat: Chat) -> dict[str, str]:
    """Insert a thread for each branch; the first one has the conversation's own name."""
    threads: dict[str, str] = {}
    tips = {name: branch.head for name, branch in chat.view.branches.items()}
    ends = {**tips, **{f"kept {id.removeprefix('b2:')[:8]}": id for id in chat.view.kept}}
    for number, (name, tip) in enumerate(ends.items()):
        if tip is None:
            continue
        id = f"{chat.id}-{number}" if number else str(chat.id)
        title = chat.title if name == "main" else f"{chat.title} ({name})".strip()
        database.execute(
            "INSERT INTO threads (id, name, tip_message_hash, datetime_utc) VALUES (?, ?, ?, ?)",
            (id, title, tip, _moment(chat.messages[tip].created)),
        )
        threads[name] = id
    return threads


def _add_turn(
    database: sqlite3.Connection, chat: Chat, answer: Message, call: _CallRecord, thread: str
) -> None:
    """Insert a turn: its input ends with the message above the answer, and the answer is its output."""
    asked = chat.messages[answer.parent] if answer.parent is not None else None
    database.execute(
        "INSERT OR IGNORE INTO turns (id, thread_id, parent_message_hash, tip_message_hash, model, options_json, "
        "input_tokens, output_tokens, duration_ms, datetime_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (call.id, thread, answer.parent, answer.id, *call.told, _moment(call.at or answer.created)),
    )
    said = asked.text if asked is not None and asked.role == "user" else ""
    database.execute(
        "INSERT OR IGNORE INTO turn_search (turn_id, prompt, response) VALUES (?, ?, ?)",
        (call.id, said, answer.text),
    )


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()
