"""Revert: a message below which others are left out of the context. Nothing is removed; a revert can be reverted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.context.masking import reverted, turns_of
from forky_core.context.transcript import tool_closures
from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now, title_from
from forky_core.conversation.merging.merging import tokens_of
from forky_core.conversation.replies.asking import refuse_if_moved
from forky_core.conversation.session import Session, short
from forky_core.conversation.validation import fit_text
from forky_core.model import Branch, Message, MessageId, seal
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import Draft, Part, RevertPart, TextPart


@dataclass(frozen=True, slots=True)
class RevertPlan:
    """What a revert would do. Nothing is written yet (law 8)."""

    branch: str
    head: MessageId
    """The branch's head when the plan was made; landing requires it to be the same."""
    targets: tuple[MessageId, ...]
    """Messages that would be masked, in the order of the path."""
    tool_partners: tuple[MessageId, ...]
    """Targets that nobody named: tool calls and results that belong to the others."""
    returning: tuple[MessageId, ...]
    """Messages that would become unmasked, because the revert that masks them is among the targets."""
    note: str
    tokens: int
    """Tokens by which the context grows; usually negative, since messages are removed from it."""
    message: Message
    """The message that would be written, except for its time."""


def plan_revert(session: Session, seen: Branch, wanted: Sequence[MessageId], note: str = "") -> RevertPlan:
    """What reverting these messages on a branch would do.

    Raises:
        BadContent: none is named, or one is not in the branch's context.
        NothingToDo: all of them are reverted already.
    """
    if not wanted or seen.head is None:
        raise BadContent("Nothing is named to be reverted.", "Name the messages.")
    path = session.path(seen.head)
    lookup = session.messages.__getitem__
    groups: list[Sequence[Message]] = [path]
    groups += [turns_of(part, lookup) for m in path for part in m.merges if part.brings_turns]
    order = list(dict.fromkeys(message.id for group in groups for message in group))
    strangers = [id for id in wanted if id not in order]
    if strangers:
        raise BadContent(
            f"{', '.join(map(short, strangers))} is not in the context of “{seen.name}”.",
            "Only what a branch reads can be reverted on it.",
        )
    already = reverted(path)
    fresh = [id for id in wanted if id not in already]
    if not fresh:
        raise NothingToDo("That is reverted already.", f"Revert {short(already[wanted[0]])} to have it back.")
    closed = set(fresh)
    for group in groups:
        closures = tool_closures(group)
        closed.update(other for id in fresh for other in closures.get(id, ()))
    targets = tuple(id for id in order if id in closed and id not in already)
    text = fit_text(note, "A note").strip()
    parts: tuple[Part, ...] = (RevertPart(targets), *((TextPart(text),) if text else ()))
    message = seal(Draft("user", parts), (seen.head,))
    after = reverted((*path, message))
    return RevertPlan(
        seen.name,
        seen.head,
        targets,
        tuple(id for id in targets if id not in fresh),
        tuple(id for id in order if id in already and id not in after),
        text,
        tokens_of(session, (*path, message), seen.rules) - tokens_of(session, path, seen.rules),
        message,
    )


def revert(session: Session, plan: RevertPlan) -> Message:
    """Land a plan as one message and one operation.

    Raises:
        Outdated: the branch has moved since the plan was made; nothing was written.
    """
    refuse_while_replying(session, plan.branch)
    tx = session.require_not_trashed()
    refuse_if_moved(session, tx, plan.branch, plan.head)
    message = seal(Draft("user", plan.message.parts), (plan.head,), created=now())
    tx.messages.append(message)
    tx.move(plan.branch, message.id)
    first = session.message(plan.targets[0])
    what = f"{len(plan.targets)} messages" if len(plan.targets) > 1 else _called(first)
    tx.publish("revert", f"Reverted {what} on “{plan.branch}”")
    return tx.stored(message)


def _called(message: Message) -> str:
    """A name of the message for people."""
    if message.merge is not None:
        return f"the merge of “{message.merge.source}”"
    if message.reverts:
        return f"the revert {short(message.id)}"
    return f"“{title_from(message.text)}”" if message.text.strip() else short(message.id)
