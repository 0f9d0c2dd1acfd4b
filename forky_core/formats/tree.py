"""Turns a source's nodes into messages with ids, branches and an account: one place for every format.

Real exports have wrong lists of children, missing parents, repeated ids and cyclic chains. Therefore edges come from
the child's parent pointer; every branch is kept and the checked-out one becomes `main`; if a node is dropped, its
children are attached to the nearest kept ancestor; equal content in the same place is one message that keeps every
source id. There is no recursion: chains of a hundred thousand nodes occur.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forky_core.conversation.identity import branch_name, free_name, suggested_name
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Node, ParsedConversation
from forky_core.formats.fields import are_halves
from forky_core.model import Message, MessageId, seal
from forky_core.model.errors import BadName
from forky_core.model.hashing import mend_json, mend_text
from forky_core.model.opaque import opaque
from forky_core.model.parts import Draft, OpaquePart, Part, TextPart

MOST_TIPS = 5_000
"""The most ends of branches in one conversation; nodes that only further ones reach are left out, and counted."""
MOST_NAMED = 200
"""Ends that become named branches; the others are kept tips, reached by the picker and the graph."""

EMPTY = "It holds nothing."
STRUCTURE = "It only holds the tree together."
TOO_MANY = f"Only the first {MOST_TIPS:,} branches of a conversation are kept."
NO_PARENT = "Its parent is not in the file: it begins anew."
CYCLE = "Its parents lead in a circle: it begins anew."
FAILED = "It failed before anything was said; why is kept beside the question."
TWICE = "Its id had occurred before: told apart."
UNREADABLE = "It has the sign “\ufffd” where the file has no readable character."
NO_CURRENT = "The message that was checked out is not in the file: the newest end is."


@dataclass(frozen=True, slots=True)
class NodeOrigin:
    """The source node that a message comes from."""

    message: MessageId
    node: Node


@dataclass(frozen=True, slots=True)
class FailedReply:
    """A failed reply without any content."""

    question: MessageId | None
    node: Node


@dataclass(frozen=True, slots=True)
class ImportedTree:
    """An imported conversation that is ready to land."""

    found: ParsedConversation
    messages: tuple[Message, ...]
    """Parents before children, siblings in the source's order; ids are unique."""
    origins: tuple[NodeOrigin, ...]
    """One for each node that is imported or collapsed."""
    head: MessageId | None
    """The checked-out message in the source."""
    branch: str
    """The name of the branch at `head`, usually `main`."""
    branches: Mapping[str, MessageId]
    """The other named ends."""
    kept: tuple[MessageId, ...]
    """Ends without a name of their own."""
    failed: tuple[FailedReply, ...]
    """Failed replies without any content."""
    account: ImportAccount


def build_tree(found: ParsedConversation) -> ImportedTree:
    """Turn the nodes of `found` into messages. Raises nothing, whatever the nodes are."""
    return _TreeBuilder(_storable(found)).build()


def _storable(found: ParsedConversation) -> ParsedConversation:
    """The conversation without lone surrogates in what is stored beside its messages."""
    return replace(
        found,
        source_id=mend_text(found.source_id),
        system=None if found.system is None else mend_text(found.system),
        extra={mend_text(name): mend_json(value) for name, value in found.extra.items()},
        session=mend_text(found.session),
        folder=mend_text(found.folder),
    )


