"""Appending to a branch, for programs that keep their history here.

Such a history knows neither heads nor races: messages that others added meanwhile come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now, title_from
from forky_core.conversation.session import Session, branch_in
from forky_core.model import Message, seal
from forky_core.model.errors import Outdated
from forky_core.model.parts import Draft

_TRIES = 20


def append(session: Session, name: str, drafts: Sequence[Draft]) -> tuple[Message, ...]:
    """Append messages one after another, as one operation.

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
