"""SillyTavern's and TavernAI's chats: a line for each message, with its swipes.

Swipes are siblings; the rest of the file continues the one that is shown. A branch is another file that repeats the
messages up to the fork: all files of one chat get the same id, so that they become one conversation again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

from forky_core.formats.chaining import unknown_line
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, picked, seq, word, words, wrapped
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import text_parts
from forky_core.model import Role
from forky_core.model.parts import Draft, Part, ReasoningPart

PROGRAM = Program(
    "SillyTavern",
    frozenset(
        names("swipe_id swipe_info swipes force_avatar original_avatar gen_started gen_finished extra")
    ),
)
_BESIDE = ("api", "bookmark_link", "branches", "image", "title", "file", "display_text", "media", "memory")
_EXTRA = frozenset(
    (
        *names(
            "reasoning reasoning_type reasoning_duration reasoning_signature token_count gen_id"
            " isSmallSys inline_image image_swipes uses_system_ui bias type model"
        ),
        *_BESIDE,
    )
)
_READ = frozenset(("mes", "is_user", "is_system", "send_date"))
_BRANCH = re.compile(r" - ((?:Branch|Checkpoint) #\d+)$")
_NOBODY = frozenset(("", "unused"))


class SillyTavern:
    name: ClassVar[str] = "sillytavern"
    label: ClassVar[str] = "SillyTavern chat"

    def fits(self, sample: Sample) -> bool:
        first = next(iter(sample.objects), {})
        return sample.shape == "lines" and (
            "chat_metadata" in first
            or ("user_name" in first and "character_name" in first)
            or sample.has("mes", "is_user")
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        header: Mapping[str, Any] = {}
        messages: list[Mapping[str, Any]] = []
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            elif not header and not messages and "mes" not in obj(value):
                header = obj(value)
            else:
                messages.append(wrapped(value))
        yield _chat(PurePosixPath(document.name).stem, header, messages)


def _chat(stem: str, header: Mapping[str, Any], messages: list[Mapping[str, Any]]) -> ParsedConversation:
    nodes: list[Node] = []
    before: str | None = None
    for number, message in enumerate(messages, 1):
        if "mes" not in message:
            nodes.append(unknown_line(str(number), before, message, PROGRAM))
            before = str(number)
            continue
        siblings, live = _swipes(number, message, before)
        nodes += siblings
        before = live
    others = (word(one.get("name")) for one in messages if "mes" in one and one.get("is_user") is not True)
    character = word(header.get("character_name"))
    if character in _NOBODY:
        character = next(others, "")
    main = word(obj(header.get("chat_metadata")).get("main_chat"))
    branch = _BRANCH.search(stem)
    return ParsedConversation(
        source_id=f"{character}/{_trunk(main or stem)}",
        title=_trunk(main or stem),
        nodes=tuple(nodes),
        current=before,
        created=micros(header.get("create_date")),
        branch=(branch.group(1) if branch else stem) if main else "main",
        extra=picked(header, "user_name", "character_name"),
    )


def _trunk(name: str) -> str:
    """The chat that a branch, or a branch of a branch, was made from."""
    while (branch := _BRANCH.search(name)) is not None:
        name = name[: branch.start()]
    return name


def _swipes(number: int, message: Mapping[str, Any], before: str | None) -> tuple[list[Node], str]:
    """The node of each variant in their order, and the id of the one that is shown."""
    texts = [words(text) for text in seq(message.get("swipes"))]
    infos = objs(message.get("swipe_info"))
    shown = message.get("swipe_id")
    if not texts or type(shown) is not int or not 0 <= shown < len(texts):
        shown = len(texts)
        texts.append("")
    nodes = []
    for place, text in enumerate(texts):
        info = infos[place] if place < len(infos) else {}
        if place == shown:
            nodes.append(_node(f"{number}.{place + 1}", before, words(message.get("mes")), message, message))
        else:
            nodes.append(_node(f"{number}.{place + 1}", before, text, message, info))
    return nodes, f"{number}.{shown + 1}"


def _node(
    id: str, parent: str | None, text: str, message: Mapping[str, Any], said: Mapping[str, Any]
) -> Node:
    role: Role = "user" if message.get("is_user") is True else "assistant"
    extra = obj(said.get("extra"))
    thought = word(extra.get("reasoning"))
    parts: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
    parts += text_parts(text)
    parts += leftovers(extra, _EXTRA, PROGRAM, within="extra.")
    if said is message:
        parts += leftovers(message, _READ, PROGRAM)
    name = word(message.get("name"))
    return Node(
        id,
        parent,
        Draft(role, tuple(parts), None if name in _NOBODY else name),
        created=micros(said.get("send_date")),
        model=word(extra.get("model")) if role == "assistant" else "",
        # What the program calls a system message is one that the model does not see.
        hidden=message.get("is_system") is True,
        extra=picked(extra, *_BESIDE),
    )
