"""Sessions of opencode (`opencode export`, or its database): messages of typed parts, each with a head of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, read_values
from forky_core.formats.contract import ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, shallow, word, words
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.tables import Row, opened_tables
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import GenerationStatus, Usage
from forky_core.model.media import data_url
from forky_core.model.parts import Json, OpaquePart, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "opencode",
    frozenset(names("sessionID messageID callID cost tokens finish synthetic ignored parentID rolling")),
)
_BESIDE = (
    *("summary", "agent", "error", "path", "providerID", "mode", "system", "tools", "variant", "format"),
    *("structured", "compacted"),
)
_INFO = frozenset(("modelID", "model", *_BESIDE))
_NOTES = frozenset(("step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction"))
"""Parts that record what the program did; they are kept beside the message."""
_STATE = ("input", "output", "error", "attachments")
_TABLES = frozenset(("session", "message", "part"))


class OpenCode:
    name: ClassVar[str] = "opencode"
    label: ClassVar[str] = "opencode session"

    def fits(self, sample: Sample) -> bool:
        return sample.tables >= _TABLES or any(
            isinstance(value.get("info"), dict)
            and isinstance(value.get("messages"), list)
            and (
                word(value["info"].get("id")).startswith("ses")
                or any("info" in message and "parts" in message for message in objs(value["messages"]))
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        if document.shape == "sqlite":
            return (_session(session, files) for session in _stored(document))
        return read_values(document, lambda value: [_session(obj(value), files)] if obj(value) else [])


def _stored(document: SourceDocument) -> Iterator[Mapping[str, Any]]:
    """Yield the sessions of the program's database in the format of an export. Its accounts and keys are not read."""
    with opened_tables(document) as tables:
        for session in tables.rows("session", order="id"):
            messages = list(
                tables.rows("message", order="id", where="session_id", values=[session.get("id")])
            )
            parts = tables.of("part", "message_id", [row.get("id") for row in messages], order="id")
            yield {
                "info": {
                    **session,
                    "parentID": session.get("parent_id"),
                    "time": {"created": session.get("time_created")},
                },
                "messages": [
                    {"info": _data(row), "parts": [_data(part) for part in parts.get(row.get("id"), ())]}
                    for row in messages
                ],
            }


def _data(row: Row) -> dict[str, Any]:
    """What a row of messages or parts holds; what cannot be read as JSON is a text."""
    try:
        return {"id": row.get("id"), **obj(parse(word(row.get("data"))))}
    except ValueError:
        return {"id": row.get("id"), "type": "text", "text": word(row.get("data"))}


def _session(session: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    chain = Chain()
    about = obj(session.get("info"))
    for message in objs(session.get("messages")):
        info = obj(message.get("info"))
        parts: list[Part] = []
        beside: list[Json] = []
        for part in objs(message.get("parts")):
            if word(part.get("type")) in _NOTES:
                beside.append(shallow(dict(part)))
            else:
                parts += _part(part, files)
        calls = [
            found
            for part in objs(message.get("parts"))
            if (found := picked(obj(part.get("state")), "title", "metadata"))
        ]
        parts += leftovers(info, _INFO, PROGRAM, within="info.")
        parts += leftovers(message, ("info", "parts"), PROGRAM)
        role = role_of(info.get("role"))
        failure, status = _failure(obj(info.get("error")))
        chain.add(
            parts,
            role,
            id=word(info.get("id")),
            created=micros(obj(info.get("time")).get("created")),
            model=word(info.get("modelID")) if role == "assistant" else "",
            usage=_usage(obj(info.get("tokens"))),
            status=status,
            failure=failure,
            extra={
                **picked(info, *_BESIDE),
                **({"parts": beside} if beside else {}),
                **({"calls": calls} if calls else {}),
            },
        )
    return chain.conversation(
        word(about.get("id")),
        word(about.get("title")),
        created=micros(obj(about.get("time")).get("created")),
        session=word(about.get("id")),
        folder=word(about.get("directory")),
        extra=picked(about, "parentID", "directory", "share", "revert", "version", "summary"),
    )


def _part(part: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    match part.get("type"):
        case "text":
            return [
                *text_parts(words(part)),
                *leftovers(part, ("text", "metadata"), PROGRAM, within="parts."),
            ]
        case "reasoning":
            thought = words(part)
            thinks: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
            return [*thinks, *leftovers(part, ("text", "metadata"), PROGRAM, within="parts.")]
        case "file":
            return _file(part, files)
        case "tool":
            return _tool(part, files)
        case "subtask":
            args = {
                key: value
                for key, value in part.items()
                if key not in ("id", "type", "sessionID", "messageID")
            }
            return [tool_call({"name": "subtask", "args": args}, "")]
        case _:
            return [OpaquePart(kept_json(dict(part)))]


def _tool(part: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    state, id, name = obj(part.get("state")), word(part.get("callID")), word(part.get("tool")) or "unknown"
    failed = words(state.get("error")) or None
    output = words(state.get("output")) or failed or ""
    results: list[Part] = [ToolResultPart(name, output, id or None, failed)] if output.strip() else []
    for file in objs(state.get("attachments")):
        results += _file(file, files)
    rest = leftovers(part, ("tool", "state", "metadata"), PROGRAM, within="parts.")
    rest += leftovers(state, (*_STATE, "title", "metadata", "raw"), PROGRAM, within="parts.state.")
    return [tool_call({"name": name, "args": state.get("input", {})}, id), *results, *rest]


def _file(part: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    content, media = data_url(word(part.get("url"))) or (b"", "")
    attached = files.attach_bytes(content, word(part.get("mime")) or media, word(part.get("filename")))
    if attached is None:
        return [OpaquePart(kept_json({**part, "type": "file"}))]
    return [attached, *leftovers(part, ("url", "mime", "filename"), PROGRAM, within="parts.")]


def _failure(error: Mapping[str, Any]) -> tuple[str, GenerationStatus]:
    name = word(error.get("name"))
    failure = word(obj(error.get("data")).get("message")) or name
    return failure, "stopped" if name == "MessageAbortedError" else "interrupted" if failure else "done"


def _usage(tokens: Mapping[str, Any]) -> Usage:
    cache = obj(tokens.get("cache"))
    return Usage(
        count(tokens.get("input")),
        count(tokens.get("output")),
        count(cache.get("read")),
        count(cache.get("write")),
    )
