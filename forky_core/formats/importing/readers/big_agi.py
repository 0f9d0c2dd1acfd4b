"""big-AGI's conversations (`.agi.json`) and backups: messages made of fragments; only the conversations are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, read_values
from forky_core.formats.contract import ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names, repeated_fields
from forky_core.formats.openai_messages import content_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.media import data_url
from forky_core.model.parts import Json, OpaquePart, Part, ReasoningPart, TextPart, ToolResultPart

PROGRAM = Program(
    "big-AGI",
    frozenset(names("avatar generator tokenCount pendingIncomplete pendingPlaceholderText userFlags")),
)
_BESIDE = ("purposeId", "updated", "userFlags", "metadata")
_READ = frozenset(("fragments", "text", "sender", "typing", "originLLM", *_BESIDE))
_PARTS = {
    "text": ("pt", "text"),
    "ma": ("pt", "aText", "aType", "textSignature", "redactedData", "oTimeMs"),
    "doc": ("pt", "vdt", "data", "ref", "l1Title", "meta", "version"),
    "tool_invocation": ("pt", "invocation"),
    "tool_response": ("pt", "response", "error", "environment"),
}
"""The fields that are read of each kind of part."""


class BigAGI:
    name: ClassVar[str] = "big-agi"
    label: ClassVar[str] = "big-AGI conversation"

    def fits(self, sample: Sample) -> bool:
        return any(
            any("systemPurposeId" in one for one in (value, *objs(value.get("conversations"))))
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        def conversations(value: Json) -> Iterator[Result]:
            found = obj(value)
            entries = objs(found["conversations"]) if "conversations" in found else [found]
            return (_conversation(entry, files) for entry in entries)

        return read_values(document, conversations)


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    chain = Chain()
    for message in objs(value.get("messages")):
        role = role_of(message.get("role"))
        fragments = [obj(one.get("part")) for one in objs(message.get("fragments"))]
        failed = "\n".join(
            word(one.get("error")) or "It failed." for one in fragments if one.get("pt") == "error"
        )
        cut = bool(failed) or bool(message.get("pendingIncomplete"))
        generator = obj(message.get("generator"))
        chain.add(
            _parts(message, files),
            role,
            id=word(message.get("id")),
            created=micros(message.get("created")),
            model=(word(generator.get("name")) or word(message.get("originLLM")))
            if role == "assistant"
            else "",
            status="interrupted" if cut and role == "assistant" else "done",
            failure=failed if role == "assistant" else "",
            extra=picked(message, *_BESIDE),
        )
    return chain.conversation(
        word(value.get("id")),
        word(value.get("userTitle")) or word(value.get("autoTitle")),
        created=micros(value.get("created")),
        extra=picked(value, "systemPurposeId", "updated"),
    )


def _parts(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    fragments = objs(message.get("fragments"))
    parts: list[Part] = []
    for fragment in fragments:
        part = obj(fragment.get("part"))
        parts += _fragment(part, word(fragment.get("title")), files)
        if word(part.get("pt")) in _PARTS:
            parts += leftovers(part, _PARTS[word(part.get("pt"))], PROGRAM, within="fragments.part.")
        around = names("ft fId part title caption liveFileId outputMode originId vendorState")
        parts += leftovers(fragment, around, PROGRAM, within="fragments.")
    if not parts:  # The format before version 4.
        parts = content_parts(message.get("text"), files, PROGRAM)
    joined = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    known = _READ - {"text"} | set(repeated_fields(message, ("text",), joined))
    return [*parts, *leftovers(message, known, PROGRAM)]


def _fragment(part: Mapping[str, Any], title: str, files: SourceFiles) -> list[Part]:
    match word(part.get("pt")):
        case "text":
            return text_parts(words(part.get("text")))
        case "ma":
            thought = word(part.get("aText"))
            return [ReasoningPart(thought)] if thought.strip() else []
        case "doc":
            text = word(obj(part.get("data")).get("text"))
            name = word(part.get("l1Title")) or word(part.get("ref")) or title
            return _kept(
                files.attach_bytes(text.encode("utf-8", "replace"), "text/plain", name or "document.txt")
            )
        case "tool_invocation":
            called = obj(part.get("invocation"))
            named = {
                "name": called.get("name") or called.get("type"),
                "args": called.get("args", called.get("code", "")),
            }
            known = ("args", "code", "language", "variant", "author")
            rest = leftovers(called, known, PROGRAM, within="fragments.part.invocation.")
            return [tool_call(named, word(part.get("id"))), *rest]
        case "tool_response":
            response = obj(part.get("response"))
            failed = word(part.get("error")) or ("It failed." if part.get("error") is True else None)
            name = word(response.get("name")) or word(response.get("type"))
            return [ToolResultPart(name, _result(response.get("result")), ref(part.get("id")), failed)]
        case "image_ref":
            found = data_url(word(obj(part.get("dataRef")).get("url")))
            kept = _kept(files.attach_bytes(*found, word(part.get("altText")))) if found else []
            around = leftovers(
                part, ("pt", "dataRef", "altText", "width", "height"), PROGRAM, within="fragments.part."
            )
            around += leftovers(
                obj(part.get("dataRef")), ("url", "reftype"), PROGRAM, within="fragments.part.dataRef."
            )
            return [*kept, *around] if kept else [OpaquePart(kept_json({**part, "type": "image_ref"}))]
        case "error" | "ph" | "":
            return []
        case kind:
            return [OpaquePart(kept_json({**part, "type": kind}))]


def _kept(part: Part | None) -> list[Part]:
    return [part] if part is not None else []


def _result(result: Any) -> str:
    return result if isinstance(result, str) else kept_json(result) if result is not None else ""
