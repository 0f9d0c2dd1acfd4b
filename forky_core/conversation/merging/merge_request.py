"""A merge request as a value: an entry of the view, so that undo, redo and restore apply to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from forky_core.conversation.transaction import Transaction
from forky_core.merge.conflicts.conflict import Choice, Policy, Take
from forky_core.merge.options import MergeOptions
from forky_core.model import ConversationId, MessageId, View
from forky_core.model.changed_fields import changed_fields
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.parts import Json

REQUESTS = "requests/"
"""The prefix of merge requests' keys in the view."""
REVIEWS = "reviews/"
"""The prefix of the keys of their reviews: `reviews/<number>/<person>`, and `reviews/<number>/<person>/<model>` for a
model that the person asked (reviews.py).
"""

State = Literal["open", "accepted", "declined"]


@dataclass(frozen=True, slots=True)
class RequestComment:
    by: str
    text: str
    at: int
    """Microseconds since the epoch, UTC."""


@dataclass(frozen=True, slots=True)
class FurtherSource:
    """An additional branch that is proposed for the same merge: an octopus."""

    source: str
    source_head: MessageId | None
    """Its head when the request was made or last changed."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The other conversation that a proposed branch belongs to, for a graft."""

    conversation: ConversationId
    title: str
    """Its title when the request was made or last changed."""


@dataclass(frozen=True, slots=True)
class MergeRequest:
    number: int
    source: str
    """The proposed branch, or the first of several."""
    into: str
    by: str
    note: str
    at: int
    source_head: MessageId | None
    """The source's head when the request was made or last changed."""
    options: MergeOptions = field(default_factory=MergeOptions)
    """The options that its author proposes; whoever accepts may choose others."""
    state: State = "open"
    answered_by: str = ""
    comments: tuple[RequestComment, ...] = ()
    others: tuple[FurtherSource, ...] = ()
    """Additional branches, in the order to show them in."""
    graft: Elsewhere | None = None
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Payloads that its author edited, by source."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every proposed branch."""
        return (self.source, *(other.source for other in self.others))

    @property
    def named(self) -> tuple[str, ...]:
        """The sources' names for people."""
        if self.graft is None:
            return self.sources
        return (f"{self.source} of {self.graft.title}" if self.graft.title else self.source,)

    @property
    def strategy(self) -> str:
        return self.options.strategy

    @property
    def picks(self) -> tuple[MessageId, ...]:
        """The picked messages of a proposed cherry-pick; () for other strategies."""
        return self.options.picks

    @property
    def source_heads(self) -> tuple[MessageId, ...]:
        """For each source, its head when the request was made or last changed."""
        return tuple(
            h for h in (self.source_head, *(other.source_head for other in self.others)) if h is not None
        )

    def stored(self) -> dict[str, Json]:
        entry: dict[str, Json] = {
            "source": self.source,
            "into": self.into,
            "by": self.by,
            "note": self.note,
            "at": self.at,
            "seen": self.source_head,
            "strategy": self.strategy,
            "state": self.state,
        }
        if self.answered_by:
            entry["answered_by"] = self.answered_by
        if self.comments:
            entry["comments"] = [[one.by, one.text, one.at] for one in self.comments]
        if self.others:
            entry["others"] = [[one.source, one.source_head] for one in self.others]
        if self.graft is not None:
            entry["graft"] = [self.graft.conversation, self.graft.title]
        if self.words:
            entry["words"] = dict(self.words)
        return entry | _options_stored(self.options)

    @classmethod
    def from_stored(cls, number: int, entry: Mapping[str, Json]) -> MergeRequest:
        graft = entry.get("graft")
        id, title = graft or ("", "")
        return cls(
            number,
            entry["source"],
            entry["into"],
            entry["by"],
            entry["note"],
            entry["at"],
            entry["seen"],
            _options_from_stored(entry),
            entry["state"],
            entry.get("answered_by", ""),
            tuple(RequestComment(by, text, at) for by, text, at in entry.get("comments", ())),
            tuple(FurtherSource(source, seen) for source, seen in entry.get("others", ())),
            Elsewhere(ConversationId(id), title) if graft else None,
            MappingProxyType(dict(entry.get("words", {}))),
        )


def _options_stored(options: MergeOptions) -> dict[str, Json]:
    """The options that differ from their defaults."""
    return changed_fields(options, "picks", "focus", "budget", "model", "force", "again", "policy", "choices")


