"""Erasing what a message says: the text goes, the message's id stays (law 1).

An id is the hash of a content, so a message whose content is erased can no longer prove its id. What proves it instead
is the operation that erased it: for each message and each earlier operation that it rewrote it records the id that the
content now stored in their place has. So everything is still checked, and nothing else can pretend to be erased.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape, unescape
from types import MappingProxyType
from typing import Any

from forky_core.model.hashing import message_id
from forky_core.model.ids import MessageId
from forky_core.model.message import Message
from forky_core.model.operation import Change, Operation, operation_id
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    Part,
    TextPart,
    canonical_json,
    part_from_stored,
)

ERASED = "erased/"
"""The key `erased/<id of a message>` of a view holds the `Erasure` of that message."""
VERB = "erase"
NOTHING_LEFT = "[erased]"
"""The text of a message that was erased as a whole; the view says by whom and when."""
PASSAGE = 24
"""Characters that a repetition of an erased text has at least, to be erased wherever it stands."""
_SHORT = 8
"""Characters that it has at least in titles, in the log, and in what cites the message."""
_NAMES = frozenset({"type", "id", "messages", "omitted", "targets", "tool_call_id", "at", "strategy", "key"})
"""Fields that hold ids and kinds, never what somebody said."""
_MARKUP = re.compile(r"<[^>]*>")
_NO_OPERATIONS: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a view says of a message from which text was erased."""

    by: str
    """Who erased it: the actor of the operation."""
    at: int
    """Microseconds since the epoch, UTC."""
    now: str
    """The id that the content has which is stored now."""
    of: str = ""
    """The erased message that this one repeated in part; "" if this one was erased as a whole."""
    operations: Mapping[int, str] = field(default_factory=lambda: _NO_OPERATIONS)
    """Numbers of the operations that repeated the text, with the id that what is now stored of each has."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left of the message."""
        return not self.of

    def stored(self) -> dict[str, Json]:
        kept: dict[str, Json] = {"by": self.by, "at": self.at, "now": self.now}
        if self.of:
            kept["of"] = self.of
        if self.operations:
            kept["operations"] = {str(number): id for number, id in sorted(self.operations.items())}
        return kept

    @classmethod
    def from_stored(cls, entry: Json) -> Erasure:
        """Read an entry that `stored()` wrote. Raises KeyError, TypeError or ValueError for any other."""
        operations = {int(number): id for number, id in entry.get("operations", {}).items()}
        texts = (entry["by"], entry["now"], entry.get("of", ""), *operations.values())
        if not isinstance(entry["at"], int) or not all(isinstance(text, str) for text in texts):
            raise TypeError("an erasure has other fields")
        return cls(entry["by"], entry["at"], entry["now"], entry.get("of", ""), operations)


def erased_since(entries: Mapping[str, Json], at: int) -> bool:
    """Whether a message of the conversation was erased since `at`, so that what was read before may repeat it."""
    return any(entry["at"] >= at for key, entry in entries.items() if key.startswith(ERASED))


def erasures_in(entries: Mapping[str, Json]) -> Mapping[MessageId, Erasure]:
    """The erasures of a view, by the message."""
    return {
        MessageId(key.removeprefix(ERASED)): Erasure.from_stored(entry)
        for key, entry in entries.items()
        if key.startswith(ERASED)
    }


def rewritten_operations(operations: Iterable[Operation]) -> Mapping[int, str]:
    """Numbers of the operations that erasures rewrote, with the id of what is now stored of each."""
    found: dict[int, str] = {}
    for operation in operations:
        if operation.verb == VERB:
            for change in operation.changes:
                if change.key.startswith(ERASED) and isinstance(change.after, Mapping):
                    found.update({int(n): id for n, id in change.after.get("operations", {}).items()})
    return found


def copies_of(message: MessageId, messages: Iterable[Message]) -> tuple[Message, ...]:
    """The message, and those that were copied from it, also by way of another copy, with the same content."""
    found: dict[MessageId, Message] = {}
    waiting = tuple(messages)
    first = next((one for one in waiting if one.id == message), None)
    content = first.parts if first is not None else None
    ids = {message}
    while True:
        more = [
            one
            for one in waiting
            if one.id not in found
            and (one.id in ids or (not ids.isdisjoint(one.sources) and content in (None, one.parts)))
        ]
        if not more:
            return tuple(found.values())
        for one in more:
            found[one.id] = one
            ids.add(one.id)


def said_erased(at: int) -> str:
    """What stands in the place of a passage that was erased. By whom is in the view, under a name that can change."""
    day = datetime.fromtimestamp(at / 1e6, UTC).date().isoformat()
    return f"[erased on {day}]"


def tombstone(message: Message) -> Message:
    """The message with nothing left of what it said. It keeps its id, its place and who spoke."""
    return _with_parts(message, (TextPart(NOTHING_LEFT),))


def id_now(message: Message) -> str:
    """The id that the stored content of a message has; another one than its own after an erasure."""
    return message_id(message.parents, message.role, message.parts, message.name)


def operation_id_now(operation: Operation) -> str:
    """The id that the stored content of an operation has; another one than its own after an erasure."""
    return operation_id(
        operation.previous,
        number=operation.number,
        at=operation.at,
        actor=operation.actor,
        verb=operation.verb,
        summary=operation.summary,
        changes=operation.changes,
        group=operation.group,
        reverts=operation.reverts,
    )


