"""Rewrites a conversation as another one: a part of it, without merges, or with texts replaced.

Ids are hashes of content (law 1), so changing a message changes its id and all ids below. Here every reference to a
message is updated: parents, payloads, reverts, claims, pins, branches, tags, kept tips, model calls. The copy lacks the
log, stashes and source fields, which would reveal what was left out. The original is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from forky_core.context.citing import SOURCES
from forky_core.conversation.identity import free_name
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import StoredMessages, files_named, files_of, linked, naming, only
from forky_core.formats.forky_file.stored_log import each_call
from forky_core.merge.payload_copy import with_new_ids
from forky_core.model import Blob, ConversationId, Generation, Message, MessageId, Role, Stem, View, seal
from forky_core.model.document import CitedPassage, DocumentSearch
from forky_core.model.graph import ancestors, parents_in
from forky_core.model.hashing import content_hash
from forky_core.model.parts import AttachmentPart, Draft, Json, MergePart, Part, TextPart, part_from_stored

Word = Callable[[str], str]
Known = Callable[[str], MessageId | None]
"""Maps the id of an original to that of the new message; None if the text is no id, or the message is left out."""
_CITED = re.compile(r"\((b2:[0-9a-f]{32})\)")
_SHARED = ("title", "heads", "rules", "tags", "kept", "erased", "forked_from")
"""Keys of a view that are copied."""
Make = Callable[[Message], Message | None]
"""Generates the new message for an original, always the same one; None leaves it out."""


@dataclass(frozen=True, slots=True)
class RewriteRules:
    """How to rewrite a conversation."""

    why: str
    """A word that the new conversation's id is derived from: the same rewriting gives the same copy."""
    keeps: Callable[[Message], bool] = lambda _message: True
    """Which messages to keep. Children of others are attached to the nearest kept ancestor."""
    parts: Callable[[Message], tuple[Part, ...]] = lambda message: message.parts
    word: Word = lambda text: text
    """Rewrites every text of a person or a model, including names and titles."""
    file: Callable[[Blob], Blob] = lambda blob: blob
    merges: bool = True
    """Whether messages keep their second and further parents."""
    names: bool = True
    """Whether messages keep their authors' names."""


def visible(chat: Chat) -> Chat:
    """The visible part of a conversation, unchanged: without the log, stashes and undone messages."""
    entries = {key: value for key, value in chat.entries.items() if key.partition("/")[0] in _SHARED}
    seen = visible_messages(chat)
    messages = only(chat.messages, seen)
    return Chat(
        chat.id,
        messages,
        each_call(chat.generations, lambda one: one if one.message in seen else None),
        MappingProxyType(entries),
        (),
        files_of(chat.blobs, messages),
        (),
        (),
        chat.forked_from,
        chat.passage_of,
    )


def visible_messages(chat: Chat) -> frozenset[MessageId]:
    """The messages that a branch, a tag or a kept tip reaches."""
    shared = {key: value for key, value in chat.entries.items() if key.partition("/")[0] in _SHARED}
    stems = linked(chat.messages)
    return ancestors((tip for tip in View(shared, 0).tips if tip in stems), parents_in(stems))


def rewritten(chat: Chat, wanted: RewriteRules) -> Chat:
    """The copy, as a conversation forked from `chat`."""
    return _Rewriting(visible(chat), wanted).chat()


def with_only(chat: Chat, ids: Iterable[MessageId]) -> Chat:
    """A copy with only these messages, connected as in the original, with a branch at each end."""
    wanted = frozenset(ids)
    made = rewritten(
        chat, RewriteRules("chosen " + " ".join(sorted(wanted)), keeps=lambda message: message.id in wanted)
    )
    below = {parent for stem in linked(made.messages).values() for parent in stem.parents}
    return replace(made, entries=_ends(made, [id for id in made.messages if id not in below]))


def _ends(made: Chat, tips: list[MessageId]) -> Mapping[str, Json]:
    """The entries with a branch at each end, and without branches that show only what another shows."""
    entries = {key: value for key, value in made.entries.items() if key.partition("/")[0] != "kept"}
    pointed = {branch.head: name for name, branch in reversed(list(made.view.branches.items()))}
    for name in made.view.branches:
        if name not in {pointed[tip] for tip in tips if tip in pointed}:
            entries.pop(f"heads/{name}")
            entries.pop(f"rules/{name}", None)
    for tip in tips:
        if tip not in pointed:
            taken = {key.removeprefix("heads/") for key in entries if key.startswith("heads/")}
            entries[f"heads/{free_name('main', taken)}"] = {"at": tip}
    if not any(key.startswith("heads/") for key in entries):
        entries["heads/main"] = {"at": None}
    return MappingProxyType(entries)


