"""Which messages of a graph a filter finds: by author, model, tag, program, conflicts and words.

A filter moves nothing: rows keep their places, those that have nothing found step back, and a fold says how many of its
messages were found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.corrections import conflicts_in
from forky_core.model import Generation, Message, MessageId, View

FacetKind = Literal["author", "model", "tag", "program", "conflict"]
YOU = "you"
"""The author of a message without a name that a person wrote."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing that messages can have in common."""

    kind: FacetKind
    value: str = ""
    """A name; "" for `conflict`. A merge has a conflict if its sides contradict each other somewhere."""


@dataclass(frozen=True, slots=True)
class GraphFilter:
    """What is looked for: every kind of facet that is named, with any of its values, and all of the words."""

    facets: frozenset[Facet] = frozenset()
    words: str = ""

    @property
    def on(self) -> bool:
        return bool(self.facets) or bool(self.words.strip())


def facets_of(
    messages: Iterable[Message], view: View, generations: Iterable[Generation]
) -> tuple[Facet, ...]:
    """Return what a conversation can be filtered by, kind after kind, each in the order in which it came."""
    found: dict[Facet, None] = {}
    conflict = False
    for message in messages:
        if (author := _author(message)) is not None:
            found[Facet("author", author)] = None
        conflict = conflict or has_conflict(message)
    calls = [call for call in generations if call.message is not None]
    found |= dict.fromkeys(Facet("model", call.model) for call in calls)
    found |= dict.fromkeys(Facet("tag", name) for name in view.tags)
    found |= dict.fromkeys(Facet("program", call.client) for call in calls if call.client)
    return (*found, *([Facet("conflict")] if conflict else []))


def has_conflict(message: Message) -> bool:
    """Whether it is a merge whose sides contradict each other somewhere."""
    return bool(conflicts_in(message))


def find(
    wanted: GraphFilter,
    messages: Mapping[MessageId, Message],
    order: Sequence[MessageId],
    view: View,
    generations: Iterable[Generation],
    search: Callable[[str], Collection[MessageId]],
) -> tuple[MessageId, ...]:
    """Return the messages of `order` that the filter finds, in that order. `search` finds words."""
    kinds = {facet.kind for facet in wanted.facets}
    has: dict[MessageId, set[Facet]] = {}
    for call in generations if kinds & {"model", "program"} else ():
        if call.message is not None:
            has.setdefault(call.message, set()).update(
                (Facet("model", call.model), Facet("program", call.client))
            )
    for name, id in view.tags.items():
        has.setdefault(id, set()).add(Facet("tag", name))
    said = frozenset(search(wanted.words)) if wanted.words.strip() else None

    def facets(id: MessageId) -> Iterable[Facet]:
        message = messages[id]
        yield from has.get(id, ())
        if (author := _author(message)) is not None:
            yield Facet("author", author)
        if "conflict" in kinds and has_conflict(message):
            yield Facet("conflict")

    def fits(id: MessageId) -> bool:
        return (said is None or id in said) and kinds <= {
            facet.kind for facet in facets(id) if facet in wanted.facets
        }

    return tuple(id for id in order if fits(id))


def _author(message: Message) -> str | None:
    """Who wrote it; None of what a model, a tool or a merge wrote."""
    return (message.name or YOU) if message.role == "user" and not message.merges else None
