"""Pages that stand at an address of this server, for whoever is given it: each shows one thing as it was, and no more.

The address has a secret of 128 random bits, of which the database keeps the sha256, so that nothing in a copy of the
database opens a page. A page expires, can be revoked at any time, and goes with its conversation: it cannot be opened
while that is in the trash, and is deleted with it for good. What a page says never changes after it was published,
because the person who published it has read that and nothing else.

The list is a small value of the database and the pages are stored beside their conversations, so that neither is part
of any history, export or log.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from forky_core.conversation.identity import now
from forky_core.model import ConversationId, View
from forky_core.model.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.observability import events
from forky_core.publishing.forms.form import PAGE, PublicationForm, pieces
from forky_core.publishing.report import Report
from forky_core.store.contract import Store, StoreIdentity

DAYS = 30
"""Days until a page expires, if nobody says otherwise."""
MOST_DAYS = 366
"""The most days that can be asked for."""
LARGEST = 20_000_000
"""The most bytes of a page."""
MOST = 500
"""Pages that can be open at once."""
_KEPT_ENDED = 100
"""Pages that are over and still listed."""
_PAGES = "published_pages"
_DAY = 86_400_000_000
_COUNTED_EVERY = 10_000_000
"""Microseconds between two times that the number of visits is stored."""
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">')
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,64}")


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """A page as it is listed."""

    id: str
    sha256: str
    """Of the secret in its address."""
    conversation: ConversationId
    thing: str
    """What it shows, e.g. "comparison"."""
    form: str
    title: str
    published: int
    """Microseconds since the epoch, UTC."""
    until: int
    """When it expires, likewise."""
    by: str = ""
    revoked: int = 0
    """When it was revoked; 0: it was not."""
    opened: int = 0
    """How often somebody opened it."""
    last: int = 0
    """When somebody opened it last; 0: nobody did."""
    kept: bool = True
    """Whether what it says is still stored."""

    def is_open(self, at: int) -> bool:
        """Whether its address leads to it at this time."""
        return not self.revoked and at < self.until


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page that was just published, with the secret of its address, which is not stored."""

    page: PublishedPage
    secret: str


@dataclass(frozen=True, slots=True)
class ServedPage:
    """What a visitor gets."""

    content: bytes
    policy: str
    """The Content-Security-Policy that the page states itself."""


