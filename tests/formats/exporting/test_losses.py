"""What a format is said to lose is what is missing in the file: for each thing that a conversation may have, a small
conversation is exported, read again and compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.writers.message_arrays import DIALECTS
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.landing import import_file
from forky_core.model import Blob, Generation, GenerationId, GenerationStatus, Message, Usage, seal
from forky_core.model.opaque import not_understood
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.builders import workspace
from tests.formats.exporting.trees import chat_with

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)
NO_USAGE = Usage()
AT = 1_760_000_000_123_456
ASK = seal(Draft("user", (TextPart("Which port?"),)), (), created=AT)


def answered(*parts: Part, name: str | None = None, hidden: bool = False) -> Chat:
    answer = seal(
        Draft("assistant", (*parts, TextPart("8443")), name), (ASK.id,), created=AT + 5_000_000, hidden=hidden
    )
    after = seal(Draft("user", (TextPart("Thanks"),)), (answer.id,), created=AT + 9_000_000)
    return chat_with((ASK, answer, after), after.id)


def model_call(chat: Chat, *, status: GenerationStatus = "done", usage: Usage = NO_USAGE) -> Chat:
    answer = next(message for message in chat.messages.values() if message.role == "assistant")
    call = Generation(GenerationId("g"), "main", ASK.id, "gpt-4o", status, answer.id, usage=usage)
    return replace(chat, generations=(call,))


def pictured() -> Chat:
    sha256 = hashlib.sha256(PICTURE).hexdigest()
    ask = seal(
        Draft("user", (TextPart("What is it?"), AttachmentPart(sha256, "image/png", "a.png"))), (), created=AT
    )
    blob = Blob(sha256, "image/png", "a.png", PICTURE)
    return chat_with((ask,), ask.id, {sha256: blob})


def branched(name: str = "side") -> Chat:
    one, two = (
        seal(Draft("assistant", (TextPart(text),)), (ASK.id,), created=AT) for text in ("8443", "443")
    )
    chat = chat_with((ASK, one, two), one.id)
    entries = {key.replace("branch-0", name): value for key, value in chat.view.entries.items()}
    return replace(chat, entries=MappingProxyType(entries))


def prompted() -> Chat:
    chat = answered()
    entries = dict(chat.view.entries)
    entries["rules/main"] = {"system": "Be brief."}
    return replace(chat, entries=MappingProxyType(entries))


def parts(chat: Chat, kind: type[Part]) -> int:
    return sum(isinstance(part, kind) for message in chat.messages.values() for part in message.parts)


def messages(chat: Chat, wanted: Callable[[Message], bool]) -> int:
    return sum(map(wanted, chat.messages.values()))


CALLED = answered(ToolCallPart("clock", '{"zone":"UTC"}', "c1"), ToolResultPart("clock", "15:00", "c1"))
WORD: Final = {
    "tools": "tools were asked",
    "files": "attachment",
    "reasoning": "of a model left out",
    "hidden": "hidden",
    "authors": "Who wrote",
    "models": "Which model",
    "ends": "broke off",
    "tree": "cannot hold branches",
    "prompts": "system prompt",
    "unknown": "did not understand",
    "calls": "Tokens",
    "times": "times of messages",
    "title": "title",
}
"""What the sentence of each loss says."""
CASES: Final[dict[str, tuple[Chat, Callable[[Chat], object]]]] = {
    "files": (pictured(), lambda chat: parts(chat, AttachmentPart)),
    "reasoning": (answered(ReasoningPart("Hm.")), lambda chat: parts(chat, ReasoningPart)),
    "hidden": (answered(hidden=True), lambda chat: messages(chat, lambda one: one.hidden)),
    "authors": (answered(name="Ana"), lambda chat: messages(chat, lambda one: one.name == "Ana")),
    "unknown": (
        answered(not_understood("X", "widget", ["row"])),
        lambda chat: messages(chat, lambda one: "row" in str([part.stored() for part in one.parts])),
    ),
    "models": (model_call(answered()), lambda chat: {one.model for one in chat.generations}),
    "ends": (
        model_call(answered(), status="stopped"),
        lambda chat: {one.status for one in chat.generations if one.status != "done"} != set(),
    ),
    "calls": (
        model_call(answered(), usage=Usage(5, 7)),
        lambda chat: {one.usage.completion_tokens for one in chat.generations},
    ),
    "tree": (branched(), lambda chat: len(chat.messages)),
    "prompts": (
        prompted(),
        lambda chat: (
            "Be brief." in str([dict(chat.view.entries), [one.text for one in chat.messages.values()]])
        ),
    ),
    "times": (
        answered(),
        lambda chat: sorted(one.created // 1_000_000 for one in chat.messages.values()),
    ),
    "title": (answered(), lambda chat: chat.title),
}
_PROSE: Final = {"reasoning": "> Hm.", "authors": " Ana "}
"""What Markdown says in words that no reader takes for anything but words."""
READ_AGAIN = ("forky", "chatgpt", "markdown", *(f"messages {dialect}" for dialect in DIALECTS))


@pytest.mark.parametrize("name", READ_AGAIN)
@pytest.mark.parametrize("kind", CASES)
def test_what_is_said_to_be_lost_is_what_is_missing_in_the_file(name: str, kind: str, tmp_path: Path) -> None:
    chat, has = CASES[kind]
    to = exporter(*name.split())
    path = tmp_path / f"chat{to.suffix}"
    path.write_bytes(b"".join(to.write(chat)))
    forky, _ = workspace()
    with forky:
        done = import_file(forky, path)
        back = [chat_of(forky.store, id) for id in done.conversations]
    lost = [has(one) for one in back] != [has(chat)]
    if name == "markdown" and kind in _PROSE:
        lost = _PROSE[kind] not in path.read_text("utf-8")
    assert lost == any(WORD[kind] in sentence for sentence in to.losses(chat)), to.losses(chat)