@dataclass(slots=True)
class _Rewriting:
    source: Chat
    wanted: RewriteRules
    place: dict[str, int] = field(default_factory=dict)
    """For each kept original, its position: a message can refer only to earlier ones, so that its rewriting does not
    depend on when it is made.
    """
    ids: list[MessageId] = field(default_factory=list)
    """The new messages' ids, by position."""
    above: dict[str, MessageId | None] = field(default_factory=dict)
    """For each original that is left out, the new message of its nearest kept ancestor."""
    originals: list[str] = field(default_factory=list)
    """The ids of all originals, sorted; [] until the first payload needs them."""
    files: dict[str, Blob] = field(default_factory=dict)
    """For each old file, the new one."""
    branches: dict[str, str] = field(default_factory=dict)

    def chat(self) -> Chat:
        self.files = {sha256: self.wanted.file(blob) for sha256, blob in self.source.blobs.items()}
        messages = remade(self.source.messages, self._made)
        entries = self._entries()
        title = entries.get("title", "")
        origin = {"id": str(self.source.id), "name": title}
        entries["forked_from"] = origin
        named = frozenset(files_named(messages))
        blobs = {blob.sha256: blob for blob in self.files.values() if blob.sha256 in named}
        return Chat(
            _derived_id(self.source.id, self.wanted.why),
            messages,
            each_call(self.source.generations, self._generation),
            MappingProxyType(entries),
            blobs=MappingProxyType(blobs),
            forked_from=MappingProxyType(origin),
            passage_of=self._passage,
        )

    def _passage(self, address: str) -> CitedPassage | None:
        one = self.source.passage_of(address)
        if one is None:
            return None
        word = self.wanted.word
        return replace(one, name=word(one.name), place=word(one.place), text=word(one.text))

    def _made(self, message: Message) -> Message | None:
        """The new message of an original. The first calls must be in the order the messages were written."""
        before = self.place.get(message.id, len(self.ids))
        known = partial(self._new, before)
        context = self._context(message.parent, before)
        if not self.wanted.keeps(message):
            self.above[message.id] = context
            return None
        parts = tuple(self._part(part, known) for part in self.wanted.parts(message))
        name = self.wanted.word(message.name) if message.name is not None and self.wanted.names else None
        sources = tuple(new for id in message.sources if (new := known(id)) is not None)
        sides = message.parents[1:] if self.wanted.merges and context is not None else ()
        parents = dict.fromkeys((context, *map(known, sides)))
        role: Role = message.role
        made = seal(
            Draft(role, parts, name, sources), parents, created=message.created, hidden=message.hidden
        )
        if message.id not in self.place:
            self.place[message.id] = before
            self.ids.append(made.id)
        return made

    def _new(self, before: int, old: str) -> MessageId | None:
        """The new id of an original among the first `before` messages."""
        at = self.place.get(old, before)
        return self.ids[at] if at < before else None

    def _all(self, old: str) -> MessageId | None:
        return self._new(len(self.ids), old)

    def _context(self, old: str | None, before: int) -> MessageId | None:
        """The new id of an original, or of its nearest kept ancestor."""
        if old is None:
            return None
        return self.above[old] if old in self.above else self._new(before, old)

    def _part(self, part: Part, known: Known) -> Part:
        if isinstance(part, TextPart):
            text = self._json(part.text, known)
            return part if text == part.text else TextPart(text)
        if isinstance(part, AttachmentPart):
            file = self.files.get(part.sha256)
            sha256 = file.sha256 if file is not None else part.sha256
            return replace(part, sha256=sha256, name=self.wanted.word(part.name))
        stored = part.stored()
        if isinstance(part, MergePart):
            self.originals = self.originals or sorted(self.source.messages)
            cited = (*part.messages, *part.omitted)
            stored["text"] = with_new_ids(part.text, cited, self.originals, known)
        signature = stored.pop("provider_metadata", None)
        made = self._json(stored, known)
        if signature is not None and made == stored:
            # A provider's signature is useless once a word of the text is changed.
            made["provider_metadata"] = signature
        return part if made == part.stored() else part_from_stored(made)

    def _json(self, value: Json, known: Known) -> Json:
        """`value` with every text rewritten and every id updated; ids of messages that are left out are dropped from
        lists.
        """
        if isinstance(value, str):
            return known(value) or self._follow(self.wanted.word(value), known)
        if isinstance(value, list):
            return [self._json(item, known) for item in value if not (is_id(item) and known(item) is None)]
        if isinstance(value, dict):
            return {self.wanted.word(key): self._json(item, known) for key, item in value.items()}
        return value

    def _follow(self, text: str, known: Known) -> str:
        """Update the ids of answers that an answer cites in its text."""
        if SOURCES not in text:
            return text
        return _CITED.sub(lambda found: f"({known(found[1]) or found[1]})", text)

    def _branch(self, name: str) -> str:
        """The new name of a branch or tag; distinct names stay distinct."""
        if name not in self.branches:
            self.branches[name] = free_name(self.wanted.word(name), set(self.branches.values()))
        return self.branches[name]

    def _entries(self) -> dict[str, Json]:
        entries: dict[str, Json] = {}
        for key, value in sorted(self.source.entries.items()):
            kind, _, name = key.partition("/")
            if kind == "title":
                entries["title"] = self.wanted.word(str(value))
            elif kind in ("heads", "tags"):
                at = self._context(value["at"], len(self.ids))
                if at is not None or kind == "heads":
                    entries[f"{kind}/{self._branch(name)}"] = {"at": at}
            elif kind == "rules":
                entries[f"rules/{self._branch(name)}"] = self._json(value, self._all)
            elif kind == "kept" and (tip := self._context(name, len(self.ids))) is not None:
                entries[f"kept/{tip}"] = True
        return entries

    def _generation(self, one: Generation) -> Generation | None:
        made = self._all(one.message) if one.message is not None else None
        if made is None:
            return None
        return replace(
            one,
            branch=self.wanted.word(one.branch),
            parent=self._context(one.parent, len(self.ids)),
            message=made,
            parameters=MappingProxyType(self._json(dict(one.parameters), self._all)),
            failure=replace(one.failure, sentence=self.wanted.word(one.failure.sentence))
            if one.failure is not None
            else None,
            partial=(),
            consulted=self._consulted(one.consulted) if one.consulted is not None else None,
        )

    def _consulted(self, document_search: DocumentSearch) -> DocumentSearch:
        word = self.wanted.word
        passages = tuple(
            replace(one, source=word(one.source), address=self._all(one.address) or one.address)
            for one in document_search.passages
        )
        return DocumentSearch(word(document_search.search), passages, word(document_search.trouble))


