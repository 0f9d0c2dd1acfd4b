"""The verbs about what a branch's contexts include: its memory policy, its pins and its exclusions.

Each is one operation on the branch's rules: nothing forks, nothing is deleted, and undo reverts it (laws 4 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from forky_core.context.masking import turns_of
from forky_core.context.memory_policies import fit_memory, label_of
from forky_core.context.transcript import tool_closures
from forky_core.conversation.session import Session, branch_in, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_model
from forky_core.model import MessageId, Operation, Rules
from forky_core.model.errors import NothingToDo
from forky_core.model.memory import EVERYTHING, Memory


def set_memory(session: Session, branch: str | None, memory: Memory | None) -> Operation:
    """Set a branch's memory policy (None: use the conversation's), or, without a branch, the conversation's own.

    Raises:
        BadContent: there is no such policy.
        NothingToDo: it is the policy already.
    """
    fit = replace(fit_memory(memory), model=fit_model(memory.model)) if memory is not None else None

    def put() -> Operation:
        tx = session.require_not_trashed()
        if branch is None:
            tx.set("memory", fit.stored() if fit is not None and fit != EVERYTHING else None)
            whose = "of the conversation"
        else:
            tx.set_rules(branch, replace(branch_in(tx.view, branch).rules, memory=fit))
            whose = f"of “{branch}”"
        if not tx.changes:
            raise NothingToDo("Nothing would change.")
        said = (
            label_of(fit) if fit is not None else ("the conversation's" if branch else label_of(EVERYTHING))
        )
        return tx.publish("memory", f"Set the memory {whose} to {said}")

    return with_a_free_key("rules/", put)


def exclude(session: Session, branch: str, messages: Sequence[MessageId]) -> Operation:
    """Exclude messages from every context of this branch; an excluded message is unpinned.

    Raises:
        NothingToDo: one is not on this branch, or all of them are excluded already.
    """
    ids, along = _of_branch(session, branch, messages)

    def out(rules: Rules) -> Rules:
        pins = tuple(id for id in rules.pins if id not in ids)
        return replace(rules, exclusions=_with(rules.exclusions, ids), pins=pins)

    return _mark(session, branch, "exclude", f"Left {_which(ids)} out of “{branch}”{_along(along)}", out)


def include(session: Session, branch: str, messages: Sequence[MessageId]) -> Operation:
    """Include excluded messages again; a tool call comes with its results if they were excluded together."""
    ids = frozenset(messages)

    def back(rules: Rules) -> Rules:
        return replace(rules, exclusions=tuple(id for id in rules.exclusions if id not in ids))

    return _mark(session, branch, "include", f"Took {_which(messages)} back into “{branch}”", back)


def pin(session: Session, branch: str, messages: Sequence[MessageId]) -> Operation:
    """Have memory policies keep messages, however old they are; excluded ones are included again."""
    ids, along = _of_branch(session, branch, messages)

    def held(rules: Rules) -> Rules:
        out = tuple(id for id in rules.exclusions if id not in ids)
        return replace(rules, pins=_with(rules.pins, ids), exclusions=out)

    return _mark(session, branch, "pin", f"Pinned {_which(ids)} on “{branch}”{_along(along)}", held)


def unpin(session: Session, branch: str, messages: Sequence[MessageId]) -> Operation:
    ids = frozenset(messages)

    def loose(rules: Rules) -> Rules:
        return replace(rules, pins=tuple(id for id in rules.pins if id not in ids))

    return _mark(session, branch, "unpin", f"Unpinned {_which(messages)} on “{branch}”", loose)


def _mark(
    session: Session, branch: str, verb: str, summary: str, change: Callable[[Rules], Rules]
) -> Operation:
    """Change a branch's marks. Two people may do so at once without conflict, so a lost race is tried again."""

    def put() -> Operation:
        tx = session.require_not_trashed()
        tx.set_rules(branch, change(branch_in(tx.view, branch).rules))
        if not tx.changes:
            raise NothingToDo("That is so already.")
        return tx.publish(verb, summary)

    return with_a_free_key("rules/", put)


def _with(known: tuple[MessageId, ...], more: Sequence[MessageId]) -> tuple[MessageId, ...]:
    return tuple(dict.fromkeys((*known, *more)))


def _of_branch(
    session: Session, branch: str, messages: Sequence[MessageId]
) -> tuple[Sequence[MessageId], int]:
    """The messages with the other halves of their tool calls, and the number of these additions."""
    path = session.path(session.branch(branch).head)
    shown = [
        turns_of(part, session.messages.__getitem__) for m in path for part in m.merges if part.brings_turns
    ]
    reach = {message.id for line in (path, *shown) for message in line}
    if not messages:
        raise NothingToDo("No message was named.")
    for id in messages:
        if id not in reach:
            raise NothingToDo(
                f"Message {short(id)} is not in what “{branch}” reads.",
                "Check the branch out that leads there.",
            )
    together: set[MessageId] = set()
    for line in (path, *shown):
        closures = tool_closures(line)
        together.update(*(closures[id] for id in messages if id in closures))
    return messages, len(together - set(messages))


def _which(messages: Sequence[MessageId]) -> str:
    return short(messages[0]) if len(messages) == 1 else f"{len(messages)} messages"


def _along(many: int) -> str:
    if not many:
        return ""
    return f", and with it {many} {'message' if many == 1 else 'messages'} of the same tool call"
