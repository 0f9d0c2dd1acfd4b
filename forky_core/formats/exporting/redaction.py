"""Private data in a conversation that is to be shared: finding it with its places, and a copy without it.

The copy is another conversation, forked from the original: changed text means other messages, with other ids from there
on down (rewriting.py). A value has one placeholder everywhere, even where its context did not identify it as private.
The conversation in the store is never changed.

Everything that would be exported is searched. A complete Forky file holds more than is visible: undone messages,
stashes, the log, source fields; a secret in them would be exported like any other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from forky_core.context.citing import documents_cited
from forky_core.formats.exporting.outline import outline
from forky_core.formats.exporting.private_words import Kind, private_words
from forky_core.formats.exporting.rewriting import RewriteRules, is_id, rewritten, strings, texts_of, visible
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Blob, Generation, Message
from forky_core.model.document import CitedPassage
from forky_core.model.left_out import placeholder
from forky_core.model.parts import Json, ToolCallPart, canonical_json

_AROUND = 40
"""Characters that are shown before and after a finding."""
_FEW = 100
"""Number of values up to which searching for one after the other is faster than for all of them at every position."""
_LARGEST = 1_000_000
"""The most bytes of an attachment that is searched."""


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a value occurs."""

    where: str
    """E.g. "message 3", "the title"."""
    before: str
    after: str
    """The text around it, on one line."""


@dataclass(frozen=True, slots=True)
class PrivateValue:
    """One value that looks private."""

    kind: Kind
    value: str
    placeholder: str
    """Its replacement, e.g. `[e-mail 1]`: the same in every copy of this conversation."""
    places: tuple[ValuePlace, ...]


def findings(chat: Chat) -> tuple[PrivateValue, ...]:
    """Find private data in `chat`: first in its visible part in reading order, then in the rest."""
    plain = visible(chat)
    return found_in(chain(_texts(plain), _behind(chat, plain)))


def found_in(texts: Iterable[tuple[str, str]]) -> tuple[PrivateValue, ...]:
    """Find private data in `texts`, each of which comes after the name of its place."""
    places: dict[tuple[Kind, str], list[ValuePlace]] = {}
    for where, text in texts:
        for one in private_words(text):
            before = text[max(0, one.start - _AROUND) : one.start]
            after = text[one.start + len(one.value) :][:_AROUND]
            place = ValuePlace(where, " ".join(before.split()), " ".join(after.split()))
            places.setdefault((one.kind, one.value), []).append(place)
    numbers: dict[Kind, int] = {}
    found = []
    for (kind, value), at in places.items():
        numbers[kind] = numbers.get(kind, 0) + 1
        found.append(PrivateValue(kind, value, placeholder(kind, numbers[kind]), tuple(dict.fromkeys(at))))
    return tuple(found)


def redacted(chat: Chat, ticked: Iterable[PrivateValue]) -> Chat:
    """A copy in which placeholders replace the `ticked` values; `chat` itself if there are none."""
    chosen = tuple(ticked)
    if not chosen:
        return chat
    word = _replacing(chosen)
    why = "redacted " + " ".join(sorted(finding.placeholder for finding in chosen))
    return rewritten(chat, RewriteRules(why, word=word, file=lambda blob: _file(blob, word)))


def reworded(text: str, ticked: Iterable[PrivateValue]) -> str:
    """A text as it appears in the copy."""
    chosen = tuple(ticked)
    return _replacing(chosen)(text) if chosen else text


def rewording(ticked: Iterable[PrivateValue]) -> Callable[[str], str]:
    """A function that returns each text as it appears in the copy, for many texts."""
    chosen = tuple(ticked)
    return _replacing(chosen) if chosen else str


def unread_files(chat: Chat) -> tuple[str, ...]:
    """Names of the attachments that were not searched: pictures, archives, very large texts."""
    return tuple(blob.name or blob.media_type for blob in chat.blobs.values() if _text_of(blob) is None)


def _texts(chat: Chat) -> Iterator[tuple[str, str]]:
    """Every exported text, with a name of its place."""
    yield "the title", chat.title
    for name, branch in chat.view.branches.items():
        yield f"the name of a branch, “{name}”", name
        yield f"the system prompt of “{name}”", branch.rules.system or ""
    for tag in chat.view.tags:
        yield f"the tag “{tag}”", tag
    number = outline(chat).number
    cited: dict[str, None] = {}
    for message in chat.messages.values():
        where = f"message {number[message.id]}" if message.id in number else "a hidden message"
        yield from _of_message(message, where)
        cited.update(dict.fromkeys(documents_cited(message.text)))
    for call in chat.generations:
        yield from _of_call(call)
    for blob in chat.blobs.values():
        yield from _of_file(blob)
    for address in cited:
        yield from _of_passage(chat.passage_of(address))


