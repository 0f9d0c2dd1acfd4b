"""Chats of VS Code with GitHub Copilot: “Chat: Export Chat…”, and the session files of its workspace storage.

A session file is one object, or since 2026 a log of changes to it, a line each. Requests that were taken back and asked
again stay as a branch. Beside the text of an answer stand its thoughts, its calls, and what the editor shows of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain
from forky_core.formats.contract import (
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, seq, shallow, word, words
from forky_core.formats.leftovers import Program, leftovers, names, says_something
from forky_core.formats.openai_messages import text_parts, tool_call
from forky_core.model import GenerationStatus
from forky_core.model.opaque import not_understood
from forky_core.model.parts import Json, OpaquePart, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "VS Code",
    frozenset(names("agent kind sendOptions responseMarkdownInfo modeInfo elapsedMs timeSpentWaiting vote")),
)
_BESIDE = (
    *("result", "contentReferences", "codeCitations", "followups", "slashCommand", "usedContext"),
    *("editedFileEvents", "voteDownReason", "confirmation", "modelState", "shouldBeRemovedOnSend"),
)
_READ = frozenset(("message", "response", "variableData", "isCanceled", *_BESIDE))
_SHOWN = frozenset(
    names(
        "codeblockUri undoStop prepareToolInvocation mcpServersStarting progressTaskSerialized"
        " progressMessage progressTask treeData hook extensions command confirmation elicitation"
        " elicitationSerialized questionCarousel warning multiDiffData pullRequest"
        " clearToPreviousToolInvocation disabledClaudeHooks"
    )
)
"""Parts of an answer with which the editor shows something that is no text of the model; they are kept beside it."""
_EDITS = frozenset(("textEditGroup", "notebookEditGroup", "workspaceEdit"))
_CALLS = frozenset(("toolInvocationSerialized", "toolInvocation"))
_CANCELLED, _FAILED = 2, 3


class VSCodeChat:
    name: ClassVar[str] = "vscode-chat"
    label: ClassVar[str] = "VS Code Copilot chat"

    def fits(self, sample: Sample) -> bool:
        return any(
            _is_session(value) or ("kind" in value and _is_session(obj(value.get("v"))))
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        log: _Log | None = None
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            elif "kind" in obj(value):
                if log is None or obj(value)["kind"] == 0:
                    log = _Log()
                log.take(obj(value))
            elif obj(value):
                yield _session(obj(value), [])
        if log is not None:
            yield _session(obj(log.state), log.cut)


def _is_session(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("requests"), list) and (
        "responderUsername" in value
        or ("sessionId" in value and "creationDate" in value)
        or any("requestId" in one and "message" in one for one in objs(value["requests"]))
    )


@dataclass(slots=True)
class _Log:
    """An object that is written as its changes: 0 the whole, 1 a field, 2 elements of a list, 3 a field that goes."""

    state: Json = None
    cut: list[tuple[int, list[Json]]] = field(default_factory=list)
    """Requests that were taken back, with the number of those before them."""

    def take(self, entry: Mapping[str, Any]) -> None:
        kind, path = entry.get("kind"), seq(entry.get("k"))
        if kind == 0 or not path:
            self.state = entry.get("v") if kind in (0, 1) else self.state
            return
        holder = self.state
        for key in path[:-1]:
            holder = _at(holder, key)
        last = path[-1]
        if kind == 2:
            self._push(_at(holder, last), entry, whole=path == ["requests"])
        elif isinstance(holder, dict) and isinstance(last, str):
            if kind == 3:
                holder.pop(last, None)
            else:
                holder[last] = entry.get("v")
        elif isinstance(holder, list) and isinstance(last, int) and 0 <= last < len(holder):
            holder[last] = entry.get("v")
        if kind == 2 and isinstance(holder, dict) and isinstance(last, str) and last not in holder:
            holder[last] = seq(entry.get("v"))

    def _push(self, onto: Json, entry: Mapping[str, Any], *, whole: bool) -> None:
        if not isinstance(onto, list):
            return
        end = entry.get("i")
        if isinstance(end, int) and 0 <= end < len(onto):
            if whole:
                self.cut.append((end, onto[end:]))
            del onto[end:]
        onto.extend(seq(entry.get("v")))


def _at(holder: Json, key: Json) -> Json:
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder):
        return holder[key]
    return None


def _session(session: Mapping[str, Any], cut: list[tuple[int, list[Json]]]) -> ParsedConversation:
    chain = Chain()
    requests = objs(session.get("requests"))
    ends: list[str | None] = [None]
    for request in requests:
        _exchange(chain, request)
        ends.append(chain.last)
    for pending in objs(session.get("pendingRequests")):
        around = {name: value for name, value in pending.items() if name != "request"}
        _exchange(chain, {**around, **obj(pending.get("request"))})
    current = chain.last
    for number, taken_back in cut:
        chain.last = ends[min(number, len(ends) - 1)]
        for request in objs(taken_back):
            _exchange(chain, request)
    return ParsedConversation(
        source_id=word(session.get("sessionId")),
        title=word(session.get("customTitle")),
        nodes=tuple(chain.nodes),
        current=current,
        created=micros(session.get("creationDate")),
        extra=picked(session, "responderUsername", "inputState", "initialLocation"),
    )


def _exchange(chain: Chain, request: Mapping[str, Any]) -> None:
    """A question and its answer."""
    id, at = word(request.get("requestId")), micros(request.get("timestamp"))
    message = request.get("message")
    text = words(message) or words(obj(message).get("parts"))
    asked = [*text_parts(text), *_attached(request.get("variableData"))]
    asked += leftovers(obj(message), ("text", "parts"), PROGRAM, within="message.")
    asked += leftovers(request, _READ, PROGRAM)
    pieces = objs(obj(message).get("parts"))
    plain = words(pieces) == text and all(piece.keys() <= _PIECE for piece in pieces)
    beside = {
        **({} if plain or not pieces else {"parts": shallow(pieces)}),
        **picked(request, "variableData"),
    }
    chain.add(asked, "user", id=id, created=at, extra=beside)
    response, result = request.get("response"), obj(request.get("result"))
    parts, shown = _answer(response, obj(result.get("metadata")))
    failure = word(obj(result.get("errorDetails")).get("message"))
    extra = {**({"shown": shown} if shown else {}), **picked(request, *_BESIDE)}
    status = _status(request, failure)
    if parts or failure or shown or status != "done" or says_something(result):
        chain.add(
            parts,
            "assistant",
            id=f"{id}/answer" if id else "",
            created=at,
            model=word(request.get("modelId")),
            status=status,
            failure=failure,
            extra=extra,
        )


_PIECE = frozenset(("text", "range", "editorRange", "kind"))


def _status(request: Mapping[str, Any], failure: str) -> GenerationStatus:
    state = obj(request.get("modelState")).get("value")
    if request.get("isCanceled") is True or state == _CANCELLED:
        return "stopped"
    return "interrupted" if failure or state == _FAILED else "done"


def _attached(variables: Json) -> list[Part]:
    """What was attached to a question: names and addresses of files, whose content is not in the chat."""
    return [
        OpaquePart(
            kept_json({"type": "file", **picked(one, "name", "kind"), "value": _address(one.get("value"))})
        )
        for one in objs(obj(variables).get("variables"))
        if one.get("kind") in _ATTACHED
    ]


_ATTACHED = ("file", "directory", "image", "symbol", "paste", "string", "element", "notebookOutput")


def _address(value: Json) -> str:
    found = obj(obj(value).get("uri")) or obj(value)
    return word(value) or word(found.get("external")) or word(_path(found))


def _answer(response: Json, metadata: Mapping[str, Any]) -> tuple[list[Part], list[Json]]:
    """The parts of an answer, and what the editor shows beside them."""
    rounds = [call for one in objs(metadata.get("toolCallRounds")) for call in objs(one.get("toolCalls"))]
    calls = {word(call.get("id")): call for call in rounds}
    results = obj(metadata.get("toolCallResults"))
    parts: list[Part] = []
    shown: list[Json] = []
    pieces: list[str] = []

    def flush() -> None:
        parts.extend(text_parts("".join(pieces)))
        pieces.clear()

    for part in response if isinstance(response, list) else [response]:
        entry = {"value": part} if isinstance(part, str) else obj(part)
        kind = word(entry.get("kind"))
        if kind in ("", "markdownContent", "markdownVuln"):
            pieces.append(words(entry.get("content")) or word(entry.get("value")))
            rest = leftovers(entry, _TEXT, PROGRAM, within="response.")
        elif kind == "inlineReference":
            pieces.append(_named(entry))
            rest = leftovers(entry, ("kind", "inlineReference"), PROGRAM, within="response.")
            shown.append(shallow(entry))
        elif kind in _SHOWN:
            shown.append(shallow(entry))
            continue
        else:
            flush()
            rest = _part(kind, entry, calls, results)
            if kind in _CALLS:
                shown.append(shallow(entry))
        if rest:
            flush()
            parts += rest
    flush()
    return parts, shown


_TEXT = ("kind", "value", "content", "vulnerabilities", "baseUri", "uris", "inlineReferences")


def _named(entry: Mapping[str, Any]) -> str:
    """How a reference reads in the text: the name of a file or a symbol."""
    reference = obj(entry.get("inlineReference"))
    location = obj(reference.get("location")) or reference
    path = word(_path(location)) or word(_path(obj(location.get("uri"))))
    return f"`{word(entry.get('name')) or word(reference.get('name')) or PurePosixPath(path).name}`"


def _path(uri: Mapping[str, Any]) -> Json:
    return uri.get("fsPath") or uri.get("path")


def _part(
    kind: str, entry: Mapping[str, Any], calls: Mapping[str, Mapping[str, Any]], results: Mapping[str, Any]
) -> list[Part]:
    if kind == "thinking":
        thought = (
            "".join(seq(entry["value"])) if _are_texts(entry.get("value")) else words(entry.get("value"))
        )
        thinks: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
        return [*thinks, *leftovers(entry, ("kind", "value", "metadata"), PROGRAM, within="response.")]
    if kind in _EDITS:
        return [
            tool_call(
                {"name": kind, "args": {key: value for key, value in entry.items() if key != "kind"}}, ""
            )
        ]
    if kind not in _CALLS:
        return [not_understood(PROGRAM.name, f"response.{kind}", shallow(dict(entry)))]
    id = word(entry.get("toolCallId"))
    called = calls.get(id, {})
    specific, details = obj(entry.get("toolSpecificData")), entry.get("resultDetails")
    arguments = (
        called.get("arguments") or specific.get("rawInput") or obj(details).get("input") or dict(specific)
    )
    name = word(called.get("name")) or word(entry.get("toolId")) or "unknown"
    output = words(obj(results.get(id)).get("content")) or words(obj(details).get("output"))
    return [
        tool_call({"name": name, "args": arguments}, id),
        *([ToolResultPart(name, output, id or None)] if output.strip() else []),
    ]


def _are_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
