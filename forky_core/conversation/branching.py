"""Forking, and what every verb on a branch asks first: whether a reply is being written on it."""

from __future__ import annotations

from forky_core.conversation.identity import branch_name, free_name
from forky_core.conversation.session import Session, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.model import MessageId, Rules
from forky_core.model.errors import InTheWay


class Unchanged:
    """The default of arguments for which None is a value of its own: leave the setting unchanged."""


UNCHANGED = Unchanged()


def fork(session: Session, name: str | None, at: MessageId | None, rules: Rules) -> str:
    """Create a branch at `at` (None: an empty one) and return its name. Copies nothing.

    Raises:
        NameTaken, BadName: the name cannot be had; without one, a free name is found.
    """
    if name is None:
        return with_a_free_key("heads/", lambda: _fork(session, None, at, rules))
    return _fork(session, branch_name(name), at, rules)


def _fork(session: Session, name: str | None, at: MessageId | None, rules: Rules) -> str:
    tx = session.require_not_trashed()
    chosen = name or free_name("branch", tx.view.branches)
    tx.create_branch(chosen, at, rules)
    tx.publish("fork", f"Forked “{chosen}”" + (f" at {short(at)}" if at else ""))
    return chosen


def refuse_while_replying(session: Session, branch: str) -> None:
    """Raise InTheWay if a reply is being written on this branch."""
    if session.replies.on_branch(session.id, branch) is not None:
        raise InTheWay(f"A reply is being written on “{branch}”.", "Wait for it, or stop it.")