@dataclass(slots=True)
class _Shared:
    """What all `PublishedPages` of one store in this process share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    pages: tuple[PublishedPage, ...] | None = None
    stored: int = 0
    """When visits were stored last."""


_stores: weakref.WeakKeyDictionary[StoreIdentity, _Shared] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class PublishedPages:
    """The published pages of one database, which one process has open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with _making:
            self._shared = _stores.setdefault(store.identity, _Shared())

    def all(self, conversation: ConversationId | None = None) -> tuple[PublishedPage, ...]:
        """The pages, of one conversation or of all: open ones first, each group the newest first.

        Those of conversations that this store does not show are left out.
        """
        at = now()
        with self._shared.lock:
            pages = self._read()
        mine = [page for page in pages if conversation in (None, page.conversation) and self._shows(page)]
        return tuple(sorted(mine, key=lambda page: (not page.is_open(at), -page.published)))

    def drop_deleted(self, conversation: ConversationId) -> None:
        """Take the pages of a conversation that was deleted for good from the list; what they said went with it."""
        with self._shared.lock, suppress(StoreError):  # Of a damaged file, the list stays as it is.
            pages = self._read()
            if any(page.conversation == conversation for page in pages):
                self._write(page for page in pages if page.conversation != conversation)

    def is_in_trash(self, page: PublishedPage) -> bool:
        """Whether its conversation is in the trash: the page opens again once that is taken back."""
        view = self._view(page.conversation)
        return view is not None and view.trashed

    def publish(
        self,
        report: Report,
        form: PublicationForm,
        conversation: ConversationId,
        *,
        days: float = DAYS,
        by: str = "",
    ) -> NewPage:
        """Publish a report as a page, at an address that only whoever is given it knows.

        Raises:
            BadContent: the form is no page, the page is too large, too many are open, or `days` cannot be kept.
        """
        if form.media_type != PAGE:
            raise BadContent(f"{form.label} is no page.", "Give the file away instead.")
        if not 0 < days <= MOST_DAYS:
            raise BadContent(f"A page is open for at most {MOST_DAYS} days.", "Say a number of days above 0.")
        content = _bounded(pieces(report, form))
        secret, id, at = secrets.token_urlsafe(16), secrets.token_hex(4), now()
        page = PublishedPage(
            id,
            _digest(secret),
            conversation,
            report.kind,
            form.name,
            report.title[:200],
            at,
            at + int(days * _DAY),
            by[:80],
        )
        with self._shared.lock:
            pages = self._read()
            if sum(one.is_open(at) for one in pages) >= MOST:
                raise BadContent(f"{MOST} pages are open already.", "Revoke one first.")
            self._store.keep_derived(conversation, {_key(id): content})
            self._write((*pages, page))
        events.page_published(thing=report.kind, form=form.name, id=id, change="published")
        return NewPage(page, secret)

    def revoke(self, id: str) -> PublishedPage:
        """Close a page for good; its address leads nowhere from now on.

        Raises:
            NotFound: no page has this id.
            NothingToDo: it was revoked before.
        """
        with self._shared.lock:
            pages = self._read()
            page = next((one for one in pages if one.id == id), None)
            if page is None or not self._shows(page):
                raise NotFound(f"There is no published page “{id[:40]}”.", "`forky publish list` shows them.")
            if page.revoked:
                raise NothingToDo("This page was revoked before.")
            self._store.keep_derived(page.conversation, {_key(id): ""})
            closed = replace(page, revoked=now())
            self._write(closed if one.id == id else one for one in pages)
        events.page_published(thing=page.thing, form=page.form, id=id, change="revoked")
        return closed

    def open(self, secret: str) -> ServedPage:
        """The page at the address with this secret, for one visit.

        Raises:
            NotFound: there is none, it has expired or was revoked, or its conversation is in the trash. A visitor is
                told the same in every case.
        """
        at = now()
        with self._shared.lock:
            pages = self._read()
        digest = _digest(secret) if _SECRET.fullmatch(secret) else ""
        page = next((one for one in pages if secrets.compare_digest(one.sha256, digest)), None)
        content = self._content(page) if page is not None and page.is_open(at) else None
        if page is None or content is None:
            raise NotFound(
                "There is no such page.",
                "It may have expired or been revoked. Ask whoever gave you the address.",
            )
        self._count(page.id, at)
        found = _POLICY.search(content[:8_000])
        return ServedPage(
            content, found[1].decode("ascii", "replace") if found is not None else "default-src 'none'"
        )

    def _shows(self, page: PublishedPage) -> bool:
        """Whether this store shows the conversation of a page: one person may not see all that another one may."""
        try:
            self._store.view(page.conversation)
        except NotFound:
            return False
        return True

    def _content(self, page: PublishedPage) -> bytes | None:
        view = self._view(page.conversation)
        if view is None or view.trashed:
            return None
        kept = self._store.derived(page.conversation, [_key(page.id)])
        return kept[_key(page.id)].encode("utf-8", "replace") if kept else None

    def _view(self, conversation: ConversationId) -> View | None:
        """The view of a conversation; None if it was deleted for good."""
        try:
            return self._store.view(conversation)
        except NotFound:
            return None

    def _count(self, id: str, at: int) -> None:
        with self._shared.lock:
            pages = self._read()
            self._shared.pages = tuple(
                replace(one, opened=one.opened + 1, last=at) if one.id == id else one for one in pages
            )
            if at - self._shared.stored < _COUNTED_EVERY:
                return
            self._shared.stored = at
            with suppress(StoreError):  # A full disk must not close a page to its readers.
                self._write(self._shared.pages)

    def _read(self) -> tuple[PublishedPage, ...]:
        """The stored pages; the lock must be held."""
        if self._shared.pages is None:
            found: tuple[PublishedPage, ...] = ()
            with suppress(ValueError, TypeError, KeyError):
                kept = json.loads(self._store.setting(_PAGES) or "[]")
                found = tuple(_read_back(entry) for entry in kept)
            self._shared.pages = found
        return self._shared.pages

    def _write(self, pages: Iterable[PublishedPage]) -> None:
        """Store the pages, of those that are over only the newest; the lock must be held."""
        at = now()
        written = [self._closed(page, at) for page in pages]
        over = [page.id for page in written if not page.is_open(at)]
        unlisted = frozenset(over[: max(0, len(over) - _KEPT_ENDED)])
        kept = tuple(page for page in written if page.id not in unlisted)
        self._store.set_setting(_PAGES, json.dumps([asdict(page) for page in kept]))
        self._shared.pages = kept

    def _closed(self, page: PublishedPage, at: int) -> PublishedPage:
        """The page; what it says is deleted if nobody can open it again."""
        if page.is_open(at) or not page.kept:
            return page
        self._store.forget_derived(_key(page.id))
        return replace(page, kept=False)


def _bounded(written: Iterator[bytes]) -> str:
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


def _read_back(entry: Mapping[str, Any]) -> PublishedPage:
    """Parse a stored page, ignoring fields that a later version may have added."""
    return PublishedPage(**{one.name: entry[one.name] for one in fields(PublishedPage) if one.name in entry})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