def _behind(chat: Chat, plain: Chat) -> Iterator[tuple[str, str]]:
    """The invisible texts of a file: undone, stashed, logged, or from another program."""
    for message in _undone(chat, plain):
        yield from _of_message(message, "an undone message")
        for address in documents_cited(message.text):
            yield from _of_passage(chat.passage_of(address))
    shown = {call.id for call in plain.generations}
    for call in chat.generations:
        if call.id not in shown:
            yield from _of_call(call)
    for blob in chat.blobs.values():
        if blob.sha256 not in plain.blobs:
            yield from _of_file(blob)
    for key, entry in chat.entries.items():
        if key not in plain.entries:
            kind, _, name = key.partition("/")
            where = f"stash {name}" if kind == "stash" else f"“{key}”"
            yield from ((where, text) for text in _words(entry))
    yield from _of_log(chat)
    for row in chat.origins:
        yield from (("what another program kept of a message", text) for text in _words(dict(row)))
    for other in chat.other_lines:
        yield "a line of another version", other
        yield from (("a line of another version", text) for text in _words(json.loads(other)))
    if chat.forked_from is not None:
        yield "the conversation it was forked from", str(chat.forked_from.get("name", ""))


def _undone(chat: Chat, plain: Chat) -> Iterator[Message]:
    if len(plain.messages) < len(chat.messages):
        yield from (message for message in chat.messages.values() if message.id not in plain.messages)


def _of_log(chat: Chat) -> Iterator[tuple[str, str]]:
    """The texts of the log, each once, at its first operation, since a log repeats most of them."""
    told: set[str] = set()
    for operation in chat.operations:
        values = ([one.key, one.before, one.after] for one in operation.changes)
        texts = chain((operation.actor, operation.summary), *map(_words, values))
        for text in texts:
            if text not in told:
                told.add(text)
                yield f"the log, operation {operation.number}", text


def _of_message(message: Message, where: str) -> Iterator[tuple[str, str]]:
    if message.name:
        yield f"the author of {where}", message.name
    for part in message.parts:
        yield from ((where, text) for text in texts_of(part))
        if isinstance(part, ToolCallPart):
            yield where, part.arguments


def _of_call(call: Generation) -> Iterator[tuple[str, str]]:
    yield "the branch an answer was asked on", call.branch
    yield "why an answer failed", call.failure.sentence if call.failure is not None else ""
    if call.consulted is not None:
        yield "what documents were searched for", call.consulted.search
        yield from (("what was found in documents", one.source) for one in call.consulted.passages)
    yield from (("the parameters of an answer", text) for text in _words(dict(call.parameters)))
    for part in call.partial:
        yield from (("an answer that was broken off", text) for text in texts_of(part))


def _of_passage(passage: CitedPassage | None) -> Iterator[tuple[str, str]]:
    if passage is not None:
        where = f"a passage of “{passage.name}”"
        yield from ((where, text) for text in (passage.name, passage.place, passage.text))


def _of_file(blob: Blob) -> Iterator[tuple[str, str]]:
    yield f"the attachment “{blob.name}”", blob.name
    yield f"the attachment “{blob.name}”", _text_of(blob) or ""


def _words(value: Json) -> Iterator[str]:
    """The strings in a value, and the value as JSON if the names of its fields may identify a private string."""
    found = [text for text in strings(value) if not is_id(text)]
    yield from found
    if len(found) > 1:
        yield canonical_json(value)


def _text_of(blob: Blob) -> str | None:
    """The text of a file; None if it is no text or too large."""
    if len(blob.content) > _LARGEST or b"\0" in blob.content:
        return None
    try:
        return blob.content.decode()
    except UnicodeDecodeError:
        return None


def _file(blob: Blob, word: Callable[[str], str]) -> Blob:
    text = _text_of(blob)
    said = word(text) if text is not None else None
    if said is None or said == text:
        return replace(blob, name=word(blob.name))
    content = said.encode()
    return Blob(hashlib.sha256(content).hexdigest(), blob.media_type, word(blob.name), content)


def _replacing(chosen: Iterable[PrivateValue]) -> Callable[[str], str]:
    """A function that replaces each value wherever it is a whole word, the longest first."""
    instead = {finding.value: finding.placeholder for finding in chosen}
    values = sorted(instead, key=len, reverse=True)
    pattern = re.compile("|".join(map(_whole, values)))
    few = len(values) <= _FEW

    def word(text: str) -> str:
        if few and not any(map(text.__contains__, values)):
            return text
        return pattern.sub(lambda match: instead[match.group()], text)

    return word


def _whole(value: str) -> str:
    # A `_` beside it may be Markdown's, or the end of a token; scripts without spaces write right beside it.
    before = r"(?<![A-Za-zÀ-ɏ0-9])" if value[0].isalnum() else ""
    after = r"(?![A-Za-zÀ-ɏ0-9])" if value[-1].isalnum() else ""
    return f"{before}{re.escape(value)}{after}"
