"""simonw/llm's `logs.db`, the content-addressed generation (0.32 and later): `llm logs`, `llm chat --continue` read it.

Where a message has one parent and no author its hash there is our id (law 1); merges are flattened first, so that all
have. A branch becomes a thread, a model call a turn.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from forky_core.formats.flattening import flattened
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.losses import losses
from forky_core.formats.rewriting import Wanted, rewritten
from forky_core.model import Generation, Message, MessageId
from forky_core.parts import AttachmentPart, OpaquePart, Part, TextPart

_PIECE = 1 << 20


class LlmDatabase:
    name: ClassVar[str] = "llm"
    label: ClassVar[str] = "llm's database (SQLite)"
    suffix: ClassVar[str] = ".llm.db"
    media_type: ClassVar[str] = "application/vnd.sqlite3"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "branch names", "tools", "reasoning", "files", "calls"))

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
    return files("forky_core.formats.exporters").joinpath("llm_schema.sql").read_text("utf-8")


def _without_strangers(chat: Chat) -> Chat:
    """Parts that llm has no type for, or whose bytes are not at hand, as text: it could not read them back."""

    def parts(message: Message) -> tuple[Part, ...]:
        return tuple(map(said, message.parts))

    def said(part: Part) -> Part:
        if isinstance(part, AttachmentPart) and part.sha256 not in chat.blobs:
            return TextPart(f"[{part.name or part.media_type}]")
        if isinstance(part, OpaquePart):
            return TextPart(f"[{json.loads(part.json).get('type')}]")
        return part

    if all(parts(message) == message.parts for message in chat.messages.values()):
        return chat
    return rewritten(chat, Wanted("llm", parts=parts))


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
    for call in chat.generations:
        thread = threads.get(call.branch) or next(iter(threads.values()), None)
        if call.message is not None and thread is not None:
            _add_turn(database, chat, call, thread)


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
    """The threads by branch: the first one has the conversation's own name."""
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


def _add_turn(database: sqlite3.Connection, chat: Chat, call: Generation, thread: str) -> None:
    """What it added runs from the message above the question to the answer."""
    assert call.message is not None
    answer = chat.messages[call.message]
    question = chat.messages[answer.parent] if answer.parent is not None else None
    asked = question is not None and question.role == "user"
    above = question.parent if asked and question is not None else answer.parent
    database.execute(
        "INSERT OR IGNORE INTO turns (id, thread_id, parent_message_hash, tip_message_hash, model, options_json, "
        "input_tokens, output_tokens, duration_ms, datetime_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            call.id,
            thread,
            above,
            answer.id,
            call.model,
            json.dumps(dict(call.parameters)) if call.parameters else None,
            call.usage.prompt_tokens,
            call.usage.completion_tokens,
            round(call.seconds * 1000) if call.seconds else None,
            _moment(call.started or answer.created),
        ),
    )
    database.execute(
        "INSERT OR IGNORE INTO turn_search (turn_id, prompt, response) VALUES (?, ?, ?)",
        (call.id, question.text if asked and question is not None else "", answer.text),
    )


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()
