"""The links of a database: made, found by their secret, counted, revoked, and emptied once they are over.

An address has a secret of 128 random bits, of which the database keeps the sha256, so that nothing in a copy of the
database opens a page. The list stands beside each conversation and goes with it: it is no part of any history, export
or log. A store that shows a person only some conversations lists only the links to those, and lets only those change
them who may change the conversation.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace

from forky_core.conversation.identity import now
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.people.links.link import (
    AUDIENCE,
    DAYS,
    LARGEST,
    MOST,
    MOST_DAYS,
    SECRET,
    Link,
    LinkDraft,
    LinkEnded,
    NewLink,
    as_json,
    digest,
    from_json,
)
from forky_core.process import events
from forky_core.store.contract import Store, StoreIdentity

Noted = Callable[[str, str, Link], None]
"""Called with what happened to a link ("link made", "link opened", "link revoked"), the person and the link."""
LISTED = "published/links"
"""The key under which a conversation's links are kept beside it."""
_KEPT_ENDED = 100
"""Links of a conversation that are over and still listed."""
_DAY = 86_400_000_000
_AUDIENCE_HOURS = 12
_COUNTED_EVERY = 10_000_000
"""Microseconds between two times that the number of visits is stored."""
_NOTED_EVERY = 3_600_000_000
"""Microseconds between two notes that the same link was opened: how often is counted with the link."""
_UNKNOWN = "There is no such link."
_ASK = "Ask whoever gave you the address for a new one."


def _unnoted(_event: str, _person: str, _link: Link) -> None:
    """Note nothing: one person alone has no audit log."""


@dataclass(slots=True)
class _Visits:
    """Visits of a link that are not stored yet."""

    number: int
    last: int


