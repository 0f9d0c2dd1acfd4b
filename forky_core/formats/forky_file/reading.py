"""Reading a Forky chat file. Nothing in it is trusted: ids, parents, the log's chain and files are all re-derived.

An inconsistent file is refused with its first error and the line number; nothing is repaired silently, because people
who share a history must be able to rely on it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from forky_core.documents.cited_passages import passage_of
from forky_core.formats.contract import Sample, Unreadable
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.entries import ViewReplay, check_entry
from forky_core.formats.forky_file.lines import (
    FORMAT,
    HARNESS,
    BadLine,
    changed_log,
    generation_of,
    line,
    message_of,
    operation_of,
)
from forky_core.formats.forky_file.page import MARK
from forky_core.model import Blob, ConversationId, Generation, Message, MessageId, Operation
from forky_core.model.document import CitedPassage
from forky_core.model.erasure import erasures_in, id_now, operation_id_now, rewritten_operations
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

FileOf = Callable[[str], bytes]
"""Reads the bytes of a member of the file's archive; raises KeyError if there is none."""


def is_ours(sample: Sample) -> bool:
    """Whether it is a Forky chat file, or a web page with an embedded one."""
    return MARK in sample.text or any(value.get("harness") == HARNESS for value in sample.objects)


def read_chat(values: Iterable[Json | Unreadable], member: FileOf | None = None) -> Chat:
    """Read a conversation from a file's lines.

    Raises:
        BadContent: with the first error and its line.
    """
    reading = _FileReading(member)
    number = 0
    for number, value in enumerate(values, 1):
        if isinstance(value, Unreadable):
            raise BadContent(f"Line {number} of the file cannot be read. {value.why}")
        try:
            reading.take(value, number)
        except BadLine as error:
            raise BadContent(f"Line {number} of the file: {error}.") from error
    try:
        return reading.chat()
    except BadLine as error:
        raise BadContent(f"The file, after {number} lines: {error}.") from error


