"""Forking a branch, appending to it, and what every verb asks first: whether a reply is being written on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forky_core.conversation.identity import branch_name, now, suggested_name, title_from
from forky_core.conversation.session import Session, branch_in, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.model import Message, MessageId, Rules, seal
from forky_core.model.errors import InTheWay, Outdated
from forky_core.model.parts import Draft

_TRIES = 20


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
    chosen = name or suggested_name(question_at(session.message, at), tx.view.branches)
    tx.create_branch(chosen, at, rules)
    tx.publish("fork", f"Forked “{chosen}”" + (f" at {short(at)}" if at else ""))
    return chosen


def question_at(read: Callable[[MessageId], Message], at: MessageId | None) -> str:
    """The text of a message, or of the question it answers: what a branch that starts there is named after."""
    message = read(at) if at else None
    if message is not None and message.role != "user" and message.parent:
        message = read(message.parent)
    return message.text if message is not None else ""


def refuse_while_replying(session: Session, branch: str) -> None:
    """Raise InTheWay if a reply is being written on this branch."""
    if session.replies.on_branch(session.id, branch) is not None:
        raise InTheWay(f"A reply is being written on “{branch}”.", "Wait for it, or stop it.")


def append(session: Session, name: str, drafts: Sequence[Draft]) -> tuple[Message, ...]:
    """Append messages one after another, as one operation, for programs that keep their history here.

    Such a history knows neither heads nor races: messages that others added meanwhile come first.

    Raises:
        InTheWay: a reply is being written on this branch.
    """
    refuse_while_replying(session, name)
    for last in reversed(range(_TRIES)):
        tx = session.require_not_trashed()
        head = branch_in(tx.view, name).head
        for draft in drafts:
            tx.messages.append(seal(draft, (head,), created=now()))
            head = tx.messages[-1].id
        tx.move(name, head)
        said = next((title_from(one.text) for one in tx.messages if one.text.strip()), "")
        if said and not tx.view.title:
            tx.set("title", said)
        try:
            tx.publish("say", f"Wrote on “{name}”: {said}" if said else f"Wrote on “{name}”")
        except Outdated:
            if not last:
                raise
            continue
        return tuple(map(tx.stored, tx.messages))
    raise AssertionError
