"""The nouns of Forky as frozen values: messages, branches, generations, operations and the view they add up to.

History is Operation → View, as in jj: a view is the whole movable state of one conversation at one moment (its
title, branches with their rules, tags, kept tips, stashes); an operation is one recorded difference between two
views. Messages never change, so undo only ever swaps views (laws 1, 4 and 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NewType, Protocol

from forky_core.document import DocumentId, DocumentUse, Looked
from forky_core.hashing import content_hash, mend_part, mend_text, message_id
from forky_core.memory import EVERYTHING, Memory
from forky_core.parts import Draft, Json, MergePart, Part, RevertPart, TextPart
from forky_core.room import Room, room_in

MessageId = NewType("MessageId", str)
"""`b2:` + 32 hex digits: the path hash of hashing.py. Unique inside a conversation."""
ConversationId = NewType("ConversationId", str)
"""A version-7 UUID as 36 characters."""
GenerationId = NewType("GenerationId", str)
"""A version-7 UUID as 36 characters."""

Role = Literal["system", "user", "assistant", "tool"]
GenerationStatus = Literal["running", "done", "stopped", "interrupted", "failed"]
"""`stopped`: by the person. `interrupted`: cut by the network, the provider or a crash. `failed`: nothing arrived."""


@dataclass(frozen=True, slots=True)
class Message:
    """One immutable node. Equal ids mean equal content and equal history."""

    id: MessageId
    parents: tuple[MessageId, ...]
    """Parent 0 is the context; the others are provenance and are never walked when reading (law 3)."""
    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    """The author, where there can be more than one."""
    created: int = 0
    """Microseconds since the epoch, UTC. Provenance: not hashed."""
    sources: tuple[MessageId, ...] = ()
    """What it was copied from. Provenance: not hashed."""
    hidden: bool = False
    """Structural nodes of an import, not shown and not merged. Provenance: not hashed."""

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None

    @property
    def text(self) -> str:
        """The words of its text parts, and of a merge its block."""
        if len(self.parts) == 1 and isinstance(only := self.parts[0], TextPart):
            return only.text
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart | MergePart))

    @property
    def merge(self) -> MergePart | None:
        """Its payload; of an octopus the first one."""
        return next((part for part in self.parts if isinstance(part, MergePart)), None)

    @property
    def merges(self) -> tuple[MergePart, ...]:
        """Its payloads: an octopus has one for each source."""
        return tuple(part for part in self.parts if isinstance(part, MergePart))

    @property
    def reverts(self) -> tuple[MessageId, ...]:
        """What it takes back, from itself on."""
        return tuple(
            MessageId(id) for part in self.parts if isinstance(part, RevertPart) for id in part.targets
        )


class Stem(NamedTuple):
    """A message without what it says: all that is asked of it to know how a conversation hangs together."""

    parents: tuple[MessageId, ...]
    created: int = 0
    hidden: bool = False

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None


class Linked(Protocol):
    """What a message and its stem have in common."""

    @property
    def parents(self) -> tuple[MessageId, ...]: ...
    @property
    def parent(self) -> MessageId | None: ...
    @property
    def created(self) -> int: ...
    @property
    def hidden(self) -> bool: ...


def seal(
    draft: Draft, parents: Iterable[MessageId | None], *, created: int = 0, hidden: bool = False
) -> Message:
    """The message `draft` becomes below these parents. Unencodable text is mended first."""
    at = tuple(parent for parent in parents if parent is not None)
    parts = tuple(mend_part(part) for part in draft.parts)
    name = mend_text(draft.name) if draft.name is not None else None
    sources = tuple(MessageId(source) for source in draft.sources)
    return Message(
        MessageId(message_id(at, draft.role, parts, name)),
        at,
        draft.role,
        parts,
        name,
        created,
        sources,
        hidden,
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """What a branch does beyond pointing (law 4). Changing them forks nothing and rewrites nothing."""

    system: str | None = None
    """The branch's own system prompt; None: whatever system message the chain holds."""
    model: str | None = None
    """Name of the model that answers; None: the workspace's default."""
    parameters: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Model parameters such as `temperature`, by their OpenAI names."""
    pins: tuple[MessageId, ...] = ()
    """What a memory policy must keep."""
    exclusions: tuple[MessageId, ...] = ()
    """What is in no context of this branch."""
    memory: Memory | None = None
    """The branch's own memory policy; None: the conversation's."""
    documents: DocumentUse = field(default_factory=DocumentUse)
    """What its answers may quote."""
    others: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Fields of a later version, kept as they are."""

    def stored(self) -> dict[str, Json]:
        """Only what differs from the default."""
        entry: dict[str, Json] = dict(self.others)
        if self.system is not None:
            entry["system"] = self.system
        if self.model is not None:
            entry["model"] = self.model
        if self.parameters:
            entry["parameters"] = dict(self.parameters)
        if self.pins:
            entry["pins"] = list(self.pins)
        if self.exclusions:
            entry["exclusions"] = list(self.exclusions)
        if self.memory is not None:
            entry["memory"] = self.memory.stored()
        if documents := self.documents.stored():
            entry["documents"] = documents
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> Rules:
        return cls(
            entry.get("system"),
            entry.get("model"),
            MappingProxyType(dict(entry.get("parameters", {}))),
            tuple(MessageId(i) for i in entry.get("pins", ())),
            tuple(MessageId(i) for i in entry.get("exclusions", ())),
            Memory.from_stored(entry["memory"]) if "memory" in entry else None,
            DocumentUse.from_stored(entry.get("documents", {})),
            MappingProxyType({key: value for key, value in entry.items() if key not in _RULES}),
        )


