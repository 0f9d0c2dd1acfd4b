"""Tokens for asking models through the gateway: they are named, limited and revoked, and their spending is counted.

A token spends the owner's keys, so there is no call without one. It is shown once, when it is made; only its sha256 is
stored (it has 256 random bits, so that nothing slower is needed) and its last four characters, by which a person
recognises it. They are settings of the database, and so are never exported. A revoked one stays in the list, without
rights, so that its name beside a conversation keeps its meaning.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import secrets
import threading
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from forky_core.conversation.identity import disturbs, now, title_line
from forky_core.model.errors import BadContent, BadName, NameTaken, NotFound, NothingToDo, StoreError
from forky_core.observability import events
from forky_core.store.contract import Store, StoreIdentity

PREFIX = "forky-"
_TOKENS = "gateway_tokens"
_SPENT = "gateway_spent"
_SAVED_WITHIN = 1.0
"""Seconds within which spending is saved."""
_LONGEST_NAME = 60
_MOST_PATTERNS = 50


@dataclass(frozen=True, slots=True)
class Token:
    """The stored form of a token."""

    id: str
    name: str
    sha256: str
    ending: str
    """The token's last four characters."""
    models: tuple[str, ...] = ()
    """Names of allowed models, `*` standing for any characters; (): every model."""
    daily: float | None = None
    """US dollars that it may spend in a day (UTC); None: no limit."""
    records: bool = True
    """Whether its calls are recorded as conversations."""
    unpriced: bool = True
    """Whether, under a limit, it may use models whose price is unknown: they do not count."""
    created: int = 0
    """Microseconds since the epoch, UTC."""
    revoked: int = 0
    """The time it was revoked, likewise; 0: it is valid."""
    metrics: bool = False
    """Whether it reads /metrics; then it can ask no model."""
    person: str = ""
    """The id of the team's member whose it is: its calls see and do what they may. "" on the server of one person."""

    def may_use(self, model: str) -> bool:
        if self.metrics:
            return False
        return not self.models or any(fnmatch.fnmatchcase(model, pattern) for pattern in self.models)


def amount(dollars: float) -> str:
    """A limit as its owner would write it, with all its digits."""
    return f"${Decimal(f'{dollars:g}'):f}"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token with its text, which is not stored."""

    token: Token
    text: str


@dataclass(slots=True)
class _Shared:
    """The state that all `Tokens` of one store in this process share."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    tokens: tuple[Token, ...] | None = None
    """As stored; None until they are read. Writing updates it, so that a revoked token is refused at once."""
    spent: dict[str, tuple[str, float]] | None = None
    """For a token's id, the day and US dollars; None until they are read."""
    unsaved: bool = False
    saving: threading.Lock = field(default_factory=threading.Lock)
    timer: threading.Timer | None = None
    """The timer until spending is saved."""


