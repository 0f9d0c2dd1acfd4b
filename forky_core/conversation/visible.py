"""The visible part of a conversation: every message that a ref reaches, through all parents.

Messages are never deleted, so an undone or pruned one is still stored; it is just no longer reachable. All reading for
people (graph, siblings, search, counts) goes through here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from forky_core.conversation.lineage import Lineage
from forky_core.model import ConversationId, Message, MessageId, View
from forky_core.model.erasure import Erasure
from forky_core.model.graph import ancestors, parents_in

_PATHS = 4
_BESIDE = 500
"""The most messages of a path that are looked up one by one, below one that is at hand."""
MOST = 200_000
"""Messages in all caches together; those of one conversation may be more."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The visible messages of one view, and how they are connected."""

    version: int
    messages: Mapping[MessageId, Message]
    """In the order they were written: parents before children."""
    children: Mapping[MessageId | None, tuple[MessageId, ...]]
    """First-parent children by parent, oldest first; the roots under None."""
    _lineage: Lineage = field(default_factory=Lineage, repr=False, compare=False)

    @property
    def lineage(self) -> Lineage:
        """Who continues whom, of these messages at least."""
        if not len(self._lineage):
            self._lineage.take(self.messages)
        return self._lineage

    def bearing(self, path: Sequence[Message]) -> Sequence[Message]:
        """The messages of a path that merge or revert; the whole path if its end was added after these messages."""
        if not path or path[-1].id not in self.lineage:
            return path
        return [path[self.lineage.depth(id)] for id in self.lineage.bearing(path[-1].id)]

    def siblings(self, message: MessageId) -> tuple[MessageId, ...]:
        """The alternatives at the same place (answers to one message), itself included, oldest first."""
        this = self.messages[message]
        return tuple(
            sibling for sibling in self.children[this.parent] if self.messages[sibling].role == this.role
        )

    def descendants(self, message: MessageId) -> frozenset[MessageId]:
        """All visible messages below `message` along first parents, itself included."""
        found: list[MessageId] = [message]
        for current in found:
            found.extend(self.children.get(current, ()))
        return frozenset(found)

    def narrowed(self, view: View) -> Visible:
        """Those of these messages that `view` reaches."""
        return _visible_part(self.messages, view, self.lineage)

    def newest_tip(self, message: MessageId) -> MessageId:
        """The end of the newest line of messages through `message`: the target of a click on a sibling."""
        while below := self.children.get(message):
            message = below[-1]
        return message


def visible_part(messages: Mapping[MessageId, Message], view: View) -> Visible:
    """The part of `messages` that `view` reaches. A `VisibleCache` is quicker for a conversation that is read often."""
    return _visible_part(messages, view, Lineage())


def _visible_part(messages: Mapping[MessageId, Message], view: View, lineage: Lineage) -> Visible:
    reached = ancestors((tip for tip in view.tips if tip in messages), parents_in(messages))
    everything = len(reached) == len(messages)
    shown = messages if everything else {id: message for id, message in messages.items() if id in reached}
    children: dict[MessageId | None, list[MessageId]] = {}
    for id, message in shown.items():
        children.setdefault(message.parent, []).append(id)
    return Visible(view.version, shown, {parent: tuple(ids) for parent, ids in children.items()}, lineage)