_RULES = frozenset({"system", "model", "parameters", "pins", "exclusions", "memory", "documents"})


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    head: MessageId | None
    """None: an empty branch, to which nothing has been said."""
    rules: Rules


@dataclass(frozen=True, slots=True)
class Stash:
    """A line of thought put aside: what was typed, its attachments and settings, or a run of messages."""

    number: int
    note: str
    draft: str = ""
    attachments: tuple[str, ...] = ()
    """sha256 of each; the bytes are in the store."""
    rules: Rules | None = None
    messages: tuple[MessageId, ...] = ()
    """First-parent run, oldest first."""
    created: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the view before and after; None means that the key is absent."""

    key: str
    before: Json | None
    after: Json | None


Verb = str
"""What was done, as the History page says it: "ask", "reply", "fork", "merge", "undo", "restore" …"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One recorded change of a conversation's view (law 5)."""

    conversation: ConversationId
    number: int
    """1 for the operation that created the conversation, without gaps."""
    id: str
    """`content_hash` over the previous operation's id and `stored()`: the chain that makes tampering show."""
    previous: str | None
    at: int
    """Microseconds since the epoch, UTC."""
    actor: str
    verb: Verb
    summary: str
    """One line for people, e.g. 'Forked “debug” at 3f2a'."""
    changes: tuple[Change, ...]
    group: int | None = None
    """Number of the first operation of a gesture that took several (a question and its reply): undone together."""
    reverts: tuple[int, ...] = ()
    """For undo: the operations taken back. For redo: the undo taken back."""

    @property
    def sentence(self) -> str:
        """The summary with its full stop; one that was cut, or asks, ends already."""
        return self.summary if self.summary.endswith(("…", ".", "!", "?")) else f"{self.summary}."


def operation_id(  # noqa: PLR0913 - the fields of an operation, each of them hashed
    previous: str | None,
    *,
    number: int,
    at: int,
    actor: str,
    verb: Verb,
    summary: str,
    changes: Iterable[Change],
    group: int | None,
    reverts: Iterable[int],
) -> str:
    """The chained id of an operation."""
    return content_hash(
        {
            "previous": previous,
            "operation": {
                "number": number,
                "at": at,
                "actor": actor,
                "verb": verb,
                "summary": summary,
                "changes": [[c.key, c.before, c.after] for c in changes],
                "group": group,
                "reverts": list(reverts),
            },
        }
    )


