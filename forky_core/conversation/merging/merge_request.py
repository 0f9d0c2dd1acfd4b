"""A merge request as a value: an entry of the view, so that undo, redo and restore hold for it as for all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from forky_core.conversation.transaction import Transaction
from forky_core.merge.claims.conflict_resolution import Choice, Policy, Take
from forky_core.merge.options import MergeOptions
from forky_core.model import ConversationId, MessageId, View
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.parts import Json

REQUESTS = "requests/"
"""How their entries begin."""

State = Literal["open", "accepted", "declined"]


@dataclass(frozen=True, slots=True)
class Comment:
    by: str
    text: str
    at: int
    """Microseconds since the epoch, UTC."""


@dataclass(frozen=True, slots=True)
class FurtherSource:
    """A further branch that is proposed for the same merge: an octopus."""

    source: str
    seen: MessageId | None
    """Its head, as `MergeRequest.seen`."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The conversation that the source is a branch of, where it is not this one: a graft."""

    conversation: ConversationId
    title: str
    """As it was when the request was made or last changed."""


@dataclass(frozen=True, slots=True)
class MergeRequest:
    number: int
    source: str
    """The branch that is proposed, or the first of several."""
    into: str
    by: str
    note: str
    at: int
    seen: MessageId | None
    """The source's head when the request was made or last changed: what its author had in view."""
    wish: MergeOptions = field(default_factory=MergeOptions)
    """What its author proposes, with every choice; whoever accepts may take another."""
    state: State = "open"
    answered_by: str = ""
    comments: tuple[Comment, ...] = ()
    others: tuple[FurtherSource, ...] = ()
    """Further branches, in the order they shall be shown in."""
    graft: Elsewhere | None = None
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The payload where its author wrote it, by source."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every branch that is proposed."""
        return (self.source, *(other.source for other in self.others))

    @property
    def named(self) -> tuple[str, ...]:
        """The sources as a person reads them."""
        if self.graft is None:
            return self.sources
        return (f"{self.source} of {self.graft.title}" if self.graft.title else self.source,)

    @property
    def strategy(self) -> str:
        return self.wish.strategy

    @property
    def picks(self) -> tuple[MessageId, ...]:
        """Of a proposed cherry-pick: the messages; of any other strategy none."""
        return self.wish.picks

    @property
    def seen_heads(self) -> tuple[MessageId, ...]:
        """Of every source: what its author had in view."""
        return tuple(h for h in (self.seen, *(other.seen for other in self.others)) if h is not None)

    def stored(self) -> dict[str, Json]:
        entry: dict[str, Json] = {
            "source": self.source,
            "into": self.into,
            "by": self.by,
            "note": self.note,
            "at": self.at,
            "seen": self.seen,
            "strategy": self.strategy,
            "state": self.state,
        }
        if self.answered_by:
            entry["answered_by"] = self.answered_by
        if self.comments:
            entry["comments"] = [[one.by, one.text, one.at] for one in self.comments]
        if self.others:
            entry["others"] = [[one.source, one.seen] for one in self.others]
        if self.graft is not None:
            entry["graft"] = [self.graft.conversation, self.graft.title]
        if self.words:
            entry["words"] = dict(self.words)
        return entry | _wish_stored(self.wish)

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
            _wish_from_stored(entry),
            entry["state"],
            entry.get("answered_by", ""),
            tuple(Comment(by, text, at) for by, text, at in entry.get("comments", ())),
            tuple(FurtherSource(source, seen) for source, seen in entry.get("others", ())),
            Elsewhere(ConversationId(id), title) if graft else None,
            MappingProxyType(dict(entry.get("words", {}))),
        )


def _wish_stored(wish: MergeOptions) -> dict[str, Json]:
    """What differs from the plain wish of its strategy."""
    fields: dict[str, Json] = {
        "picks": list(wish.picks),
        "focus": wish.focus,
        "budget": wish.budget,
        "model": wish.model,
        "force": wish.force,
        "again": wish.again,
        "policy": "" if wish.policy == "ask" else wish.policy,
        "choices": {
            name: None if choice is None else choice.stored() for name, choice in wish.choices.items()
        },
    }
    return {name: value for name, value in fields.items() if value or (value == 0 and name == "budget")}


def _wish_from_stored(entry: Mapping[str, Json]) -> MergeOptions:
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
    """Whether what was chosen is of the types that it claims: a file may say anything."""
    wish = request.wish
    choices = [choice for choice in wish.choices.values() if choice is not None]
    texts: list[object] = [
        wish.focus,
        wish.model or "",
        *wish.choices,
        *request.words,
        *request.words.values(),
    ]
    texts += [text for choice in choices for text in (choice.text, choice.by, choice.source)]
    texts += (request.graft.conversation, request.graft.title) if request.graft is not None else ()
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(flag, bool) for flag in (wish.force, wish.again))
        and (wish.budget is None or type(wish.budget) is int)
        and wish.policy in get_args(Policy)
        and all(choice.take in get_args(Take) for choice in choices)
    )


def requests_in(view: View) -> tuple[MergeRequest, ...]:
    """Every request, the newest first."""
    found = (
        MergeRequest.from_stored(int(key.removeprefix(REQUESTS)), entry)
        for key, entry in view.entries.items()
        if key.startswith(REQUESTS)
    )
    return tuple(sorted(found, key=lambda one: -one.number))


def request_in(view: View, number: int) -> MergeRequest:
    """NotFound where there is none of that number."""
    entry = view.entries.get(f"{REQUESTS}{number}")
    if entry is None:
        raise NotFound(f"There is no merge request {number}.")
    return MergeRequest.from_stored(number, entry)


def follow_renamed(tx: Transaction, old: str, new: str) -> None:
    """Open requests go on naming their branches when one is renamed."""
    for request in requests_in(tx.view):
        own = request.graft is None
        if request.state != "open" or old not in (*(request.sources if own else ()), request.into):
            continue
        followed = replace(request, into=new if request.into == old else request.into)
        if own:
            source = new if request.source == old else request.source
            others = tuple(replace(o, source=new) if o.source == old else o for o in request.others)
            followed = replace(followed, source=source, others=others)
            # Words for one payload of several branches stand under all their names.
            names = {old: new, ", ".join(request.sources): ", ".join(followed.sources)}
            words = {names.get(name, name): text for name, text in request.words.items()}
            choices = {
                key: replace(choice, source=new) if choice is not None and choice.source == old else choice
                for key, choice in request.wish.choices.items()
            }
            followed = replace(followed, words=words, wish=replace(request.wish, choices=choices))
        tx.set(f"{REQUESTS}{request.number}", followed.stored())


def open_request(view: View, number: int) -> MergeRequest:
    """NotFound where there is none of that number; InTheWay where it was answered."""
    request = request_in(view, number)
    if request.state != "open":
        raise InTheWay(f"{called(request)} was {request.state} by {request.answered_by}.", "Make a new one.")
    return request


def called(request: MergeRequest) -> str:
    """As the log says it."""
    return f"request {request.number}, {quoted(request.named)} into “{request.into}”"


def quoted(names: Sequence[str]) -> str:
    """Branches as sentences name them."""
    return ", ".join(f"“{name}”" for name in names)


def accept(tx: Transaction, number: int) -> None:
    """Close an open request as accepted, in the transaction that lands its merge.

    Raises:
        InTheWay: it was answered meanwhile.
    """
    request = open_request(tx.view, number)
    tx.set(f"{REQUESTS}{number}", replace(request, state="accepted", answered_by=tx.actor).stored())
