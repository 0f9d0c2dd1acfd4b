"""Changes that others made to a conversation since a person last looked: how many, by whom, and at which messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forky_core.model import ConversationId, MessageId, Operation
from forky_core.people.last_seen import Seen
from forky_core.people.team import Team
from forky_core.people.threads import ThreadEvent
from forky_core.store.contract import Store

_NO_PLACE = frozenset(
    {"create", "fork", "rename", "delete", "promote", "prune", "undo", "redo", "restore", "import", "unite"}
)
"""Verbs that move a branch and say nothing new."""
_TOLD = frozenset({"began", "replied"})
_MOST_KNOWN = 2_000
_known: dict[tuple[str, ConversationId, Seen, int, int], News] = {}


@dataclass(frozen=True, slots=True)
class News:
    """The changes that are new to one person."""

    count: int
    """Operations and comments of others that they have not seen."""
    people: tuple[str, ...]
    """The ids of those who did it, the busiest first."""
    since: int
    """When they looked last: microseconds since the epoch, UTC."""
    places: tuple[tuple[str, MessageId], ...]
    """The messages that are new or were commented on, oldest first, each with its branch; "" if it is not known."""


def news_of(operations: Iterable[Operation], events: Iterable[ThreadEvent], me: str, since: int) -> News:
    """What is new to a person among these operations and events. Their own are left out, as are undone ones."""
    listed = [one for one in operations if one.actor != me]
    undone = {number for one in listed if one.verb == "undo" for number in one.reverts}
    done = [one for one in listed if one.number not in undone and one.verb != "undo"]
    said = [one for one in events if one.person != me and one.event in _TOLD]
    people = Counter([*(one.actor for one in done), *(one.person for one in said)])
    places: dict[tuple[str, MessageId], int] = {}
    for operation in done:
        for branch, message in _heads(operation):
            places.setdefault((branch, message), operation.at)
    for event in said:
        places.setdefault(("", event.message), event.at)
    order = sorted(places, key=lambda place: places[place])
    return News(
        len(done) + len(said), tuple(person for person, _ in people.most_common()), since, tuple(order)
    )


def news_in(
    team: Team, me: str, conversations: Iterable[tuple[ConversationId, int]], store: Store
) -> dict[ConversationId, News | None]:
    """What is new to a person in each of these conversations, given with the time of its last operation.

    None for one that they have never opened; one without news is left out.
    """
    seen = team.seen.of_all(me)
    found: dict[ConversationId, News | None] = {}
    for conversation, updated in conversations:
        known = seen.get(conversation)
        if known is None:
            found[conversation] = None
        elif updated > known.at or team.threads.version(conversation) > known.event:
            news = _news_of_state(team, me, conversation, known, store, updated)
            if news.count:
                found[conversation] = news
    return found


def _news_of_state(
    team: Team, me: str, conversation: ConversationId, seen: Seen, store: Store, updated: int
) -> News:
    """What is new in one conversation, read once for each state of it: a list asks at every run of a page."""
    key = (me, conversation, seen, updated, team.threads.version(conversation))
    news = _known.get(key)
    if news is None:
        news = news_since(team, me, conversation, seen, store)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = news
    return news


def news_since(team: Team, me: str, conversation: ConversationId, seen: Seen, store: Store) -> News:
    """What is new in one conversation to somebody who has seen it so far."""
    operations = store.operations(conversation, after=seen.operation)
    return news_of(operations, team.threads.events(conversation, after=seen.event), me, seen.at)


def _heads(operation: Operation) -> Sequence[tuple[str, MessageId]]:
    """The messages to which an operation moved branches, if it said something."""
    if operation.verb in _NO_PLACE:
        return ()
    return [
        (change.key.removeprefix("heads/"), MessageId(change.after["at"]))
        for change in operation.changes
        if change.key.startswith("heads/") and isinstance(change.after, dict) and change.after.get("at")
    ]
