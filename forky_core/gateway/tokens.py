"""Tokens for asking models through the gateway: they are named, limited and revoked, and their spending is counted.

A token spends the owner's keys, so there is no call without one. It is shown once, when it is made; only its sha256 is
stored (it has 256 random bits, so that nothing slower is needed) and its last four characters, by which a person
recognises it. They are settings of the database, and so are never exported. A revoked one stays in the list, without
rights, so that its name beside a conversation keeps its meaning. What another process makes, changes or revokes is
noticed within half a second.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from forky_core.conversation.allowance.account import Account, Allowance, Sum
from forky_core.conversation.allowance.amounts import MOST, NANO, nanodollars
from forky_core.conversation.allowance.book import Book, Spender
from forky_core.conversation.identity import disturbs, now, title_line
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, BadName, ForkyError, NameTaken, NotFound, NothingToDo
from forky_core.people.token_scopes import SCOPES
from forky_core.people.token_store import OWN_CALLS, WORKSPACE, TokenRights
from forky_core.process import events
from forky_core.store.contract import Store, StoreIdentity

PREFIX = "forky-"
_TOKENS = "gateway_tokens"
_LOOK = 0.5
"""Seconds for which tokens are remembered that another process may change."""
_LONGEST_NAME = 60
_MOST_PATTERNS = 50
REACHES = (OWN_CALLS, WORKSPACE)
"""The reaches of a token that name no conversation: its own ones, and all that its owner may see."""
NO_LIMIT = Allowance()


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
    """Whether, where its money is limited, it may use models whose price is unknown: they count as answers alone."""
    created: int = 0
    """Microseconds since the epoch, UTC."""
    revoked: int = 0
    """The time it was revoked, likewise; 0: it is valid."""
    metrics: bool = False
    """Whether it reads /metrics; then it can ask no model."""
    person: str = ""
    """The id of the team's member whose it is: its calls see and do what they may. "" on the server of one person."""
    analysis: bool = False
    """Whether it reads everything that its owner may read, as tables; without it, it reaches its own calls alone."""
    proposes: bool = False
    """Whether it proposes and lands nothing, as a token of before `scopes` was made for that."""
    answers: int | None = None
    """The answers that it may have in a day (UTC); None: no limit."""
    dollars_in_all: float | None = None
    """US dollars that it may spend in all; None: no limit."""
    answers_in_all: int | None = None
    """The answers that it may have in all; None: no limit."""
    scopes: tuple[str, ...] = ()
    """What it may do (people/token_store.py); (): ask models by /v1 and no more, as every token of before may."""
    reach: str = OWN_CALLS
    """Which conversations it sees: "workspace", the id of one beside its own, or "calls", its own alone."""

    @property
    def allowance(self) -> Allowance:
        return Allowance(
            self.answers,
            _nano(self.daily),
            self.answers_in_all,
            _nano(self.dollars_in_all),
            unpriced=self.unpriced,
        )

    @property
    def asks(self) -> bool:
        """Whether it may ask models."""
        return not self.scopes or "ask" in self.scopes

    def may_use(self, model: str) -> bool:
        if self.metrics or not self.asks:
            return False
        return not self.models or any(fnmatch.fnmatchcase(model, pattern) for pattern in self.models)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token with its text, which is not stored."""

    token: Token
    text: str


@dataclass(slots=True)
class _SharedTokens:
    """The state that all `Tokens` of one store in this process share."""

    is_exclusive: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    tokens: tuple[Token, ...] | None = None
    """As stored; None until they are read. Writing updates it, so that a revoked token is refused at once."""
    read_at: float = 0.0
    """When they were read, by `time.monotonic`."""

    @property
    def is_current(self) -> bool:
        return self.tokens is not None and (self.is_exclusive or time.monotonic() - self.read_at < _LOOK)

    def remember(self, tokens: tuple[Token, ...] | None) -> None:
        self.tokens, self.read_at = tokens, time.monotonic()


_stores: weakref.WeakKeyDictionary[StoreIdentity, _SharedTokens] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class Tokens:
    """The tokens of one database; safe from any thread, and with other processes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with _making:
            shared = _stores.get(store.identity)
            if shared is None:
                shared = _stores[store.identity] = _SharedTokens(store.is_exclusive)
        self._shared = shared
        self.book = Book(store)
        """The accounts of the tokens."""

    def all(self) -> tuple[Token, ...]:
        """All tokens: valid ones first, each group in the order they were made."""
        with self._shared.lock:
            found = self._stored() or ()
        return tuple(sorted(found, key=lambda token: (token.revoked > 0, token.created)))

    def make(  # noqa: PLR0913 - the rights of a token, each by its name
        self,
        name: str,
        *,
        models: Iterable[str] = (),
        allowance: Allowance = NO_LIMIT,
        records: bool = True,
        metrics: bool = False,
        analysis: bool = False,
        scopes: Iterable[str] = (),
        reach: str = OWN_CALLS,
        person: str = "",
    ) -> NewToken:
        """Make a token.

        With `metrics` it is for a monitoring program: it reads /metrics, and can ask no model. With `analysis` it also
        reads all that its owner may read (`GET /v1/analysis`). `scopes` and `reach` are those of `Token`; a token
        that reaches a conversation may read it.

        Raises:
            BadName, NameTaken: the name cannot be used.
            BadContent: a limit, a scope or the reach is invalid.
            NotFound: there is no conversation that it should reach.
        """
        text = PREFIX + secrets.token_urlsafe(32)
        patterns = tuple(dict.fromkeys(pattern for word in models if (pattern := word.strip())))
        if len(patterns) > _MOST_PATTERNS or any(len(pattern) > 200 for pattern in patterns):
            raise BadContent(f"At most {_MOST_PATTERNS} names of models fit.", "Use * for several at once.")
        if any(limit is not None and not 0 <= limit <= MOST[unit] for _, unit, limit in allowance.limits()):
            raise BadContent("A limit is a number, 0 or more.")
        chosen = self._scopes(scopes, reach)
        token = Token(
            secrets.token_hex(4),
            _name(name),
            token_digest(text),
            text[-4:],
            patterns,
            _dollars(allowance.dollars_a_day),
            records,
            allowance.unpriced or not allowance.limits_money,
            now(),
            metrics=metrics,
            analysis=analysis,
            person=person,
            answers=allowance.answers_a_day,
            dollars_in_all=_dollars(allowance.dollars_in_all),
            answers_in_all=allowance.answers_in_all,
            scopes=chosen,
            reach=reach if chosen else OWN_CALLS,
        )

        def with_it(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(other.name == token.name and not other.revoked for other in tokens):
                raise NameTaken(
                    f"There is a token “{token.name}” already.", "Choose another name, or revoke it."
                )
            return (*tokens, token)

        self._change(with_it)
        events.token_changed(token=token.name, id=token.id, change="made")
        return NewToken(token, text)

    def change(self, id: str, *, records: bool) -> Token:
        """Switch its recording on or off. Raises NotFound for an unknown token."""
        changed = self._replace(id, lambda token: replace(token, records=records))
        change = "records" if records else "records no more"
        events.token_changed(token=changed.name, id=changed.id, change=change)
        return changed

    def revoke(self, id: str) -> Token:
        """Revoke a token for good.

        Raises:
            NotFound: no token has this id or name.
            NothingToDo: it was revoked before.
        """

        def without_rights(token: Token) -> Token:
            if token.revoked:
                raise NothingToDo(f"The token “{token.name}” was revoked before.")
            return replace(token, revoked=now())

        token = self._replace(id, without_rights)
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

    def rights(self, token: Token) -> TokenRights | None:
        """What a token may do beside asking models by /v1; None for one that has no scopes."""
        scopes = frozenset(token.scopes or (("read", "ask", "propose") if token.proposes else ()))
        if not scopes:
            return None
        reach = token.reach if token.scopes else WORKSPACE
        return TokenRights(token.name, token.id, scopes, reach, lambda: self.is_valid(token.id))

    def is_valid(self, id: str) -> bool:
        """Whether there is a token with this id that has not been revoked."""
        return any(token.id == id and not token.revoked for token in self._known())

    def account(self, token: Token) -> Account:
        """What a token has had. Raises StoreError if it cannot be read."""
        return self.book.account(self.spender(token))

    def spender(self, token: Token) -> Spender:
        """A token, as whoever pays for its calls."""
        return Spender(
            f"token/{token.id}", f"The token “{token.name}”", token.allowance, lambda: self._start(token)
        )

    def _start(self, token: Token) -> Account:
        """What a token had spent in its last day, as earlier versions of Forky kept it."""
        with suppress(ValueError, TypeError, KeyError):
            kept = json.loads(self._store.setting(f"gateway_spent/{token.id}") or "{}")
            # What a process that died had set aside has probably been spent.
            spent = Sum(0, int(kept["spent"]) + sum(map(int, kept["set_aside"].values())))
            return Account(str(kept["day"]), spent, spent)
        return Account()

    def _scopes(self, scopes: Iterable[str], reach: str) -> tuple[str, ...]:
        """The scopes of a new token in their order, with reading, which all others need."""
        wanted = {scope.strip() for scope in scopes} - {""}
        if unknown := wanted - set(SCOPES):
            raise BadContent(
                f"A token cannot be given “{min(unknown)[:40]}”.",
                f"It may {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.",
            )
        if wanted and reach not in REACHES:
            self._store.view(ConversationId(reach))
        return tuple(scope for scope in SCOPES if scope in wanted | {"read"}) if wanted else ()

    def _known(self) -> tuple[Token, ...]:
        if not self._shared.is_current:
            with self._shared.lock:
                if not self._shared.is_current:
                    self._shared.remember(self._stored())
        return self._shared.tokens or ()

    def _stored(self) -> tuple[Token, ...] | None:
        """The tokens as this store shows them; None if it has none or shows none to this person, which is not to be
        kept for others.
        """
        text = self._store.setting(_TOKENS)
        return None if text is None else _parsed(text)

    def _replace(self, id: str, change: Callable[[Token], Token]) -> Token:
        """Change a token by its id or name; returns it as it is then. Raises NotFound for an unknown one."""
        changed: Token | None = None

        def with_it(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            nonlocal changed
            found = _named(tokens, id)
            changed = change(found)
            return tuple(changed if token.id == changed.id else token for token in tokens)

        self._change(with_it)
        assert changed is not None
        return changed

    def _change(self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> None:
        """Store what `change` makes of the tokens, while no other process changes them. Raises what it raises."""
        written: tuple[Token, ...] = ()
        refused: ForkyError | None = None

        def rewritten(text: str | None) -> str | None:
            nonlocal written, refused
            before = () if text is None else _parsed(text)
            try:
                written, refused = change(before), None
            except ForkyError as error:
                refused = error
                return text
            return json.dumps([asdict(token) for token in written])

        with self._shared.lock:
            self._store.set_setting(_TOKENS, rewritten)
            if refused is None:
                self._shared.remember(written)
        if refused is not None:
            raise refused


def forget_tokens(store: Store) -> None:
    """Have the tokens of a store read anew, since somebody else may have changed them."""
    with _making:
        shared = _stores.get(store.identity)
    if shared is not None:
        shared.remember(None)


def _parsed(text: str) -> tuple[Token, ...]:
    with suppress(ValueError, TypeError, KeyError):
        return tuple(_read_back(entry) for entry in json.loads(text))
    return ()


def _read_back(entry: Mapping[str, Any]) -> Token:
    """Parse a stored token, ignoring fields that a later version may have added."""
    known = {one.name: entry[one.name] for one in fields(Token) if one.name in entry}
    return Token(**{**known, "models": tuple(entry["models"]), "scopes": tuple(entry.get("scopes", ()))})


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


def _dollars(nano: int | None) -> float | None:
    return None if nano is None else nano / NANO


def _nano(dollars: float | None) -> int | None:
    return None if dollars is None else nanodollars(dollars)
