"""Conversion between values and rows: the columns that queries need are separate, all else is canonical JSON.

Most messages are one text below one parent; such a row has its text and no JSON at all, which makes a path fast to load
and a million messages small.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from types import MappingProxyType
from typing import Any

from forky_core.model import (
    Change,
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    Role,
    Usage,
)
from forky_core.model.document import Chunk, Document, DocumentId, DocumentSearch, OfferedPassage
from forky_core.model.hashing import HASH_PREFIX
from forky_core.model.parts import Json, TextPart, canonical_json, part_from_stored

Row = Mapping[str, Any]
"""The values of a row by the names of its columns: nothing depends on their order."""
_HEX = frozenset("0123456789abcdef")
_NO_PARAMETERS: Mapping[str, Json] = MappingProxyType({})


def id_key(id: str) -> str:
    """The 32 hex digits of an id, as a UUID column stores it."""
    return id[len(HASH_PREFIX) :]


def id_from_key(key: object) -> MessageId:
    return MessageId(HASH_PREFIX + str(key).replace("-", ""))


def is_whole(id: str) -> bool:
    """Whether `id` is a complete id and not just the beginning of one."""
    return (
        id.startswith(HASH_PREFIX)
        and len(id) == len(HASH_PREFIX) + 32
        and _HEX.issuperset(id[len(HASH_PREFIX) :])
    )


def uuid_range(prefix: str) -> tuple[str, str] | None:
    """The lowest and highest key that an id with this prefix can have; None if no id can begin so."""
    digits = prefix.lower().removeprefix("b2:")
    if len(digits) > 32 or not _HEX.issuperset(digits):
        return None
    return digits.ljust(32, "0"), digits.ljust(32, "f")


def message_body(message: Message) -> tuple[str, str | None]:
    """A message's values of the columns `text` and `rest`."""
    rest: dict[str, Json] = {}
    if len(message.parts) != 1 or not isinstance(message.parts[0], TextPart):
        rest["parts"] = [part.stored() for part in message.parts]
    if len(message.parents) > 1:
        rest["parents"] = list(message.parents[1:])
    if message.name is not None:
        rest["name"] = message.name
    if message.sources:
        rest["sources"] = list(message.sources)
    if message.hidden:
        rest["hidden"] = True
    return message.text, canonical_json(rest) if rest else None


_OpenMessage: Any = type("_OpenMessage", (), {"__slots__": Message.__slots__})
_OpenText: Any = type("_OpenText", (), {"__slots__": TextPart.__slots__})
"""It has the slots of the frozen class, so that an instance can be filled in and then change its class."""


def text_message(
    id: MessageId, parents: tuple[MessageId, ...], role: Role, text: str, created: int
) -> Message:
    """A message of one text, built without the constructors of frozen classes. They take four times as long, and nearly
    all messages that are read are of this form, a thousand at once.
    """
    part = _OpenText()
    part.text = text
    part.__class__ = TextPart
    message = _OpenMessage()
    message.id = id
    message.parents = parents
    message.role = role
    message.parts = (part,)
    message.name = None
    message.created = created
    message.sources = ()
    message.hidden = False
    message.__class__ = Message
    made: Message = message
    return made


def message_from_row(
    id: MessageId, parent: MessageId | None, role: Any, text: str, rest: str | None, created: int
) -> Message:
    parents = () if parent is None else (parent,)
    if rest is None:
        return text_message(id, parents, role, text, created)
    more = json.loads(rest)
    parts = tuple(part_from_stored(part) for part in more["parts"]) if "parts" in more else (TextPart(text),)
    return Message(
        id,
        (*parents, *(MessageId(other) for other in more.get("parents", ()))),
        role,
        parts,
        more.get("name"),
        created,
        tuple(MessageId(source) for source in more.get("sources", ())),
        bool(more.get("hidden")),
    )


def messages_from_rows(rows: Iterable[Row]) -> list[Message]:
    """All messages of a conversation, whose rows are in the order they were written."""
    ids: dict[int, MessageId] = {}
    found: list[Message] = []
    for row in rows:
        id = ids[row["message"]] = id_from_key(row["id"])
        above = ids.get(row["parent"]) if row["parent"] is not None else None
        found.append(message_from_row(id, above, row["role"], row["text"], row["rest"], row["created"]))
    return found


def message_row(
    message: Message, body: tuple[str, str | None], number: int, segment: int, depth: int, parent: int | None
) -> Row:
    """A message's row but for its conversation; `body` is what `message_body` made of it."""
    text, rest = body
    return {
        "message": number,
        "id": id_key(message.id),
        "segment": segment,
        "depth": depth,
        "parent": parent,
        "role": message.role,
        "text": text,
        "rest": rest,
        "created": message.created,
    }


def places_from_rows(
    rows: Iterable[Row],
) -> Iterator[tuple[int, MessageId, int | None, int, int]]:
    """Each message's number, id, parent's number, segment and depth, for `auditing.place_findings`."""
    for row in rows:
        yield row["message"], id_from_key(row["id"]), row["parent"], row["segment"], row["depth"]


