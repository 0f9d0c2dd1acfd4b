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
from forky_core.model import Blob, Generation, GenerationId, GenerationStatus, Message, Role, Usage, seal
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


def model_call(
    chat: Chat,
    *,
    status: GenerationStatus = "done",
    usage: Usage = NO_USAGE,
    finish_reason: str | None = None,
) -> Chat:
    answer = next(message for message in chat.messages.values() if message.role == "assistant")
    call = Generation(GenerationId("g"), "main", ASK.id, "gpt-4o", status, answer.id, usage=usage)
    call = replace(call, finish_reason=finish_reason)
    return replace(chat, generations=(call,))


def attached(content: bytes, media_type: str, name: str) -> Chat:
    sha256 = hashlib.sha256(content).hexdigest()
    ask = seal(
        Draft("user", (TextPart("What is it?"), AttachmentPart(sha256, media_type, name))), (), created=AT
    )
    return chat_with((ask,), ask.id, {sha256: Blob(sha256, media_type, name, content)})


def branched(name: str = "side") -> Chat:
    one, two = (
        seal(Draft("assistant", (TextPart(text),)), (ASK.id,), created=AT) for text in ("8443", "443")
    )
    chat = chat_with((ASK, one, two), one.id)
    entries = {key.replace("branch-0", name): value for key, value in chat.view.entries.items()}
    return replace(chat, entries=MappingProxyType(entries))


def in_turns(*roles: Role) -> Chat:
    said: list[Message] = []
    for at, role in enumerate(roles):
        parents = tuple(one.id for one in said[-1:])
        said.append(seal(Draft(role, (TextPart(f"{role} {at}"),)), parents, created=AT + at * 1_000_000))
    return chat_with(said, said[-1].id)


def prompted() -> Chat:
    chat = answered()
    entries = dict(chat.view.entries)
    entries["rules/main"] = {"system": "Be brief."}
    return replace(chat, entries=MappingProxyType(entries))


def replaced() -> Chat:
    """A branch whose own system prompt stands in a context for the first message."""
    chat = in_turns("system", "user")
    entries = {**chat.view.entries, "rules/main": {"system": "Be brief."}}
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
    "reasons": "ended, such as",
    "turns": "joined to the one before",
    "documents": "attachment",
    "replaced": "replaced",
    "times": "times of messages",
    "title": "title",
}
"""What the sentence of each loss says."""
CASES: Final[dict[str, tuple[Chat, Callable[[Chat], object]]]] = {
    "files": (attached(PICTURE, "image/png", "a.png"), lambda chat: parts(chat, AttachmentPart)),
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
    "reasons": (
        model_call(answered(), finish_reason="length"),
        lambda chat: {one.finish_reason for one in chat.generations},
    ),
    "turns": (
        in_turns("user", "user", "assistant", "tool", "assistant"),
        lambda chat: sorted(one.created // 1_000_000 for one in chat.messages.values()),
    ),
    "documents": (
        attached(b"%PDF-1.7", "application/pdf", "a.pdf"),
        lambda chat: parts(chat, AttachmentPart),
    ),
    "replaced": (
        replaced(),
        lambda chat: (
            {one.text for one in chat.messages.values()} >= {"system 0", "user 1"}
            or "system 0" in str(dict(chat.view.entries))
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