class Passages:
    """The texts of erased messages, found again wherever they are repeated, also in part.

    A repetition is any run of at least `PASSAGE` characters that both texts have, with the same white space or with all
    of it folded to single spaces.
    """

    def __init__(self, messages: Iterable[Message], instead: str) -> None:
        """`instead` takes the place of what is cut out."""
        self.instead = instead
        texts = [text.strip() for message in messages for part in message.parts for text in _texts_of(part)]
        forms = dict.fromkeys(form for text in texts for form in (text, " ".join(text.split())) if form)
        self._long = [form for form in forms if len(form) >= PASSAGE]
        lines = (line.strip(" \t#>*-`") for form in forms for line in form.splitlines())
        short = dict.fromkeys(line for line in (*forms, *lines) if _SHORT <= len(line) < PASSAGE)
        self._short = re.compile(
            "|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in sorted(short, key=len, reverse=True))
            if short
            else r"(?!)"
        )
        self._written = tuple(
            dict.fromkeys(
                written
                for form in forms
                for one in (form,)
                for written in (one, _escaped(one), _escaped(one, ascii=True), escape(one))
            )
        )

    def __bool__(self) -> bool:
        return bool(self._written)

    def cut(self, text: str, *, short: bool = False) -> str:
        """The text without its repetitions. With `short`, lines of the erased text count from eight characters on."""
        spans = sorted(span for form in self._long for span in _common(form, text))
        found: list[str] = []
        end = 0
        for start, stop in spans:
            if start >= end:
                found += [text[end:start], self.instead]
            end = max(end, stop)
        left = "".join((*found, text[end:])) if spans else text
        return self._short.sub(lambda _: self.instead, left) if short else left

    def cut_json(self, value: Json, *, short: bool = False) -> Json:
        """A JSON value in which each text was cut."""
        match value:
            case str():
                return self.cut(value, short=short)
            case Mapping():
                return {
                    key: kept if key in _NAMES else self.cut_json(kept, short=short)
                    for key, kept in value.items()
                }
            case list():
                return [self.cut_json(one, short=short) for one in value]
            case _:
                return value

    def cut_encoded(self, text: str) -> str:
        """A text that may be JSON, with repetitions of the text in the way that such a text writes it."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            if not isinstance(value, str):
                cut = self.cut_json(value, short=True)
                return text if cut == value else json.dumps(cut, ensure_ascii=False)
        for written in self._written:
            if len(written) >= _SHORT:
                text = text.replace(written, self.instead)
        return self.cut(text, short=True)

    def are_in(self, text: str) -> bool:
        """Whether a text, JSON or a web page repeats any of them."""
        if self.cut_encoded(text) != text:
            return True
        if "<" not in text:
            return False
        shown = " ".join(unescape(_MARKUP.sub("", text)).split())
        return self.cut(shown, short=True) != shown

    def cut_message(self, message: Message, *, short: bool = False) -> Message:
        """The message with its repetitions cut out; the same object if it has none."""
        parts = tuple(self.cut_part(part, short=short) for part in message.parts)
        return message if parts == message.parts else _with_parts(message, parts)

    def cut_part(self, part: Part, *, short: bool = False) -> Part:
        stored = part.stored()
        cut = self.cut_json(stored, short=short)
        return part if cut == stored else part_from_stored(cut)

    def cut_operation(self, operation: Operation) -> Operation:
        """The operation with its repetitions cut out of its summary and values; the same object if it has none."""
        summary = self.cut(operation.summary, short=True)
        changes = tuple(self._cut_change(change) for change in operation.changes)
        if summary == operation.summary and changes == operation.changes:
            return operation
        return Operation(
            operation.conversation,
            operation.number,
            operation.id,
            operation.previous,
            operation.at,
            operation.actor,
            operation.verb,
            summary,
            changes,
            operation.group,
            operation.reverts,
        )

    def _cut_change(self, change: Change) -> Change:
        if change.key.startswith(ERASED):
            return change
        before, after = (self.cut_json(value, short=True) for value in (change.before, change.after))
        return (
            change if (before, after) == (change.before, change.after) else Change(change.key, before, after)
        )


def _with_parts(message: Message, parts: Sequence[Part]) -> Message:
    return Message(
        message.id,
        message.parents,
        message.role,
        tuple(parts),
        message.name,
        message.created,
        message.sources,
        message.hidden,
    )


def _texts_of(part: Part) -> Iterator[str]:
    """Every text that a part holds, also within JSON."""
    if isinstance(part, AttachmentPart):
        yield part.name
        return
    waiting: list[Any] = [part.stored()]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as fields:
                waiting.extend(value for key, value in fields.items() if key not in _NAMES)
            case list() as items:
                waiting.extend(items)


def _escaped(text: str, *, ascii: bool = False) -> str:
    return json.dumps(text, ensure_ascii=True)[1:-1] if ascii else canonical_json(text)[1:-1]


def _common(form: str, text: str) -> Iterator[tuple[int, int]]:
    """Where `text` has runs of at least `PASSAGE` characters that `form` has, too.

    Any such run contains one of the windows of half that length into which `form` is divided, so only these are
    searched for.
    """
    half = PASSAGE // 2
    for at in range(0, len(form) - half + 1, half):
        window = form[at : at + half]
        place = text.find(window)
        while place >= 0:
            start, stop = place, place + half
            left, right = at, at + half
            while start and left and text[start - 1] == form[left - 1]:
                start, left = start - 1, left - 1
            while stop < len(text) and right < len(form) and text[stop] == form[right]:
                stop, right = stop + 1, right + 1
            if stop - start >= PASSAGE:
                yield start, stop
            place = text.find(window, max(stop - half + 1, place + 1))
