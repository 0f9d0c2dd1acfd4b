"""Cherry Studio's backups: a zip with `data.json`, in which topics have messages, and messages refer to blocks.

Several models may answer one question: their answers are siblings, and the topic goes on from the one that was marked
useful, or from the last. The names of topics are in the program's own state, which is JSON within JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import spread, usage_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, seq, shallow, word, words
from forky_core.formats.files.json_values import parse
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, openai_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import GenerationStatus
from forky_core.model.media import data_url
from forky_core.model.parts import Draft, Json, OpaquePart, Part, ReasoningPart, TextPart, ToolResultPart

PROGRAM = Program(
    "Cherry Studio",
    frozenset(
        names(
            "assistantId topicId messageId modelId askId useful foldSelected metrics"
            " multiModelMessageStyle enabledMCPs thinking_millsec traceId agentSessionId language"
            " knowledgeBaseIds toolId sourceBlockId"
        )
    ),
)
CLEARED = "From here on, the model was sent nothing of what is above."
_BESIDE = ("mentions", "metadata", "providerMetadata", "model", "citationReferences")
_READ = frozenset(("blocks", "content", *_BESIDE))
_STATUS: dict[str, GenerationStatus] = {"paused": "stopped", "error": "interrupted"}


class CherryStudio:
    name: ClassVar[str] = "cherry-studio"
    label: ClassVar[str] = "Cherry Studio backup"

    def fits(self, sample: Sample) -> bool:
        return any(
            isinstance(obj(value.get("indexedDB")).get("topics"), list) and "localStorage" in value
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            tables = obj(obj(value).get("indexedDB"))
            about = _topics(obj(obj(value).get("localStorage")))
            blocks = {word(block.get("id")): block for block in objs(tables.get("message_blocks"))}
            stored = {word(file.get("id")): file for file in objs(tables.get("files"))}
            for topic in objs(tables.get("topics")):
                name, prompt = about.get(word(topic.get("id")), (word(topic.get("name")), ""))
                yield _topic(topic, name, prompt, _Blocks(blocks, stored, files))


def _json(text: Json) -> Json:
    try:
        return parse(text) if isinstance(text, str) else text
    except ValueError:
        return None


def _topics(storage: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """For each topic, its name and the prompt of its assistant."""
    state = obj(_json(storage.get("persist:cherry-studio")))
    assistants = obj(_json(state.get("assistants")))
    every = [*objs(assistants.get("assistants")), obj(assistants.get("defaultAssistant"))]
    return {
        word(topic.get("id")): (
            word(topic.get("name")),
            word(topic.get("prompt")) or word(assistant.get("prompt")),
        )
        for assistant in reversed(every)
        for topic in objs(assistant.get("topics"))
    }


class _Blocks:
    """The blocks of all messages, and the files that they name."""

    def __init__(
        self,
        blocks: Mapping[str, Mapping[str, Any]],
        stored: Mapping[str, Mapping[str, Any]],
        files: SourceFiles,
    ) -> None:
        self.files = files
        self._blocks = blocks
        self._of_message: dict[str, list[str]] = {}
        for id, block in blocks.items():
            self._of_message.setdefault(word(block.get("messageId")), []).append(id)
        self._stored = stored

    def of(self, message: Mapping[str, Any]) -> tuple[list[Part], list[Json], str]:
        """The parts of a message, what stands beside it, and why it failed."""
        parts: list[Part] = []
        beside: list[Json] = []
        failure = ""
        named = [word(id) for id in seq(message.get("blocks"))]
        for id in dict.fromkeys((*named, *self._of_message.get(word(message.get("id")), ()))):
            block = self._blocks.get(id)
            if block is None:
                beside.append({"id": id})
                continue
            kind = word(block.get("type"))
            if kind in ("citation", "translation", "unknown"):
                beside.append(shallow(dict(block)))
                continue
            error = obj(block.get("error"))
            failure = word(error.get("message")) or word(error.get("name")) or failure
            if kind == "error":
                beside.append(shallow(dict(block)))
            else:
                parts += self._part(kind, block)
                parts += leftovers(block, ("content", "error", *_BLOCK, *_BESIDE), PROGRAM, within="blocks.")
                beside += [found] if (found := picked(block, *_BESIDE)) else []
        return parts, beside, failure

    def _part(self, kind: str, block: Mapping[str, Any]) -> list[Part]:
        text = words(block.get("content"))
        match kind:
            case "main_text" | "compact":
                return text_parts(text)
            case "thinking":
                return [ReasoningPart(text)] if text.strip() else []
            case "code":
                return text_parts(f"```{word(block.get('language'))}\n{text}\n```")
            case "tool":
                return _tool(block, self.files)
            case "image" | "file" | "video":
                return [self._file(block)]
            case _:
                return [OpaquePart(kept_json(dict(block)))] if block else []

    def _file(self, block: Mapping[str, Any]) -> Part:
        named = obj(block.get("file"))
        file = {**self._stored.get(word(named.get("id")), {}), **named}
        shown = word(file.get("origin_name")) or word(file.get("name"))
        content, media = data_url(word(block.get("url"))) or (b"", "")
        member = f"{word(file.get('id'))}{word(file.get('ext'))}"
        found = self.files.attach_bytes(content, media, shown) or next(
            (
                self.files.attach(name, "", shown)
                for name in self.files.names()
                if member and name.rpartition("/")[2] == member
            ),
            None,
        )
        return found or OpaquePart(kept_json({**block, "type": "file"}))


_BLOCK = ("file", "url", "filePath", "toolName", "arguments", "compactedContent")


def _tool(block: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    raw = obj(obj(block.get("metadata")).get("rawMcpToolResponse"))
    tool = obj(raw.get("tool"))
    name = word(block.get("toolName")) or word(tool.get("name")) or word(block.get("toolId")) or "unknown"
    id = word(raw.get("toolCallId")) or word(raw.get("id")) or word(block.get("id"))
    content = block.get("content", raw.get("response"))
    wrapped = obj(content) if "content" in obj(content) else {}
    seen = content_parts(wrapped.get("content", content), files, PROGRAM) if content else []
    output = "\n\n".join(part.text for part in seen if isinstance(part, TextPart))
    return [
        tool_call({"name": name, "args": block.get("arguments") or raw.get("arguments") or {}}, id),
        *([ToolResultPart(name, output, id or None)] if output.strip() else []),
        *(part for part in seen if not isinstance(part, TextPart)),
        *leftovers(wrapped, ("content",), PROGRAM, within="blocks.content."),
    ]


def _topic(topic: Mapping[str, Any], name: str, prompt: str, blocks: _Blocks) -> ParsedConversation:
    nodes: list[Node] = []
    before: str | None = None
    asked: str | None = None
    chosen = False
    for number, message in enumerate(objs(topic.get("messages")), 1):
        id = word(message.get("id")) or f"#{number}"
        again = asked is not None and message.get("role") == "assistant" and message.get("askId") == asked
        if not again:
            asked, chosen = None, False
        nodes += _nodes(id, asked if again else before, message, blocks)
        if not chosen:
            before, chosen = id, message.get("useful") is True
        if message.get("role") == "user":
            asked = id
    return ParsedConversation(
        source_id=word(topic.get("id")),
        title=name,
        nodes=tuple(nodes),
        current=before,
        created=nodes[0].created if nodes else 0,
        system=prompt or None,
    )


def _nodes(id: str, before: str | None, message: Mapping[str, Any], blocks: _Blocks) -> list[Node]:
    if message.get("type") == "clear":
        return [Node(id, before, None, why=CLEARED)]
    role = role_of(message.get("role"))
    parts, beside, failure = blocks.of(message)
    if "blocks" not in message:  # Before version 5, messages held their text.
        plain = {name: value for name, value in message.items() if name not in _BESIDE}
        parts = openai_parts(plain, blocks.files, PROGRAM)
    else:
        parts += text_parts(words(message.get("content"))) + leftovers(message, _READ, PROGRAM)
    model = obj(message.get("model"))
    node = Node(
        id,
        before,
        Draft(role, ()),
        created=micros(message.get("createdAt")),
        model=(word(model.get("id")) or word(message.get("modelId"))) if role == "assistant" else "",
        usage=usage_of(message.get("usage")),
        status=_STATUS.get(word(message.get("status")), "interrupted" if failure else "done")
        if role == "assistant"
        else "done",
        failure=failure if role == "assistant" else "",
        extra={**picked(message, *_BESIDE), **({"blocks": beside} if beside else {})},
    )
    return spread(node, parts, role)
