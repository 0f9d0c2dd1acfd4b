"""A merge request as a value: an entry of the view, so that undo, redo and restore hold for it as for all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from forky_core.errors import InTheWay, NotFound
from forky_core.model import MessageId, View
from forky_core.parts import Json, Strategy
from forky_core.repo.transaction import Transaction

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
class Beside:
    """A further branch that is proposed for the same merge: an octopus."""

    source: str
    seen: MessageId | None
    """Its head, as `MergeRequest.seen`."""


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
    strategy: Strategy = "squash"
    """What its author proposes; whoever accepts may take another."""
    state: State = "open"
    answered_by: str = ""
    comments: tuple[Comment, ...] = ()
    others: tuple[Beside, ...] = ()
    """Further branches, in the order they shall be shown in."""
    picks: tuple[MessageId, ...] = ()
    """Of a proposed cherry-pick: the messages; of any other strategy none."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every branch that is proposed: what `plan_merge` takes."""
        return (self.source, *(other.source for other in self.others))

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
        if self.picks:
            entry["picks"] = list(self.picks)
        return entry

    @classmethod
    def from_stored(cls, number: int, entry: Mapping[str, Json]) -> MergeRequest:
        return cls(
            number,
            entry["source"],
            entry["into"],
            entry["by"],
            entry["note"],
            entry["at"],
            entry["seen"],
            entry["strategy"],
            entry["state"],
            entry.get("answered_by", ""),
            tuple(Comment(by, text, at) for by, text, at in entry.get("comments", ())),
            tuple(Beside(source, seen) for source, seen in entry.get("others", ())),
            tuple(MessageId(pick) for pick in entry.get("picks", ())),
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
        if request.state == "open" and old in (*request.sources, request.into):
            source = new if request.source == old else request.source
            into = new if request.into == old else request.into
            others = tuple(replace(o, source=new) if o.source == old else o for o in request.others)
            followed = replace(request, source=source, into=into, others=others)
            tx.set(f"{REQUESTS}{request.number}", followed.stored())


def open_request(view: View, number: int) -> MergeRequest:
    """NotFound where there is none of that number; InTheWay where it was answered."""
    request = request_in(view, number)
    if request.state != "open":
        raise InTheWay(f"{called(request)} was {request.state} by {request.answered_by}.", "Make a new one.")
    return request


def called(request: MergeRequest) -> str:
    """As the log says it."""
    return f"request {request.number}, {quoted(request.sources)} into “{request.into}”"


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
