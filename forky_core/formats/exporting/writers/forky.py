"""Forky's own file, which holds everything (docs/format.md). A part of a conversation is written without its log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import written


class ForkyFile:
    name: ClassVar[str] = "forky"
    label: ClassVar[str] = "Forky chat file"
    suffix: ClassVar[str] = ".forky.jsonl"
    media_type: ClassVar[str] = "application/x-ndjson"
    holds_log: ClassVar[bool] = True

    def losses(self, chat: Chat) -> tuple[str, ...]:  # noqa: ARG002 - it holds all
        return ()

    def write(self, chat: Chat) -> Iterator[bytes]:
        for row in written(chat):
            yield row.encode()
