"""A link as a value, and as it is stored."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import NotFound

DAYS = 30
"""Days until a link expires, if nobody says otherwise."""
MOST_DAYS = 366
"""The most days that can be asked for."""
LARGEST = 20_000_000
"""The most bytes of a page."""
MOST = 500
"""Links to one conversation that can be open at once."""
AUDIENCE = "presentation"
"""The thing that a presenter's audience is shown; such a link lives as long as the presentation."""
WITH_PATHS = ("conversation", "branch", "message")
"""Things that are a part of a conversation, which whoever is signed in can fork."""
SECRET = re.compile(r"[A-Za-z0-9_-]{16,64}")


class LinkEnded(NotFound):
    """A link that is over. The error says why, and nothing about what the link showed."""


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """What a new link will show: one thing of a conversation, and what goes along with it."""

    conversation: ConversationId
    thing: str
    """The name of a thing, e.g. "branch" or "comparison"."""
    which: tuple[str, ...] = ()
    """Which one, as the thing takes it."""
    branch: str = ""
    """The branch that was checked out when it was made; "" for the one that moved last."""
    live: bool = False
    """Whether it shows what is there when it is opened, and not what was there when it was made."""
    included: tuple[str, ...] = ()
    """The names of what goes along (`publishing.included`)."""
    spared: tuple[str, ...] = ()
    """The `value_digest` of each value that looks private and is given all the same; all others are replaced."""
    tips: Mapping[str, MessageId] = field(default_factory=lambda: MappingProxyType({}))
    """For a part of a conversation as it was: the heads of its branches then."""
    returns: bool = False
    """Whether whoever has the address may give a fork of it back, as a merge request."""

    @property
    def can_be_forked(self) -> bool:
        """Whether what it shows can be brought into a workspace: a whole path, and not a single message."""
        return self.thing in WITH_PATHS and (self.thing != "message" or len(self.which) > 1)


@dataclass(frozen=True, slots=True)
class Link(LinkDraft):
    """A link that was made, with how long it is open and how often it was opened."""

    id: str = ""
    sha256: str = ""
    """Of the secret in its address."""
    title: str = ""
    """Of what it showed when it was made, with placeholders for what looks private."""
    made: int = 0
    """Microseconds since the epoch, UTC."""
    until: int = 0
    """When it expires, likewise."""
    by: str = ""
    """Who made it: on a team's server the id of a member, or "" for the operator."""
    revoked: int = 0
    """When it was revoked; 0: it was not."""
    opened: int = 0
    """How often somebody opened it."""
    last: int = 0
    """When somebody opened it last; 0: nobody did."""
    kept: bool = True
    """Whether what it shows may still be stored."""

    def is_open(self, at: int) -> bool:
        """Whether its address leads to something at this time."""
        return not self.revoked and at < self.until


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link that was just made, with the secret of its address, which is not stored."""

    link: Link
    secret: str


def as_json(links: Iterable[Link]) -> str:
    """The links as they are stored."""
    return json.dumps([_entry(link) for link in links])


def from_json(text: str) -> tuple[Link, ...]:
    """Parse stored links; fields that a later version may have added are ignored."""
    names = {one.name for one in fields(Link)}
    return tuple(_read(entry, names) for entry in json.loads(text))


def public_fields(link: Link) -> dict[str, Any]:
    """The fields of a link for programs: without hashes, and times in microseconds."""
    entry = _entry(link)
    for name in ("sha256", "spared", "kept"):
        del entry[name]
    return entry


def digest(secret: str) -> str:
    """What is stored of the secret of an address."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def value_digest(value: str) -> str:
    """A digest by which a link names a private value without containing it."""
    return digest(f"value {value}")


def _entry(link: Link) -> dict[str, Any]:
    return {one.name: getattr(link, one.name) for one in fields(link)} | {"tips": dict(link.tips)}


def _read(entry: Mapping[str, Any], names: set[str]) -> Link:
    kept = {name: value for name, value in entry.items() if name in names}
    for name in ("which", "included", "spared"):
        kept[name] = tuple(kept.get(name, ()))
    kept["tips"] = MappingProxyType(dict(kept.get("tips", {})))
    return Link(**kept)
