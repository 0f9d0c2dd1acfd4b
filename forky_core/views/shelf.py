"""The view model of the Library's list: which conversations, in which order, and the page of them that is drawn.

A line needs only a summary, so a thousand conversations cost one read and no messages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from forky_core.model import ConversationId, ConversationSummary, MessageId, View
from forky_core.model.view import FORKED_FROM
from forky_core.text.counting import counted
from forky_core.views.times import ago, is_today, local

LINES = 25
"""The number of conversations on one page of the list."""

Sort = Literal["changed", "created", "title", "messages"]

_ORDER: dict[Sort, Callable[[ConversationSummary], Any]] = {
    "changed": lambda summary: -summary.updated,
    "created": lambda summary: -summary.created,
    "title": lambda summary: (not summary.title, summary.title.casefold()),
    "messages": lambda summary: -summary.messages,
}


@dataclass(frozen=True, slots=True)
class ShelfLine:
    """One conversation in the list."""

    summary: ConversationSummary
    title: str
    """The title, or words for a missing one; never empty."""
    when: str
    counts: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """One page of the list."""

    lines: tuple[ShelfLine, ...]
    page: int
    """From 1; the existing page nearest to the requested one."""
    pages: int
    """At least 1."""
    fitting: int
    """The number of conversations that match the filter, on all pages."""
    total: int
    """The number of all conversations."""


def shelf(
    summaries: Sequence[ConversationSummary],
    *,
    now: int,
    words: str = "",
    sort: Sort = "changed",
    page: int = 1,
    lines: int = LINES,
) -> Shelf:
    """Return a page of the conversations whose titles have every word of `words`.

    “folder:sea” wants a folder with these letters instead, and “program:aider” a program.
    """
    wanted = words.casefold().split()
    fitting = [s for s in summaries if all(_fits(s, word) for word in wanted)]
    fitting.sort(key=_ORDER[sort])
    pages = max(1, -(-len(fitting) // lines))
    shown = min(max(page, 1), pages)
    window = fitting[(shown - 1) * lines : shown * lines]
    return Shelf(tuple(_line(s, now) for s in window), shown, pages, len(fitting), len(summaries))


def _fits(summary: ConversationSummary, word: str) -> bool:
    kind, _, rest = word.partition(":")
    where = {"folder": summary.folder, "program": summary.program}.get(kind if rest else "")
    if where is None:
        where, rest = title_or_placeholder(summary.title), word
    return rest in where.casefold()


def newest_of_a_person(summaries: Sequence[ConversationSummary]) -> ConversationId | None:
    """Return where a person goes on: the first with a branch that no program began, or else the first with one."""
    begun = [s for s in summaries if s.branches]
    return next((s.id for s in (*(s for s in begun if not s.program), *begun)), None)


@dataclass(frozen=True, slots=True)
class ShelfDay:
    """Some conversations below a heading: those of a day or of a folder."""

    name: str
    lines: tuple[ShelfLine, ...]
    is_folder: bool = False


def shelf_by_day(
    summaries: Sequence[ConversationSummary], *, now: int, pinned: Collection[str] = (), most: int = 80
) -> tuple[ShelfDay, ...]:
    """Return the pinned conversations, then the folders by name, and then the others by the days of their last change.

    In each the newest come first. Of those that are not pinned, a folder has at most `most`, and all days together.
    """
    newest = sorted(summaries, key=_ORDER["changed"])
    folders: dict[str, list[ConversationSummary]] = {}
    days: dict[str, list[ConversationSummary]] = {}
    for summary in (s for s in newest if s.folder and s.id not in pinned):
        folders.setdefault(summary.folder, []).append(summary)
    for summary in [s for s in newest if not s.folder and s.id not in pinned][:most]:
        days.setdefault(_day_of(summary.updated, now), []).append(summary)
    groups = [
        ("Pinned", [s for s in newest if s.id in pinned], False),
        *((name, folders[name][:most], True) for name in sorted(folders, key=str.casefold)),
        *((name, found, False) for name, found in days.items()),
    ]
    return tuple(
        ShelfDay(name, tuple(_line(s, now) for s in found), is_folder)
        for name, found, is_folder in groups
        if found
    )


def _day_of(at: int, now: int) -> str:
    then, today = local(at), local(now)
    days = (today.date() - then.date()).days
    if days <= 1:
        return "Today" if days < 1 or is_today(at, now) else "Yesterday"
    if days < 7:
        return "This week"
    if (then.year, then.month) == (today.year, today.month):
        return "This month"
    return f"{then:%B}" if then.year == today.year else f"{then:%B %Y}"


def title_or_placeholder(title: str) -> str:
    """Return a title, or the words for a conversation that has none."""
    return title.strip() or "New chat"


count = counted
"""How pages and commands call it."""


def _line(summary: ConversationSummary, now: int) -> ShelfLine:
    counts = f"{count(summary.messages, 'message')} · {count(summary.branches, 'branch')}"
    return ShelfLine(summary, title_or_placeholder(summary.title), ago(summary.updated, now), counts)


def forked_from(view: View, when: str = "") -> str:
    """From where a conversation was forked, and `when`, as a sentence for people; "" if it was not."""
    origin = view.entries.get(FORKED_FROM)
    if not isinstance(origin, Mapping):
        return ""
    through = f", through {origin['through']}" if origin.get("through") else ""
    at = f", at {str(origin['at']).removeprefix('b2:')[:8]}" if origin.get("at") else ""
    return f"Forked{f' {when}' if when else ''} from “{title_or_placeholder(str(origin.get('name', '')))}”{through}{at}."


def first_after_fork(view: View, path: Sequence[MessageId]) -> MessageId | None:
    """The first message of a path that the fork has added to what it was forked from; None if there is none."""
    origin = view.entries.get(FORKED_FROM)
    at = origin.get("at") if isinstance(origin, Mapping) else None
    return next((own for before, own in pairwise(path) if before == at), None)
