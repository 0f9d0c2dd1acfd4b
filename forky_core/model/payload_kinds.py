"""How the payload of a merge is read, by the name of the strategy that made it.

A payload is frozen when it lands, and every later context, merge and page reads it back by this name. So the meaning of
a name belongs to the format of a conversation. A name that nobody registered reads as lines with citations, which is
what a strategy writes unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reading = Literal["turns", "lines", "quotation", "answer", "notice"]
"""What a payload consists of. `turns`: a header, below which a context shows the messages themselves. `lines`: what
other messages said, each line ending in their ids. `quotation`: messages word for word. `answer`: an answer made from
other answers. `notice`: a sentence about the messages below it."""


@dataclass(frozen=True, slots=True)
class PayloadKind:
    """How payloads of one strategy are read and described."""

    name: str
    landed: str
    """The participle for captions: “debug” *squashed*."""
    reading: Reading = "lines"
    settles: bool = False
    """Whether it records conflicts between its sides, which a person settles."""
    verb: str = "Merged"
    """The verb for the history: *Merged* “debug” into “main”."""
    account: str = "What the {name} merge of “{source}” brought."
    """The sentence for the account of a context."""
    headings: tuple[str, ...] = ()
    """Headings that its payloads may have beside those of a note."""
    caption: str = ""
    """What captions say of it in place of the participle."""
    begins_anew: bool = False
    """Whether contexts begin with it, so that nothing above it is sent: a program's own rewriting of a conversation."""


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
COMPACTION = PayloadKind(
    "compaction",
    "compacted",
    "turns",
    verb="Compacted",
    account="The program's summary, in the place of what stands above it.",
    caption="Summed up by the program, which goes on from here",
    begins_anew=True,
)
TASK = PayloadKind(
    "task",
    "given a task",
    "notice",
    verb="Gave a task from",
    account="A task for a sub-agent, which reads nothing of what stands above it.",
    caption="A task for a sub-agent of “{source}”",
    begins_anew=True,
)
_kinds = {
    kind.name: kind for kind in (SQUASH, FULL, THREE_WAY, CHERRY_PICK, FUSION, REBASE, COMPACTION, TASK)
}


def kind_of(name: str) -> PayloadKind:
    """Return the kind of that name; for an unregistered name, a kind that reads as cited lines."""
    return _kinds.get(name) or PayloadKind(name, f"merged by {name}")


def register_kind(kind: PayloadKind) -> None:
    """Make a name known to everything that reads payloads.

    Raises:
        ValueError: the name is registered with another meaning.
    """
    if _kinds.setdefault(kind.name, kind) != kind:
        raise ValueError(f"“{kind.name}” is the name of another strategy already.")


def unregister_kind(kind: PayloadKind) -> None:
    """Remove a registered kind, as a test does for a kind it made up."""
    if _kinds.get(kind.name) == kind:
        del _kinds[kind.name]


def own_headings() -> frozenset[str]:
    """Return the headings of all kinds, beside those of a note, as whole lines."""
    return frozenset(f"{title}:" for kind in _kinds.values() for title in kind.headings)
