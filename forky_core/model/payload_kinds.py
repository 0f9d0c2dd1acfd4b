"""How the payload of a merge is read, by the name of the strategy that made it.

A payload is frozen when it lands, and every later context, merge and page reads it back by this name. So what a name
means belongs to the format of a conversation. A name that nobody registered reads as lines with citations, which is
what a strategy writes unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reading = Literal["turns", "lines", "quotation", "answer", "notice"]
"""What stands in a payload: `turns`, a header above messages that a context shows themselves; `lines`, what other
messages said, each line ending in their ids; `quotation`, messages word for word; `answer`, an answer of its own made
from others; `notice`, a sentence about the messages below it."""


@dataclass(frozen=True, slots=True)
class PayloadKind:
    """What one name of a strategy means in a payload."""

    name: str
    landed: str
    """What became of the branch, as a caption says it: “debug” *squashed*."""
    reading: Reading = "lines"
    settles: bool = False
    """Whether it holds the claims of all sides, compared: what its messages claim beyond those is not read again."""
    verb: str = "Merged"
    """What was done, as the history says it: *Merged* “debug” into “main”."""
    account: str = "What the {name} merge of “{source}” brought."
    """What the account of a context says of it."""
    headings: tuple[str, ...] = ()
    """Headings of its own, beside those of a note."""

    @property
    def speaks_for_itself(self) -> bool:
        """Whether it stands for no other message."""
        return self.reading in ("answer", "notice")


SQUASH = PayloadKind("squash", "squashed")
FULL = PayloadKind("full", "in full", "turns")
THREE_WAY = PayloadKind("three-way", "merged three-way", settles=True)
CHERRY_PICK = PayloadKind(
    "cherry-pick", "picked", "quotation", verb="Picked from", account="Picked from “{source}”."
)
FUSION = PayloadKind("fuse", "fused", "answer")
REBASE = PayloadKind(
    "rebase",
    "rebased",
    "notice",
    account="Says that the copies below were answered before “{source}” was rebased.",
)
_kinds = {kind.name: kind for kind in (SQUASH, FULL, THREE_WAY, CHERRY_PICK, FUSION, REBASE)}


def kind_of(name: str) -> PayloadKind:
    """What a name means; of one that nobody registered, that it tells of other messages line by line."""
    return _kinds.get(name) or PayloadKind(name, f"merged by {name}")


def register_kind(kind: PayloadKind) -> None:
    """Make a name known to everything that reads payloads.

    Raises:
        ValueError: the name means something else already.
    """
    if _kinds.setdefault(kind.name, kind) != kind:
        raise ValueError(f"“{kind.name}” is the name of another strategy already.")


def unregister_kind(kind: PayloadKind) -> None:
    """Take a registered kind back, as a test does that made one up."""
    if _kinds.get(kind.name) == kind:
        del _kinds[kind.name]


def own_headings() -> frozenset[str]:
    """The headings that kinds have beside those of a note, as whole lines."""
    return frozenset(f"{title}:" for kind in _kinds.values() for title in kind.headings)