@dataclass(slots=True)
class _TreeBuilder:
    found: ParsedConversation
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    nodes: list[Node] = field(default_factory=list)
    """All nodes, with unique ids."""
    place: dict[str, int] = field(default_factory=dict)
    """Index in `nodes` by id."""
    above: list[int] = field(default_factory=list)
    """For each node, the index of its parent, -1 for a root: a forest."""
    below: list[list[int]] = field(default_factory=list)
    landed: list[MessageId | None] = field(default_factory=list)
    """For each node, its message, or that of its nearest ancestor that is one."""
    messages: dict[MessageId, Message] = field(default_factory=dict)
    origins: list[NodeOrigin] = field(default_factory=list)
    failed: list[FailedReply] = field(default_factory=list)
    lost: int = 0
    unread: Counter[str] = field(default_factory=Counter)

    def build(self) -> ImportedTree:
        self._tell_apart()
        self._join()
        order = self._order()
        self._seal(order)
        current = self._current(order)
        head = self.landed[current] if current is not None else None
        branches, kept = self._name(head)
        account = ImportAccount(
            conversations=1,
            seen=sum(not node.piece for node in self.nodes),
            imported=len(self.messages),
            split=sum(node.piece for node in self.nodes),
            collapsed=len(self.origins) - len(self.messages),
            skipped=MappingProxyType(dict(self.skipped)),
            notes=MappingProxyType(dict(self.notes)),
            lost=self.lost,
            unread=MappingProxyType(dict(self.unread)),
        )
        return ImportedTree(
            self.found,
            tuple(self.messages.values()),
            tuple(self.origins),
            head,
            _name_or(self.found.branch),
            MappingProxyType(branches),
            tuple(kept),
            tuple(self.failed),
            account,
        )

    def _tell_apart(self) -> None:
        again: dict[
            str, int
        ] = {}  # The number to try next, by id: a file may repeat one id a hundred thousand times.
        for node in self.found.nodes:
            id = node.id
            if id in self.place:
                self.notes[TWICE] += 1
                number = again.get(id, 2)
                while f"{id}#{number}" in self.place:
                    number += 1
                again[id] = number + 1
                id = f"{id}#{number}"
            self.place[id] = len(self.nodes)
            self.nodes.append(node if id == node.id else replace(node, id=id))

    def _join(self) -> None:
        for at, node in enumerate(self.nodes):
            parent = -1
            if node.parent is not None:
                parent = self.place.get(node.parent, -1)
                if parent < 0:
                    self.notes[NO_PARENT] += 1
            self.above.append(parent)
            if parent == at:
                self._break(at)
        self._open_circles()
        self.below = [[] for _ in self.nodes]
        for at, parent in enumerate(self.above):
            if parent >= 0:
                self.below[parent].append(at)

    def _break(self, at: int) -> None:
        self.above[at] = -1
        self.notes[CYCLE] += 1

    def _open_circles(self) -> None:
        """Break each cycle above its first node in the file."""
        state = bytearray(len(self.nodes))  # 0 unvisited, 1 on this walk, 2 leads to a root
        for start in range(len(self.nodes)):
            walk: list[int] = []
            at = start
            while at >= 0 and not state[at]:
                state[at] = 1
                walk.append(at)
                at = self.above[at]
            if at >= 0 and state[at] == 1:
                circle = walk[walk.index(at) :]
                self._break(min(circle))
            for seen in walk:
                state[seen] = 2

    def _order(self) -> list[int]:
        """Parents before children, level by level, siblings in the file's order; limited to MOST_TIPS ends."""
        open_ends = deque(at for at, parent in enumerate(self.above) if parent < 0)
        order: list[int] = []
        while open_ends:
            at = open_ends.popleft()
            order.append(at)
            open_ends.extend(self.below[at])
        leaves = [at for at in order if not self.below[at]]
        if len(leaves) <= MOST_TIPS:
            return order
        first = leaves[:MOST_TIPS]
        current = self.place.get(self.found.current or "")
        wanted: set[int] = set()
        for leaf in first if current is None else (*first, current):
            at = leaf
            while at >= 0 and at not in wanted:
                wanted.add(at)
                at = self.above[at]
        self.skipped[TOO_MANY] += len(order) - len(wanted)
        self.lost += len(order) - len(wanted)
        return [at for at in order if at in wanted]

    def _seal(self, order: Sequence[int]) -> None:
        self.landed = [None] * len(self.nodes)
        for at in order:
            node, above = self.nodes[at], self.above[at]
            parent = self.landed[above] if above >= 0 else None
            if node.draft is None or not node.draft.parts:
                failed = FAILED if node.failure else ""
                self.skipped[node.why or failed or (STRUCTURE if node.draft is None else EMPTY)] += 1
                self.landed[at] = parent
                if node.failure:
                    self.failed.append(FailedReply(parent, node))
                continue
            if node.note:
                self.notes[node.note] += 1
            message = seal(_fit(node.draft), (parent,), created=max(0, node.created), hidden=node.hidden)
            self.landed[at] = message.id
            if message.id not in self.messages:
                self.messages[message.id] = message
                if "\ufffd" in message.text:
                    self.notes[UNREADABLE] += 1
                self._count_unread(message)
            self.origins.append(NodeOrigin(message.id, node))

    def _count_unread(self, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, OpaquePart) and not (told := opaque(part)).is_understood:
                self.unread[told.title] += 1

    def _current(self, order: Sequence[int]) -> int | None:
        """The checked-out node; if the file does not say, the newest visible end."""
        named = self.found.current
        if named is not None:
            at = self.place.get(named)
            if at is not None and self.landed[at] is not None:
                return at
            self.notes[NO_CURRENT] += 1
        ends = [at for at in order if not self.below[at] and self.landed[at] is not None]
        return max(ends, key=lambda at: (self.nodes[at].created, at), default=None)

    def _name(self, head: MessageId | None) -> tuple[dict[str, MessageId], list[MessageId]]:
        """Named branches and kept tips. An end that begins with another question becomes a branch; one that only gives
        another answer is kept beside the existing answer.
        """
        covered: set[MessageId] = set()
        self._cover(head, covered)
        live = _name_or(self.found.branch)
        branches: dict[str, MessageId] = {}
        for name, node in self.found.names.items():
            at = self.place.get(node)
            tip = self.landed[at] if at is not None else None
            if tip is not None:
                branches[free_name(_name_or(name), {*branches, live})] = tip
                self._cover(tip, covered)
        kept: list[MessageId] = []
        parents = {message.parent for message in self.messages.values()}
        for tip in self.messages:
            if tip in parents or tip in covered:
                continue
            first = self._cover(tip, covered)
            if first is not None and first.role == "user" and len(branches) < MOST_NAMED:
                branches[suggested_name(_words(first), {*branches, live})] = tip
            else:
                kept.append(tip)
        return branches, kept

    def _cover(self, tip: MessageId | None, covered: set[MessageId]) -> Message | None:
        """Walk up to a covered message; returns the last uncovered one. Each message is visited once in total."""
        first: Message | None = None
        while tip is not None and tip not in covered:
            covered.add(tip)
            first = self.messages[tip]
            tip = first.parent
        return first


def _fit(draft: Draft) -> Draft:
    """The draft without `sources`, which would be the source program's ids, and with the two halves of a character
    that ended up in two texts joined.
    """
    parts: list[Part] = []
    for part in draft.parts:
        last = parts[-1] if parts else None
        if type(part) is TextPart and type(last) is TextPart and are_halves(last.text, part.text):
            parts[-1] = TextPart(last.text + part.text)
        else:
            parts.append(part)
    if not draft.sources and len(parts) == len(draft.parts):
        return draft
    return replace(draft, sources=(), parts=tuple(parts))


def _words(message: Message) -> str:
    return " ".join(part.text for part in message.parts if isinstance(part, TextPart))[:400]


def _name_or(name: str) -> str:
    try:
        return branch_name(name[:100])
    except BadName:
        return "branch"