_stores: weakref.WeakKeyDictionary[StoreIdentity, _Shared] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class Tokens:
    """The tokens of one database, which one process has open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with _making:
            self._shared = _stores.setdefault(store.identity, _Shared())

    def all(self) -> tuple[Token, ...]:
        """All tokens: valid ones first, each group in the order they were made."""
        with self._shared.lock:
            found = self._stored() or ()
        return tuple(sorted(found, key=lambda token: (token.revoked > 0, token.created)))

    def make(
        self,
        name: str,
        *,
        models: Iterable[str] = (),
        daily: float | None = None,
        records: bool = True,
        unpriced: bool = False,
        metrics: bool = False,
        person: str = "",
    ) -> NewToken:
        """Make a token. Under a limit, models whose price is unknown are refused unless `unpriced` is set.

        With `metrics` it is for a monitoring program: it reads /metrics, and can ask no model.

        Raises:
            BadName, NameTaken: the name cannot be used.
            BadContent: the limit is invalid.
        """
        text = PREFIX + secrets.token_urlsafe(32)
        patterns = tuple(dict.fromkeys(pattern for word in models if (pattern := word.strip())))
        if len(patterns) > _MOST_PATTERNS or any(len(pattern) > 200 for pattern in patterns):
            raise BadContent(f"At most {_MOST_PATTERNS} names of models fit.", "Use * for several at once.")
        if daily is not None and not 0 <= daily < 1e6:
            raise BadContent("A limit is a number of US dollars, 0 or more.")
        token = Token(
            secrets.token_hex(4),
            _name(name),
            token_digest(text),
            text[-4:],
            patterns,
            daily,
            records,
            unpriced or daily is None,
            now(),
            metrics=metrics,
            person=person,
        )
        with self._shared.lock:
            tokens = self._read()
            if any(other.name == token.name and not other.revoked for other in tokens):
                raise NameTaken(
                    f"There is a token “{token.name}” already.", "Choose another name, or revoke it."
                )
            self._write([*tokens, token])
        events.token_changed(token=token.name, id=token.id, change="made")
        return NewToken(token, text)

    def change(self, id: str, *, records: bool) -> Token:
        """Switch its recording on or off. Raises NotFound for an unknown token."""
        with self._shared.lock:
            tokens = self._read()
            changed = replace(_named(tokens, id), records=records)
            self._write([changed if token.id == changed.id else token for token in tokens])
        change = "records" if records else "records no more"
        events.token_changed(token=changed.name, id=changed.id, change=change)
        return changed

    def revoke(self, id: str) -> Token:
        """Revoke a token for good.

        Raises:
            NotFound: no token has this id or name.
            NothingToDo: it was revoked before.
        """
        with self._shared.lock:
            tokens = self._read()
            token = _named(tokens, id)
            if token.revoked:
                raise NothingToDo(f"The token “{token.name}” was revoked before.")
            token = replace(token, revoked=now())
            self._write([token if other.id == token.id else other for other in tokens])
        events.token_changed(token=token.name, id=token.id, change="revoked")
        return token

    def of(self, text: str) -> Token | None:
        """The valid token with this text; None if there is none."""
        digest = token_digest(text)
        return next(
            (
                token
                for token in self._known()
                if not token.revoked and secrets.compare_digest(token.sha256, digest)
            ),
            None,
        )

    def spent_today(self, token: Token) -> float:
        """US dollars it has spent since midnight UTC."""
        with self._shared.lock:
            day, spent = self._spent().get(token.id, ("", 0.0))
        return spent if day == _today() else 0.0

    def spend(self, token: Token, cost: float) -> None:
        """Add a call's price to its spending: it counts at once, and is saved within a second."""
        if cost <= 0:
            return
        with self._shared.lock:
            everyone = self._spent()
            day, spent = everyone.get(token.id, ("", 0.0))
            everyone[token.id] = (_today(), cost + (spent if day == _today() else 0.0))
            self._shared.unsaved = True
            if self._shared.timer is None:
                # A write for each call would precede the next call's question in the writer's queue.
                self._shared.timer = threading.Timer(_SAVED_WITHIN, self._save_late)
                self._shared.timer.daemon = True
                self._shared.timer.start()

    def save_spending(self) -> None:
        """Save the spending since the last save. Raises StoreError."""
        with self._shared.saving:
            with self._shared.lock:
                written = json.dumps(self._spent()) if self._shared.unsaved else None
            if written is not None:
                self._store.set_setting(_SPENT, written)
                with self._shared.lock:
                    self._shared.unsaved = written != json.dumps(self._spent())

    def _save_late(self) -> None:
        with self._shared.lock:
            self._shared.timer = None
        try:
            self.save_spending()
        except StoreError as error:  # The next call tries again.
            events.gateway_unsaved(what="spending", fault=error)

    def _spent(self) -> dict[str, tuple[str, float]]:
        """The spending by token; the lock must be held."""
        if self._shared.spent is None:
            self._shared.spent = {}
            with suppress(ValueError, TypeError, AttributeError):
                kept = json.loads(self._store.setting(_SPENT) or "{}")
                self._shared.spent = {id: (str(day), float(spent)) for id, (day, spent) in kept.items()}
        return self._shared.spent

    def _known(self) -> tuple[Token, ...]:
        known = self._shared.tokens
        if known is None:
            with self._shared.lock:
                known = self._read()
        return known

    def _read(self) -> tuple[Token, ...]:
        """The stored tokens; the lock must be held."""
        if self._shared.tokens is None:
            self._shared.tokens = self._stored()
        return self._shared.tokens or ()

    def _stored(self) -> tuple[Token, ...] | None:
        """The tokens as this store shows them; None if it has none or shows none to this person, which is not to be
        kept for others.
        """
        text = self._store.setting(_TOKENS)
        if text is None:
            return None
        with suppress(ValueError, TypeError, KeyError):
            return tuple(_read_back(entry) for entry in json.loads(text))
        return ()

    def _write(self, tokens: Iterable[Token]) -> None:
        """Store the tokens; the lock must be held."""
        written = tuple(tokens)
        self._store.set_setting(_TOKENS, json.dumps([asdict(token) for token in written]))
        self._shared.tokens = written


def _read_back(entry: Mapping[str, Any]) -> Token:
    """Parse a stored token, ignoring fields that a later version may have added."""
    known = {one.name: entry[one.name] for one in fields(Token) if one.name in entry}
    return Token(**{**known, "models": tuple(entry["models"])})


def _named(tokens: Iterable[Token], id: str) -> Token:
    """The token with this id, or the valid one with this name."""
    fitting = [token for token in tokens if id in (token.id, token.name)]
    for token in sorted(fitting, key=lambda one: (one.revoked > 0, one.id != id)):
        return token
    raise NotFound(f"There is no token “{id[:80]}”.", "`forky token list` shows them.")


def _name(text: str) -> str:
    name = title_line(text)
    if not name:
        raise BadName("A token needs a name.", "Call it after the program that will use it.")
    if len(name) > _LONGEST_NAME or disturbs(name):
        raise BadName(f"A name is one line of at most {_LONGEST_NAME} characters.")
    return name


def token_digest(text: str) -> str:
    """The sha256 of a token's text, as it is stored."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