@dataclass(frozen=True, slots=True)
class View:
    """All that can move in one conversation, as of one operation.

    Stored as a flat mapping, one entry a key, so that an operation is a small difference:
    `title` → str · `trashed` → true · `memory` → Memory.stored() · `room` → Room.stored() ·
    `people/<name>` → Person.stored() · `heads/<branch>` → {"at": id or null} · `rules/<branch>` → Rules.stored() ·
    `documents` → ids of those that belong to the conversation ·
    `tags/<name>` → {"at": id} · `kept/<id>` → true (a tip without a branch, e.g. the reply regenerated away from) ·
    `stash/<n>` → the stash.
    """

    entries: Mapping[str, Json]
    version: int
    """Number of the operation that made it."""

    @property
    def title(self) -> str:
        title = self.entries.get("title", "")
        return title if isinstance(title, str) else ""

    @property
    def trashed(self) -> bool:
        return bool(self.entries.get("trashed"))

    @property
    def memory(self) -> Memory:
        """What branches remember that have no policy of their own."""
        entry: Any = self.entries.get("memory")
        return Memory.from_stored(entry) if entry is not None else EVERYTHING

    @property
    def room(self) -> Room:
        """Who takes part."""
        return room_in(self.entries)

    @property
    def documents(self) -> tuple[DocumentId, ...]:
        """Those that belong to the conversation."""
        entry: Any = self.entries.get("documents")
        return tuple(DocumentId(id) for id in entry) if isinstance(entry, list) else ()

    def memory_of(self, rules: Rules) -> Memory:
        """The policy that holds under these rules."""
        return rules.memory if rules.memory is not None else self.memory

    @property
    def branches(self) -> dict[str, Branch]:
        """By name, in the order of their names."""
        return {
            name: self.branch(name)
            for name in sorted(key.removeprefix("heads/") for key in self.entries if key.startswith("heads/"))
        }

    def branch(self, name: str) -> Branch:
        """KeyError where there is none of that name."""
        entry: Any = self.entries[f"heads/{name}"]
        head = MessageId(entry["at"]) if entry["at"] is not None else None
        return Branch(name, head, Rules.from_stored(self.entries.get(f"rules/{name}") or {}))

    @property
    def tags(self) -> dict[str, MessageId]:
        return {
            key.removeprefix("tags/"): MessageId(entry["at"])
            for key, entry in sorted(self.entries.items())
            if key.startswith("tags/")
        }

    @property
    def kept(self) -> tuple[MessageId, ...]:
        return tuple(
            MessageId(key.removeprefix("kept/")) for key in sorted(self.entries) if key.startswith("kept/")
        )

    @property
    def stashes(self) -> tuple[Stash, ...]:
        """Newest first, as `git stash list`."""
        return tuple(
            stash_from_stored(int(key.removeprefix("stash/")), entry)
            for key, entry in sorted(
                ((k, e) for k, e in self.entries.items() if k.startswith("stash/")),
                key=lambda item: -int(item[0].removeprefix("stash/")),
            )
        )

    @property
    def tips(self) -> frozenset[MessageId]:
        """Every message a ref names. What is visible is these and their ancestors."""
        stashed = (stash.messages[-1] for stash in self.stashes if stash.messages)
        heads = (branch.head for branch in self.branches.values() if branch.head is not None)
        return frozenset((*heads, *self.tags.values(), *self.kept, *stashed))

    def apply(self, changes: Iterable[Change], version: int) -> View:
        entries = dict(self.entries)
        for change in changes:
            if change.after is None:
                entries.pop(change.key, None)
            else:
                entries[change.key] = change.after
        return View(MappingProxyType(entries), version)