@dataclass(slots=True)
class _SharedLinks:
    """What all `Links` of one database share in this process."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    index: dict[str, Link] | None = None
    """Every link by the sha256 of its secret; None until somebody asks, and after a change."""
    visits: dict[str, _Visits] = field(default_factory=dict)
    stored: int = 0
    """When visits were stored last."""
    noted: dict[str, int] = field(default_factory=dict)
    """When it was noted last that a link was opened."""
    presented: set[str] = field(default_factory=set)
    """The audience links that this process has made."""


_databases: weakref.WeakKeyDictionary[StoreIdentity, _SharedLinks] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class Links:
    """The links of a database. Those to conversations that the store does not show are left out."""

    def __init__(self, store: Store, *, noted: Noted = _unnoted) -> None:
        self._store = store
        self._noted = noted
        with _making:
            self._shared = _databases.setdefault(store.identity, _SharedLinks())

    def all(self, conversation: ConversationId | None = None) -> tuple[Link, ...]:
        """The links to one conversation or to all: open ones first, each group the newest first."""
        at = now()
        with self._shared.lock:
            if conversation is not None:
                found = self._read(conversation)
            else:
                stored = self._store.derived_under(LISTED)
                found = tuple(link for text in stored.values() for link in self._parsed(text))
            counted = [self._counted(link) for link in found]
        return tuple(sorted(counted, key=lambda link: (not link.is_open(at), -link.made)))

    def is_in_trash(self, link: Link) -> bool:
        """Whether its conversation is in the trash: the link works again once that is taken back."""
        try:
            return self._store.view(link.conversation).trashed
        except NotFound:
            return False

    def make(
        self, draft: LinkDraft, page: Iterable[bytes], *, title: str, days: float = DAYS, by: str = ""
    ) -> NewLink:
        """Make a link. `page` is what it shows now; one that is live keeps none of it.

        Raises:
            NotFound, NotAllowed: the person may not share this conversation.
            BadContent: the page is too large, too many are open, or `days` cannot be kept.
        """
        if not 0 < days <= MOST_DAYS:
            raise BadContent(f"A link is open for at most {MOST_DAYS} days.", "Say a number of days above 0.")
        content = _bounded(page)
        at = now()
        new = _new(draft, title, at, at + int(days * _DAY), by)
        pages = {} if draft.live else {_key(new.link.id): content}
        self._add(new.link, pages)
        return new

    def make_audience(
        self, conversation: ConversationId, which: tuple[str, ...], *, title: str, by: str
    ) -> NewLink:
        """Make the link by which others follow a presentation. Raises as `make` does."""
        at = now()
        draft = LinkDraft(conversation, AUDIENCE, which, live=True)
        new = _new(draft, title, at, at + _AUDIENCE_HOURS * _DAY // 24, by)
        self._shared.presented.add(new.link.id)
        self._add(new.link, {})
        return new

    def hand_over(self, link: Link, by: str) -> None:
        """Record that somebody else presents to those who have this link. Raises as `make` does."""
        with self._shared.lock:
            self._write(link.conversation, self._changed(replace(link, by=by)))
        self._noted("link made", by, link)

    def revoke(self, id: str, *, by: str = "") -> Link:
        """Close a link for good, and delete what was kept for it.

        Raises:
            NotFound: no link has this id.
            NotAllowed: the person may not share its conversation.
            NothingToDo: it was revoked before.
        """
        with self._shared.lock:
            stored = self._store.derived_under(LISTED).values()
            link = next((one for text in stored for one in self._parsed(text) if one.id == id), None)
            if link is None:
                raise NotFound(f"There is no link “{id[:40]}”.", "`forky link list` shows them.")
            if link.revoked:
                raise NothingToDo("This link was revoked before.")
            closed = replace(link, revoked=now())
            self._write(link.conversation, self._changed(closed))
        events.page_published(thing=link.thing, id=id, change="revoked")
        self._noted("link revoked", by, self._counted(link))
        return closed

    def find(self, secret: str) -> Link:
        """The link of this secret. It is not counted as opened. The store must show every conversation.

        Raises:
            LinkEnded: it has expired or was revoked, or its conversation is in the trash.
            NotFound: there is none.
        """
        link = self._stored(digest(secret)) if SECRET.fullmatch(secret) else None
        if link is None:
            raise NotFound(_UNKNOWN, "Look whether the address was copied whole.")
        if link.revoked or (link.thing == AUDIENCE and link.id not in self._shared.presented):
            said = "presentation has ended" if link.thing == AUDIENCE else "link was revoked"
            raise LinkEnded(f"This {said}.", _ASK)
        if not link.is_open(now()):
            if link.kept:
                self.drop_pages_that_are_over()
            raise LinkEnded("This link has expired.", _ASK)
        if self._store.view(link.conversation).trashed:
            raise LinkEnded("This link is closed at the moment.", _ASK)
        return link

    def page(self, link: Link) -> bytes:
        """What a link shows that is not live. Raises LinkEnded if it is stored no longer."""
        kept = self._store.derived(link.conversation, [_key(link.id)])
        if not kept.get(_key(link.id)):
            raise LinkEnded("This link has expired.", _ASK)
        return kept[_key(link.id)].encode("utf-8", "replace")

    def count(self, link: Link) -> None:
        """Count that somebody opened a link. A store that cannot write closes no link to its readers."""
        at, shared = now(), self._shared
        with shared.lock:
            visits = shared.visits.setdefault(link.id, _Visits(0, at))
            visits.number, visits.last = visits.number + 1, at
            opened = self._counted(link)
            if at - shared.stored >= _COUNTED_EVERY:
                self._store_visits(at)
            noted = at - shared.noted.get(link.id, 0) >= _NOTED_EVERY
            if noted:
                shared.noted[link.id] = at
        if noted:
            self._noted("link opened", "", opened)

    def drop_pages_that_are_over(self) -> int:
        """Delete what is kept for links that have expired, and store the visits; returns how many pages went.

        The store must show every conversation.
        """
        at, dropped = now(), 0
        with self._shared.lock, suppress(StoreError):  # Of a damaged file, everything stays as it is.
            for conversation, text in self._store.derived_under(LISTED).items():
                links = self._parsed(text)
                over = sum(not link.is_open(at) and link.kept for link in links)
                if over:
                    self._write(conversation, links)
                    dropped += over
            self._store_visits(at)
        return dropped

    def forget(self) -> None:
        """Have the links read from the store again: a conversation was deleted for good."""
        with self._shared.lock:
            self._shared.index = None

    # What the methods above use. The lock must be held.

    def _add(self, link: Link, pages: dict[str, str]) -> None:
        with self._shared.lock:
            links = self._read(link.conversation)
            if sum(one.is_open(link.made) for one in links) >= MOST:
                raise BadContent(f"{MOST} links to this conversation are open already.", "Revoke one first.")
            if pages:
                self._store.keep_derived(link.conversation, pages)
            self._write(link.conversation, (*links, link))
        events.page_published(thing=link.thing, id=link.id, change="published")
        self._noted("link made", link.by, link)

    def _stored(self, sha256: str) -> Link | None:
        """The link as the store has it now: a command or another server may have made or revoked it."""
        if sha256 not in self._index():
            self.forget()
        if (known := self._index().get(sha256)) is None:
            return None
        with suppress(NotFound):
            return next((one for one in self._read(known.conversation) if one.id == known.id), None)
        return None

    def _index(self) -> dict[str, Link]:
        with self._shared.lock:
            if self._shared.index is None:
                stored = self._store.derived_under(LISTED)
                self._shared.index = {
                    link.sha256: link for text in stored.values() for link in self._parsed(text)
                }
            return self._shared.index

    def _read(self, conversation: ConversationId) -> tuple[Link, ...]:
        text = self._store.derived(conversation, [LISTED]).get(LISTED, "")
        return self._parsed(text) if text else ()

    def _parsed(self, text: str) -> tuple[Link, ...]:
        with suppress(ValueError, TypeError, KeyError):
            return from_json(text)
        return ()

    def _changed(self, link: Link) -> tuple[Link, ...]:
        return tuple(link if one.id == link.id else one for one in self._read(link.conversation))

    def _write(self, conversation: ConversationId, links: Iterable[Link]) -> None:
        """Store the links of a conversation, of those that are over only the newest, and without their pages."""
        at = now()
        written = list(links)
        emptied = {_key(one.id): "" for one in written if one.kept and not one.is_open(at)}
        closed = [replace(one, kept=False) if not one.is_open(at) else one for one in written]
        over = [one.id for one in closed if not one.is_open(at)]
        unlisted = frozenset(over[: max(0, len(over) - _KEPT_ENDED)])
        kept = [one for one in closed if one.id not in unlisted]
        self._store.keep_derived(conversation, {**emptied, LISTED: as_json(kept)})
        for key in emptied:
            with suppress(StoreError):
                self._store.forget_derived(key)
        self._shared.index = None

    def _store_visits(self, at: int) -> None:
        shared = self._shared
        if not shared.visits:
            return
        visited, shared.stored = dict(shared.visits), at
        with suppress(StoreError):  # A full disk must not close a link to its readers.
            for conversation, text in self._store.derived_under(LISTED).items():
                links = self._parsed(text)
                if any(link.id in visited for link in links):
                    self._store.keep_derived(
                        conversation, {LISTED: as_json(self._counted(link) for link in links)}
                    )
            shared.visits.clear()
            shared.index = None

    def _counted(self, link: Link) -> Link:
        """The link with the visits that are not stored yet."""
        visits = self._shared.visits.get(link.id)
        return replace(link, opened=link.opened + visits.number, last=visits.last) if visits else link


def _new(draft: LinkDraft, title: str, at: int, until: int, by: str) -> NewLink:
    secret = secrets.token_urlsafe(16)
    given = {one.name: getattr(draft, one.name) for one in fields(draft)}
    link = Link(
        **given,
        id=secrets.token_hex(4),
        sha256=digest(secret),
        title=title[:200],
        made=at,
        until=until,
        by=by[:80],
        kept=not draft.live,
    )
    return NewLink(link, secret)


def _bounded(written: Iterable[bytes]) -> str:
    held = bytearray()
    for piece in written:
        held += piece
        if len(held) > LARGEST:
            raise BadContent(
                f"The page has more than {LARGEST // 1_000_000} MB.",
                "Give it away as a file, or show less of it.",
            )
    return held.decode("utf-8", "replace")


def _key(id: str) -> str:
    return f"published/{id}"