class _FileReading:
    def __init__(self, member: FileOf | None) -> None:
        self._member = member
        self._header: Mapping[str, Any] | None = None
        self._messages: dict[MessageId, Message] = {}
        self._generations: dict[str, Generation] = {}
        self._operations: list[Operation] = []
        self._entries: dict[str, Json] = {}
        self._blobs: dict[str, Blob] = {}
        self._origins: list[Mapping[str, Json]] = []
        self._passages: dict[str, CitedPassage] = {}
        self._others: list[str] = []
        self._begins = ""
        self._replay = ViewReplay()
        self._named: dict[str, int] = {}
        """Messages that a ref, a stash or an operation names, with the first line that names each."""
        self._altered_messages: dict[MessageId, tuple[str, int]] = {}
        """Messages whose id is not that of their content: the id that it has, and the line. They must be erased."""
        self._altered_operations: dict[int, tuple[str, int]] = {}

    def take(self, value: Json, number: int) -> None:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise BadLine("it is no object with a type")
        if self._header is None:
            self._take_header(value)
            return
        match value["type"]:
            case "message":
                self._take_message(_body(value, "message"), number)
            case "generation":
                generation = generation_of(_body(value, "generation"))
                self._generations[generation.id] = generation
            case "operation":
                self._take_operation(_body(value, "operation"), number)
            case "ref":
                self._take_ref(value, number)
            case "stash":
                self._enter(f"stash/{_whole(value, 'number')}", _body(value, "stash"), number)
            case "entry":
                self._enter(_word(value, "key"), value.get("value"), number)
            case "blob":
                self._take_blob(value)
            case "passage":
                self._take_passage(_body(value, "passage"))
            case "origin":
                self._take_origin(_body(value, "origin"))
            case kind:
                rest = {key: one for key, one in value.items() if key != "type"}
                self._others.append(line(kind, **rest))

    @property
    def _id(self) -> ConversationId:
        assert self._header is not None
        return ConversationId(self._header["id"])

    def _take_header(self, value: Mapping[str, Any]) -> None:
        if value.get("type") != "session" or value.get("harness") != HARNESS:
            raise BadLine("it does not begin as a Forky chat file")
        if value.get("format") != FORMAT:
            raise BadLine(f"its format is {str(value.get('format'))[:40]}; this Forky reads {FORMAT}")
        if not _word(value, "id"):
            raise BadLine("the conversation has no id")
        check_entry("title", value.get("name", ""))
        if "forkedFrom" in value:
            check_entry("forked_from", value["forkedFrom"])
        self._header = value

    def _enter(self, key: str, value: Json, number: int) -> None:
        for id in check_entry(key, value):
            self._named.setdefault(id, number)
        self._entries[key] = value

    def _take_operation(self, body: Mapping[str, Any], number: int) -> None:
        before = self._operations[-1] if self._operations else None
        operation = operation_of(body, self._id, before)
        if (now := operation_id_now(operation)) != operation.id:
            self._altered_operations[operation.number] = (now, number)
        for id in self._replay.take(operation.changes):
            self._named.setdefault(id, number)
        self._operations.append(operation)

    def _take_origin(self, body: Mapping[str, Any]) -> None:
        if not isinstance(body.get("message"), str) or not isinstance(body.get("id", ""), str):
            raise BadLine("an origin names no message and no id of it")
        if not isinstance(body.get("x", {}), dict):
            raise BadLine("the fields of an origin are no object")
        self._origins.append(body)

    def _take_passage(self, body: Mapping[str, Any]) -> None:
        try:
            passage = passage_of(body)
        except (KeyError, TypeError, ValueError) as error:
            raise BadLine("a passage has not the fields docs/format.md says") from error
        self._passages[passage.address] = passage

    def _take_message(self, body: Mapping[str, Any], number: int) -> None:
        message = message_of(body)
        if (now := id_now(message)) != message.id:
            self._altered_messages[message.id] = (now, number)
        missing = [parent for parent in message.parents if parent not in self._messages]
        if missing:
            raise BadLine(f"the parent {missing[0][:40]} of {message.id} does not stand before it")
        self._messages.setdefault(message.id, message)

    def _take_ref(self, value: Mapping[str, Any], number: int) -> None:
        name, target = _word(value, "name"), value.get("target")
        if name == "HEAD":
            self._begins = str(value.get("symref", "")).removeprefix("heads/")
            return
        kind, _, rest = name.partition("/")
        if kind == "heads":
            self._enter(name, {"at": target}, number)
            if value.get("rules"):
                self._enter(f"rules/{rest}", value["rules"], number)
        elif kind == "tags":
            self._enter(name, {"at": target}, number)
        elif kind == "kept":
            self._enter(name, True, number)
        else:
            raise BadLine(f"“{name[:40]}” is no branch, tag or kept tip")
        if target is not None and target not in self._messages:
            raise BadLine(f"“{name[:60]}” points to {str(target)[:40]}, which is not in the file")

    def _take_blob(self, value: Mapping[str, Any]) -> None:
        sha256 = _word(value, "id").removeprefix("sha256:")
        content = self._content(value)
        if content is None:
            return
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BadLine(f"the file sha256:{sha256[:16]}… is not what its name says")
        name = value.get("name", "")
        self._blobs[sha256] = Blob(sha256, _word(value, "mediaType"), name, content)

    def _content(self, value: Mapping[str, Any]) -> bytes | None:
        """The bytes of an attachment; None if they are not included."""
        if "base64" in value:
            try:
                return base64.b64decode(value["base64"], validate=True)
            except (TypeError, ValueError, binascii.Error) as error:
                raise BadLine("an attachment is no base64") from error
        if self._member is None or "path" not in value:
            return None
        try:
            return self._member(_word(value, "path"))
        except KeyError:
            return None

    def chat(self) -> Chat:
        if self._header is None:
            raise BadLine("it is empty")
        title = self._header.get("name")
        if isinstance(title, str) and title:
            self._entries["title"] = title
        forked_from = self._header.get("forkedFrom")
        if isinstance(forked_from, dict):
            self._entries["forked_from"] = forked_from
        operations = tuple(self._operations)
        if operations and self._replay.entries != self._entries:
            raise BadLine("its branches do not stand where its log left them: it was changed by hand")
        if not any(key.startswith("heads/") for key in self._entries):
            raise BadLine("it has no branch")
        self._check_refs()
        self._check_altered(operations)
        return Chat(
            self._id,
            MappingProxyType(self._messages),
            tuple(self._generations.values()),
            MappingProxyType(self._entries),
            operations,
            MappingProxyType(self._blobs),
            tuple(self._origins),
            tuple(self._others),
            forked_from if isinstance(forked_from, dict) else None,
            self._passages.get,
            self._begins,
        )

    def _check_altered(self, operations: Sequence[Operation]) -> None:
        """Check that whatever does not have the content of its id is recorded as erased, with what it has now."""
        erased = erasures_in(self._entries)
        for id, (now, number) in self._altered_messages.items():
            if id not in erased or erased[id].now != now:
                raise BadContent(
                    f"Line {number} of the file: the id {id[:40]} is not that of its content: the line was changed."
                )
        rewritten = rewritten_operations(operations) if self._altered_operations else {}
        for at, (now, number) in self._altered_operations.items():
            if rewritten.get(at) != now:
                raise BadContent(f"Line {number} of the file: {changed_log(operations[at - 1])}.")

    def _check_refs(self) -> None:
        """Check that every message that a ref, an operation, a generation or an origin names is in the file."""
        missing = next((id for id in self._named if id not in self._messages), None)
        if missing is not None:
            raise BadContent(
                f"Line {self._named[missing]} of the file: it names {missing[:40]}, which is not in the file."
            )
        for generation in self._generations.values():
            if generation.message is not None and generation.message not in self._messages:
                raise BadLine(f"the generation {generation.id} made a message that is not in the file")
        for row in self._origins:
            if row.get("message") not in self._messages:
                raise BadLine("an origin is of a message that is not in the file")


def _body(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    body = value.get(key)
    if not isinstance(body, dict):
        raise BadLine(f"it says “{key}” and holds none")
    return body


def _word(value: Mapping[str, Any], key: str) -> str:
    word = value.get(key)
    if not isinstance(word, str):
        raise BadLine(f"its “{key}” is no text")
    return word


def _whole(value: Mapping[str, Any], key: str) -> int:
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadLine(f"its “{key}” is no whole number")
    return number