EMPTY_VIEW = View(MappingProxyType({}), 0)


def stash_stored(stash: Stash) -> dict[str, Json]:
    entry: dict[str, Json] = {"note": stash.note, "created": stash.created}
    if stash.draft:
        entry["draft"] = stash.draft
    if stash.attachments:
        entry["attachments"] = list(stash.attachments)
    if stash.rules is not None:
        entry["rules"] = stash.rules.stored()
    if stash.messages:
        entry["messages"] = list(stash.messages)
    return entry


def stash_from_stored(number: int, entry: Mapping[str, Json]) -> Stash:
    return Stash(
        number,
        entry["note"],
        entry.get("draft", ""),
        tuple(entry.get("attachments", ())),
        Rules.from_stored(entry["rules"]) if "rules" in entry else None,
        tuple(MessageId(i) for i in entry.get("messages", ())),
        entry.get("created", 0),
    )


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider counted them; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the prompt tokens, how many the provider read from its cache."""
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    """US dollars, by LiteLLM's price map; None where the price is not known. Offline models cost 0.0."""
    saved: float | None = None
    """US dollars the provider's prompt cache saved."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a generation did not end well. Shown beside the history, never inside it (law 6)."""

    kind: str
    """A word of `llm.contract.FailureKind`, or "crash", "stopped"."""
    sentence: str
    """What happened and what to do, for people. Holds no key."""
    retry_after: float | None = None
    """Seconds, where the provider said so."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One model call and what came of it (law 2: provenance lives here, apart from content)."""

    id: GenerationId
    branch: str
    """The branch it was asked on, by the name it had then."""
    parent: MessageId | None
    """The head whose context was sent."""
    model: str
    status: GenerationStatus
    message: MessageId | None = None
    """What it produced; None while running, and where nothing arrived."""
    parameters: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    usage: Usage = Usage()
    finish_reason: str | None = None
    failure: Failure | None = None
    started: int = 0
    """Microseconds since the epoch, UTC; likewise the next two."""
    first_token: int | None = None
    finished: int | None = None
    partial: tuple[Part, ...] = ()
    """What has arrived so far of a running generation, saved at least once a second."""
    prompt: str = ""
    """The prompt hash (matching/call.py) of what was sent; "" where it was not worked out."""
    client: str = ""
    """The program that asked; "" for a person."""
    looked: bool = False
    """Whether an answer to the same prompt was looked for before the model was called."""
    reused: GenerationId | None = None
    """The call whose answer was given again; no model was called then."""
    consulted: Looked | None = None
    """What was looked up in documents for it; None where nobody asked for that."""

    @property
    def seconds(self) -> float | None:
        """From asking to its end; None while it runs."""
        return (self.finished - self.started) / 1e6 if self.finished else None

    @property
    def seconds_to_first_token(self) -> float | None:
        return (self.first_token - self.started) / 1e6 if self.first_token else None


@dataclass(frozen=True, slots=True)
class Reuse:
    """What giving stored answers again came to."""

    hits: int = 0
    misses: int = 0
    """Calls for which a stored answer was looked for and there was none."""
    tokens: int = 0
    """Prompt and completion tokens of the calls that were not made."""
    cost: float = 0.0
    """US dollars they would have cost, where the price is known."""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One line of the Library."""

    id: ConversationId
    title: str
    created: int
    updated: int
    """When its last operation was made."""
    messages: int
    branches: int
    trashed: bool
    branch: str
    """The branch that moved last: where to resume."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of an attachment."""

    sha256: str
    media_type: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that a search found."""

    conversation: ConversationId
    title: str
    message: MessageId
    role: Role
    snippet: str
    """Plain text around the first match, at most 200 characters, on one line."""
    score: float
    """Higher is better; comparable within one search only."""
    created: int