class VisibleCache:
    """The visible part of one conversation as its newest view has it, and paths of it. Safe from any thread.

    A view that follows the last one mostly adds a few messages at the end: then only these are looked at.
    """

    def __init__(self) -> None:
        self._paths: tuple[tuple[Message, ...], ...] = ()
        """What was used last: most other paths are the beginning of one of these, or leave one near their end."""
        self._lock = Lock()
        self._lineage = Lineage()
        self._last: Visible | None = None
        self._tips: frozenset[MessageId] = frozenset()
        self._erasures: Mapping[MessageId, Erasure] = {}

    def visible(self, messages: Callable[[], Mapping[MessageId, Message]], view: View) -> Visible:
        """The part of the stored `messages` that `view` reaches."""
        with self._lock:
            if self._last is None or self._last.version != view.version:
                if view.erasures != self._erasures:  # Some messages are others now, under the same ids.
                    self._last, self._paths, self._erasures = None, (), view.erasures
                stored = messages()
                fresh = self._lineage.take(stored)
                self._last = self._grown(stored, fresh, view) or _visible_part(stored, view, self._lineage)
                self._tips = view.tips
            return self._last

    def __len__(self) -> int:
        """The number of messages that are held."""
        return len(self._lineage)

    def path(self, end: MessageId, read: Callable[[MessageId], tuple[Message, ...]]) -> tuple[Message, ...]:
        """The path to `end`; `read` reads a path that is not cached."""
        if end not in self._lineage:
            return read(end)
        depth = self._lineage.depth(end)
        longer = next((path for path in self._paths if depth < len(path) and path[depth].id == end), None)
        if longer is not None:
            self._use(longer)
            return longer[: depth + 1]
        path = self._path_beside(end) or read(end)
        self._use(path)
        return path

    def _use(self, path: tuple[Message, ...]) -> None:
        """Keep a path at hand, in the place of the one that was not used for longest."""
        self._paths = (path, *(other for other in self._paths if other is not path))[:_PATHS]

    def _path_beside(self, end: MessageId) -> tuple[Message, ...] | None:
        """The path to `end`, if it leaves one that is at hand a few messages above."""
        messages = self._last.messages if self._last is not None else {}
        below: list[Message] = []
        while (message := messages.get(end)) is not None and message.parents and len(below) < _BESIDE:
            below.append(message)
            end = message.parents[0]
            depth = self._lineage.depth(end)
            beside = [path for path in self._paths if depth < len(path) and path[depth].id == end]
            if beside:
                longest = max(beside, key=len)
                self._use(longest)
                return (*longest[: depth + 1], *reversed(below))
        return None

    def _grown(
        self, stored: Mapping[MessageId, Message], fresh: Sequence[MessageId], view: View
    ) -> Visible | None:
        """The last part with the `fresh` messages that `view` reaches.

        None if the view no longer reaches a message that it reached, or reaches an older one again.
        """
        last = self._last
        if last is None:
            return None
        reached: set[MessageId] = set()
        open_ends = [tip for tip in view.tips - self._tips if tip in stored]
        while open_ends:
            id = open_ends.pop()
            if id not in reached and id not in last.messages:
                reached.add(id)
                open_ends.extend(stored[id].parents)
        if not reached.issubset(fresh):
            return None
        added = {id: stored[id] for id in fresh if id in reached}
        messages, children = last.messages, last.children
        if added:
            everything = len(messages) + len(added) == len(stored)
            messages = stored if everything else {**messages, **added}
            children = dict(children)
            for id, message in added.items():
                children[message.parent] = (*children.get(message.parent, ()), id)
        left = self._tips - view.tips
        if any(tip in messages and tip not in children for tip in left):
            return None
        return replace(last, version=view.version, messages=messages, children=children)


class VisibleCaches:
    """The caches of the conversations that were read lately; those of others are dropped. Safe from any thread."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._held: OrderedDict[ConversationId, VisibleCache] = OrderedDict()

    def cache(self, conversation: ConversationId) -> VisibleCache:
        """The cache of a conversation, empty if nobody has read it lately."""
        with self._lock:
            found = self._held.get(conversation)
            if found is None:
                found = self._held[conversation] = VisibleCache()
                self._trim(conversation)
            self._held.move_to_end(conversation)
            return found

    def drop(self, conversation: ConversationId) -> None:
        with self._lock:
            self._held.pop(conversation, None)

    def clear(self) -> None:
        """Forget what was read of every conversation."""
        with self._lock:
            self._held.clear()

    def _trim(self, kept: ConversationId) -> None:
        held = sum(len(cache) for cache in self._held.values())
        for id in [id for id in self._held if id != kept]:
            if held <= self._most:
                return
            held -= len(self._held.pop(id))