def is_id(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("b2:") and len(value) == 35


def _derived_id(source: ConversationId, why: str) -> ConversationId:
    """A version-8 UUID (RFC 9562 §5.8): the same copy of the same conversation has the same id."""
    value = int(content_hash([source, why]).removeprefix("b2:"), 16)
    value = value & ~(0xF << 76) | 8 << 76
    value = value & ~(0x3 << 62) | 2 << 62
    digits = f"{value:032x}"
    return ConversationId("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))


def texts_of(part: Part) -> tuple[str, ...]:
    """Every text of a part that a person or a model wrote, as passed to `RewriteRules.word`."""
    if isinstance(part, TextPart):
        return (part.text,)
    if isinstance(part, AttachmentPart):
        return (part.name,) if part.name else ()
    stored = part.stored()
    stored.pop("provider_metadata", None)
    return tuple(strings(stored))


def strings(value: Json) -> Iterable[str]:
    """Every string in a value, including names of fields, in order."""
    open_values = [value]
    while open_values:
        value = open_values.pop(0)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            open_values[:0] = value
        elif isinstance(value, dict):
            open_values[:0] = [*value, *value.values()]


class Remade:
    """A `MessageSource` of rewritten messages, which are made from the originals each time they are read.

    For each message, only its new id, its original's id and its stem are in memory.
    """

    def __init__(self, originals: StoredMessages, make: Make) -> None:
        self.stems: dict[MessageId, Stem] = {}
        self._originals = originals
        self._make = make
        self._old: dict[MessageId, MessageId] = {}
        self._named: list[tuple[MessageId, str]] = []
        for message in originals.in_order():
            made = make(message)
            if made is not None and made.id not in self._old:
                self._old[made.id] = message.id
                self.stems[made.id] = Stem(made.parents, made.created, made.hidden)
                self._named += naming((made,))

    def one(self, id: MessageId) -> Message:
        made = self._make(self._originals[self._old[id]])
        assert made is not None
        return made

    def all(self) -> Iterator[Message]:
        for message in self._originals.in_order():
            made = self._make(message)
            if made is not None and self._old[made.id] == message.id:
                yield made

    def files(self) -> Iterator[tuple[MessageId, str]]:
        return iter(self._named)


def remade(originals: Mapping[MessageId, Message], make: Make) -> Mapping[MessageId, Message]:
    """All messages that `make` generates; those of a conversation in memory are in memory as well."""
    if isinstance(originals, StoredMessages):
        return StoredMessages(Remade(originals, make))
    made = (make(message) for message in originals.values())
    found: dict[MessageId, Message] = {}
    for one in made:
        if one is not None:
            found.setdefault(one.id, one)
    return found
