"""Operations: one recorded change of a conversation each, chained by hash (law 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forky_core.model.hashing import content_hash
from forky_core.model.ids import ConversationId
from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the view before and after; None means that the key is absent."""

    key: str
    before: Json | None
    after: Json | None


Verb = str
"""The kind of the operation, as the History page shows it: "ask", "reply", "fork", "merge", "undo", "restore" …"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One recorded change of a conversation's view (law 5)."""

    conversation: ConversationId
    number: int
    """1 for the operation that created the conversation, without gaps."""
    id: str
    """`content_hash` over the previous operation's id and `stored()`: the chain that makes tampering show."""
    previous: str | None
    at: int
    """Microseconds since the epoch, UTC."""
    actor: str
    verb: Verb
    summary: str
    """One line for people, e.g. 'Forked “debug” at 3f2a'."""
    changes: tuple[Change, ...]
    group: int | None = None
    """Number of the first operation of a gesture that took several (a question and its reply): undone together."""
    reverts: tuple[int, ...] = ()
    """For an undo: the operations it undoes. For a redo: the undo it undoes."""

    @property
    def sentence(self) -> str:
        """The summary with a full stop, unless it ends in a mark already."""
        return self.summary if self.summary.endswith(("…", ".", "!", "?")) else f"{self.summary}."


def operation_id(  # noqa: PLR0913 - the fields of an operation, each of them hashed
    previous: str | None,
    *,
    number: int,
    at: int,
    actor: str,
    verb: Verb,
    summary: str,
    changes: Iterable[Change],
    group: int | None,
    reverts: Iterable[int],
) -> str:
    """Return the id of an operation, chained to the id of the previous one."""
    return content_hash(
        {
            "previous": previous,
            "operation": {
                "number": number,
                "at": at,
                "actor": actor,
                "verb": verb,
                "summary": summary,
                "changes": [[c.key, c.before, c.after] for c in changes],
                "group": group,
                "reverts": list(reverts),
            },
        }
    )
