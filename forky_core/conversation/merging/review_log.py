"""The reviews of merge requests, read from the log of operations.

A review is an operation like any other, but undo, redo and restore leave it alone: it is a person's statement, which
only that person changes. So reviews are read from the log and not from the view: one counts as somebody's only if an
operation of theirs made it. An approval names the message that would land. Since a message's id is the hash of its
whole path, an approval of one text, source and target is none of another.

A model's review has the model's name below the key of whoever asked it. It is data like any other: it holds nothing up
and approves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from forky_core.conversation.merging.merge_request import (
    REQUESTS,
    REVIEWS,
    MergeRequest,
    is_own_review,
)
from forky_core.model import MessageId, Operation, View
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json

ReviewState = Literal["approved", "changes", "withdrawn", "read"]
"""`changes`: asked for, which holds the request up. `withdrawn`: the person's earlier review no longer counts. `read`:
a model has read the request for somebody.
"""
FindingVerdict = Literal["unsupported", "missing", "contradicts"]
"""The branch does not say it; the note leaves out what the branch says; the two cannot both hold."""
MOST_FINDINGS = 20
"""The most findings of one review."""
VERB = "review"
_TALK = frozenset({"comments", "state", "answered_by", "seen", "at", "by", "note"})
"""Fields of a stored request that say nothing of what would be merged."""
_GOING_BACK = frozenset({"undo", "redo", "restore"})


@dataclass(frozen=True, slots=True)
class RequestHeads:
    """Where the branches of a request are at one moment; a branch that is gone is left out."""

    sources: Mapping[str, MessageId | None]
    target: MessageId | None


@dataclass(frozen=True, slots=True)
class ReviewFinding:
    """One thing that a review says of a request; its quotation was looked up when the review was given."""

    verdict: FindingVerdict
    quote: str
    """Words of `message`, or of the note."""
    message: MessageId | None = None
    line: str = ""
    """The words of the note that it speaks of; "" if it names none."""
    why: str = ""

    @classmethod
    def from_stored(cls, entry: Any) -> ReviewFinding:
        verdict, quote, message, line, why = entry
        texts = (quote, line, why, "" if message is None else message)
        if verdict not in get_args(FindingVerdict) or not all(isinstance(text, str) for text in texts):
            raise ValueError("This is no finding.")
        return cls(verdict, quote, message, line, why)

    def told(self, short: Callable[[MessageId], str]) -> str:
        """The finding as a line of text; `short` writes the ids of messages."""
        about = f", about “{self.line}”" if self.line not in ("", self.quote) else ""
        cited = f" [{short(self.message)}]" if self.message is not None else ""
        return f"- {self.verdict}: “{self.quote}”{cited}{about}{f': {self.why}' if self.why else ''}"


@dataclass(frozen=True, slots=True)
class Review:
    """The last review of a merge request by one person, or by a model."""

    by: str
    """The person's id, or the model's name."""
    state: ReviewState
    text: str
    at: int
    """Microseconds since the epoch, UTC."""
    lands: MessageId | None
    """For an approval: the message that the target would end with."""
    proposal: str
    """A hash of what was proposed: branches, strategy, options and edited text."""
    heads: RequestHeads
    """Where the branches were."""
    findings: tuple[ReviewFinding, ...] = ()
    asked_by: str = ""
    """The person who asked, for the review of a model; its operation says so."""

    def told(self, short: Callable[[MessageId], str]) -> str:
        """The words of the review with its findings, a line each; `short` writes the ids of messages."""
        return "\n".join(filter(None, (self.text, *(one.told(short) for one in self.findings))))

    def stored(self) -> dict[str, Json]:
        findings: list[Json] = [
            [one.verdict, one.quote, one.message, one.line, one.why] for one in self.findings
        ]
        more: dict[str, Json] = {"findings": findings} if findings else {}
        return more | {
            "state": self.state,
            "text": self.text,
            "at": self.at,
            "lands": self.lands,
            "proposal": self.proposal,
            "sources": dict(self.heads.sources),
            "target": self.heads.target,
        }

    @classmethod
    def from_stored(cls, by: str, entry: Any) -> Review:
        """A stored review. Raises ValueError, KeyError, TypeError or AttributeError for what is none."""
        sources = entry["sources"]
        if entry["state"] not in get_args(ReviewState) or type(entry["at"]) is not int:
            raise ValueError("This is no review.")
        if not all(isinstance(text, str) for text in (entry["text"], entry["proposal"], *sources)):
            raise TypeError("A review's text is no text.")
        ids = [entry["lands"], entry["target"], *sources.values()]
        if not all(isinstance(id, str | None) for id in ids):
            raise TypeError("A review names no message.")
        heads = RequestHeads(MappingProxyType(dict(sources)), entry["target"])
        findings = tuple(map(ReviewFinding.from_stored, entry.get("findings", ())[:MOST_FINDINGS]))
        said = (entry["state"], entry["text"], entry["at"], entry["lands"], entry["proposal"])
        return cls(by, *said, heads, findings)

    def outdated(self, request: MergeRequest, heads: RequestHeads) -> str:
        """What has changed since the review, as a clause: “idea” has moved since; "" if nothing has. `heads` are the
        current ones.
        """
        if self.proposal != proposal_of(request):
            return "the request was changed since"
        before, after = self.heads.sources, heads.sources
        for name in (*before, *after):
            if before.get(name, "") != after.get(name, ""):
                return f"“{name}” has moved since"
        return "" if self.heads.target == heads.target else f"“{request.into}” has moved since"


class ReviewLog:
    """The reviews and the authors of every request, by the operations that were added so far."""

    def __init__(self) -> None:
        self.version = 0
        """The number of the last operation that was added."""
        self._authors: dict[int, set[str]] = {}
        self._reviews: dict[int, dict[tuple[str, bool], Review]] = {}
        """By request, and by the name of a person or (True) of a model."""

    def add(self, operations: Iterable[Operation]) -> None:
        """Add further operations, oldest first."""
        for operation in operations:
            self.version = operation.number
            for change in operation.changes:
                if change.key.startswith(REQUESTS) and operation.verb not in _GOING_BACK:
                    before, after = _content(change.before), _content(change.after)
                    number = change.key.removeprefix(REQUESTS)
                    if after is not None and before != after and number.isdecimal():
                        self._authors.setdefault(int(number), set()).add(operation.actor)
                elif change.key.startswith(REVIEWS) and operation.verb == VERB:
                    self._take(change.key, change.after, operation.actor)

    def authors(self, number: int) -> frozenset[str]:
        """Everybody who ever proposed something under this number. None of them can approve it."""
        return frozenset(self._authors.get(number, ()))

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The last review of each person and each model, oldest first, without withdrawn ones."""
        found = (one for one in self._reviews.get(number, {}).values() if one.state != "withdrawn")
        return tuple(sorted(found, key=lambda one: one.at))

    def _take(self, key: str, value: Json | None, actor: str) -> None:
        number, _, person = key.removeprefix(REVIEWS).partition("/")
        if not is_own_review(key, actor) or not number.isdecimal():
            return
        model = person.removeprefix(actor).removeprefix("/")
        try:
            review = replace(Review.from_stored(model or actor, value), asked_by=actor if model else "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # A file may contain anything.
        if (review.state == "read") == bool(model):
            self._reviews.setdefault(int(number), {})[review.by, bool(model)] = review


def request_heads(request: MergeRequest, view: View, home: View) -> RequestHeads:
    """Where the branches of a request are: the target in `view`, the sources in `home`, which for a graft is the view
    of the other conversation.
    """
    sources = {name: home.branches[name].head for name in request.sources if name in home.branches}
    target = view.branches.get(request.into)
    return RequestHeads(MappingProxyType(sources), target.head if target is not None else None)


def proposal_of(request: MergeRequest) -> str:
    """A hash of what a request proposes. It changes whenever the proposal does."""
    return content_hash(_content(request.stored()))


def _content(stored: Any) -> Json | None:
    if not isinstance(stored, Mapping):
        return None
    return {name: value for name, value in stored.items() if name not in _TALK}
