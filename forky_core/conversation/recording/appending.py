"""Drafts put at the end of a branch by a program that keeps its history here, and a branch emptied.

Both are for histories that know neither heads nor races: what somebody else added meanwhile comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now, title_from
from forky_core.conversation.repo import Repo, branch_in
from forky_core.model import Message, Operation, seal
from forky_core.model.errors import NothingToDo, Outdated
from forky_core.model.parts import Draft

_TRIES = 20


def append(repo: Repo, name: str, drafts: Sequence[Draft]) -> tuple[Message, ...]:
    """Add them one after another, as one operation.

    Raises:
        InTheWay: a reply is being written on this branch.
    """
    refuse_while_replying(repo, name)
    for last in reversed(range(_TRIES)):
        tx = repo.live()
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


def empty(repo: Repo, name: str) -> Operation:
    """Point the branch at nothing; what it held stays in sight.

    Raises:
        NothingToDo: it is empty.
        InTheWay: a reply is being written on it.
    """
    refuse_while_replying(repo, name)
    tx = repo.live()
    head = branch_in(tx.view, name).head
    if head is None:
        raise NothingToDo(f"“{name}” is empty already.")
    tx.keep(head)
    tx.move(name, None)
    return tx.publish("clear", f"Emptied “{name}”")