def changes_as_json(operation: Operation) -> str:
    return canonical_json([[c.key, c.before, c.after] for c in operation.changes])


def operation_row(operation: Operation) -> Row:
    """An operation's row but for its conversation."""
    return {
        "number": operation.number,
        "id": id_key(operation.id),
        "made": operation.at,
        "actor": operation.actor,
        "verb": operation.verb,
        "summary": operation.summary,
        "changes": changes_as_json(operation),
        "gesture": operation.group,
        "reverts": canonical_json(list(operation.reverts)) if operation.reverts else None,
    }


def operations_from_rows(
    conversation: ConversationId, rows: Iterable[Row], previous: str | None
) -> list[Operation]:
    """Operations of `rows`, which are oldest first; `previous` is the id of the operation before the first one."""
    found: list[Operation] = []
    for row in rows:
        operation = Operation(
            conversation,
            row["number"],
            id_from_key(row["id"]),
            previous,
            row["made"],
            row["actor"],
            row["verb"],
            row["summary"],
            tuple(Change(*change) for change in json.loads(row["changes"])),
            row["gesture"],
            tuple(json.loads(row["reverts"])) if row["reverts"] else (),
        )
        found.append(operation)
        previous = operation.id
    return found


def generation_row(generation: Generation) -> Row:
    """A generation's row but for its conversation."""
    usage = generation.usage
    rest: dict[str, Json] = {
        "branch": generation.branch,
        "parent": generation.parent,
        "message": generation.message,
        "parameters": dict(generation.parameters),
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "saved": usage.saved,
        "finish_reason": generation.finish_reason,
        "provider_reason": generation.provider_reason or None,
        "partial": [part.stored() for part in generation.partial],
        "prompt": generation.prompt or None,
        "client": generation.client or None,
        "looked": generation.looked or None,
        "reused": generation.reused,
    }
    if (failure := generation.failure) is not None:
        rest["failure"] = [failure.kind, failure.sentence, failure.retry_after]
    if (consulted := generation.consulted) is not None:
        passages = [[one.number, one.source, one.address] for one in consulted.passages]
        rest["consulted"] = [consulted.search, passages, consulted.trouble]
    return {
        "id": generation.id,
        "status": generation.status,
        "model": generation.model,
        "started": generation.started,
        "first_token": generation.first_token,
        "finished": generation.finished,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "rest": canonical_json({key: value for key, value in rest.items() if value not in (None, [], {})}),
    }


GENERATION_COLUMNS = tuple(generation_row(Generation(GenerationId(""), "", None, "", "running")))
"""The columns of a model call that are the same in every store."""


_NONE_KNOWN: Mapping[MessageId, Message] = MappingProxyType({})


def generation_from_row(row: Row, known: Mapping[MessageId, Message] = _NONE_KNOWN) -> Generation:
    """A generation; it shares the ids of `known` messages."""
    rest = json.loads(row["rest"])
    finish_reason = rest.get("finish_reason")
    parent, message = (
        known[id].id if id in known else id for id in (rest.get("parent"), rest.get("message"))
    )
    return Generation(
        GenerationId(row["id"]),
        intern(rest.get("branch", "")),  # The same few texts in every call of a conversation.
        parent,
        intern(row["model"]),
        row["status"],
        message,
        MappingProxyType(rest["parameters"]) if "parameters" in rest else _NO_PARAMETERS,
        Usage(
            row["prompt_tokens"],
            row["completion_tokens"],
            row["cached_tokens"],
            rest.get("cache_write_tokens"),
            rest.get("reasoning_tokens"),
            row["cost"],
            rest.get("saved"),
        ),
        intern(finish_reason) if finish_reason is not None else None,
        Failure(*rest["failure"]) if "failure" in rest else None,
        row["started"],
        row["first_token"],
        row["finished"],
        tuple(part_from_stored(part) for part in rest.get("partial", ())),
        rest.get("prompt", ""),
        rest.get("client", ""),
        rest.get("looked", False),
        rest.get("reused"),
        _consulted(*rest["consulted"]) if "consulted" in rest else None,
        intern(rest.get("provider_reason", "")),
    )


def document_from_row(row: Row) -> Document:
    return Document(
        DocumentId(row["id"]),
        row["name"],
        row["media_type"],
        row["size"],
        row["added"],
        row["shelf"],
        row["whole"],
        row["chunks"],
        row["terms"],
    )


def chunk_from_row(row: Row) -> Chunk:
    """A chunk without the counts of its terms."""
    return Chunk(row["number"], row["place"], row["text"], row["overlap"])


def _consulted(search: str, passages: Sequence[Sequence[Any]], trouble: str) -> DocumentSearch:
    return DocumentSearch(search, tuple(OfferedPassage(*passage) for passage in passages), trouble)