def _options_from_stored(entry: Mapping[str, Json]) -> MergeOptions:
    choices = {
        name: None if choice is None else Choice(*choice) for name, choice in entry.get("choices", {}).items()
    }
    return MergeOptions(
        entry["strategy"],
        tuple(MessageId(pick) for pick in entry.get("picks", ())),
        entry.get("focus", ""),
        entry.get("budget"),
        entry.get("model"),
        entry.get("force", False),
        entry.get("again", False),
        policy=entry.get("policy", "ask"),
        choices=MappingProxyType(choices),
    )


def sound(request: MergeRequest) -> bool:
    """Whether the options have valid types: a file may contain anything."""
    options = request.options
    choices = [choice for choice in options.choices.values() if choice is not None]
    texts: list[object] = [
        options.focus,
        options.model or "",
        *options.choices,
        *request.words,
        *request.words.values(),
    ]
    texts += [text for choice in choices for text in (choice.text, choice.by, choice.source)]
    texts += (request.graft.conversation, request.graft.title) if request.graft is not None else ()
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(flag, bool) for flag in (options.force, options.again))
        and (options.budget is None or type(options.budget) is int)
        and options.policy in get_args(Policy)
        and all(choice.take in get_args(Take) for choice in choices)
    )


def requests_in(view: View) -> tuple[MergeRequest, ...]:
    """Every request, newest first."""
    found = (
        MergeRequest.from_stored(int(key.removeprefix(REQUESTS)), entry)
        for key, entry in view.entries.items()
        if key.startswith(REQUESTS)
    )
    return tuple(sorted(found, key=lambda one: -one.number))


def request_in(view: View, number: int) -> MergeRequest:
    """The request with this number. Raises NotFound if there is none."""
    entry = view.entries.get(f"{REQUESTS}{number}")
    if entry is None:
        raise NotFound(f"There is no merge request {number}.")
    return MergeRequest.from_stored(number, entry)


def follow_renamed(tx: Transaction, old: str, new: str) -> None:
    """Update the branch names in open requests after a branch is renamed."""
    for request in requests_in(tx.view):
        followed = renamed_in(request, old, new)
        if followed != request:
            tx.set(f"{REQUESTS}{request.number}", followed.stored())


def renamed_in(request: MergeRequest, old: str, new: str) -> MergeRequest:
    """The request after a branch was renamed; unchanged if it was answered, or does not name the branch."""
    own = request.graft is None
    if request.state != "open" or old not in (*(request.sources if own else ()), request.into):
        return request
    followed = replace(request, into=new if request.into == old else request.into)
    if not own:
        return followed
    source = new if request.source == old else request.source
    others = tuple(replace(o, source=new) if o.source == old else o for o in request.others)
    followed = replace(followed, source=source, others=others)
    # The payload for several branches at once is stored under all their names.
    names = {old: new, ", ".join(request.sources): ", ".join(followed.sources)}
    words = {names.get(name, name): text for name, text in request.words.items()}
    choices = {
        key: replace(choice, source=new) if choice is not None and choice.source == old else choice
        for key, choice in request.options.choices.items()
    }
    return replace(followed, words=words, options=replace(request.options, choices=choices))


def open_request(view: View, number: int) -> MergeRequest:
    """The open request with this number. Raises NotFound if there is none, InTheWay if it was answered."""
    request = request_in(view, number)
    if request.state != "open":
        raise InTheWay(
            f"{log_name(request)} was {request.state} by {request.answered_by}.", "Make a new one."
        )
    return request


def log_name(request: MergeRequest) -> str:
    """The request's name in the log."""
    return f"request {request.number}, {quoted(request.named)} into “{request.into}”"


def quoted(names: Sequence[str]) -> str:
    """Branch names, quoted and joined for a sentence."""
    return ", ".join(f"“{name}”" for name in names)


def is_own_review(key: str, actor: str) -> bool:
    """Whether a key of the view is that of somebody's own review, or of a model's that they asked."""
    person = key.removeprefix(REVIEWS).partition("/")[2]
    return person == actor or person.startswith(f"{actor}/")


def accept(tx: Transaction, number: int) -> None:
    """Close an open request as accepted, in the transaction that lands its merge.

    Raises:
        InTheWay: it was answered meanwhile.
    """
    request = open_request(tx.view, number)
    tx.set(f"{REQUESTS}{number}", replace(request, state="accepted", answered_by=tx.actor).stored())
