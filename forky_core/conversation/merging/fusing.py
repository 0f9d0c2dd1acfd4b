"""Fusing the answers to one question: planned, landed as one operation, with the candidates as its parents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event

from forky_core.context.conversion_cache import converter
from forky_core.conversation.branching import question_at, refuse_while_replying
from forky_core.conversation.identity import now, suggested_name
from forky_core.conversation.merging.examining import examination_of
from forky_core.conversation.merging.merging import reader_of
from forky_core.conversation.replies.asking import refuse_if_erased, refuse_if_moved
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.merge.fuse import FusePlan, plan_fuse
from forky_core.merge.picked_parts import PickedPart
from forky_core.merge.written.fusion import fuse_with_model
from forky_core.model import Branch, Message, MessageId, Operation, seal
from forky_core.model.errors import BadContent, NothingToDo


def plan(
    session: Session,
    branch: Branch,
    candidates: Sequence[MessageId],
    *,
    model: str | None = None,
    seed: int | None = None,
    stop: Event | None = None,
    parts: Sequence[PickedPart] = (),
) -> FusePlan:
    """What fusing answers would write; `candidates` defaults to the answers of the `parts`, or else to the branch's
    head and its siblings.

    Raises:
        NothingToDo: nothing was answered here.
        BadContent: fewer than two answers, or not all to one question.
        SquashRejected: the model's answer failed a check.
        ModelError: the model did not answer, or was stopped.
    """
    if branch.head is None:
        raise NothingToDo("Nothing was said here.", "Ask something first.")
    head = session.message(branch.head)
    named = candidates or tuple(dict.fromkeys(part.message for part in parts))
    answers = [session.message(id) for id in named] or _beside(session, head)
    if not answers:
        raise NothingToDo("There is no answer here to fuse.", "Regenerate, or ask several models.")
    # On the branch at hand it stands below the question that was asked there.
    here = next((answer for answer in answers if answer.id == head.id), answers[0])
    if here.parent is None:
        raise BadContent(
            "These are not all answers to one question.", "Choose answers that stand side by side."
        )
    reader = reader_of(session, branch.rules)
    convert = converter(reader.count_tokens)
    question = session.message(here.parent)
    parents = (session.message(answer.parent) for answer in answers if answer.parent is not None)
    planned = plan_fuse(
        question,
        answers,
        branch=branch.name,
        head=head,
        count_tokens=reader.count_tokens,
        cost=lambda message: convert(message, reader.file_access).tokens,
        seed=seed,
        asked={one.id for one in parents if one.role == "user" and one.parts == question.parts},
        parts=parts,
        examined=partial(examination_of, session),
    )
    if model is None:
        return planned
    return fuse_with_model(
        planned, ask=lambda prompt: ask_once(session, model, prompt, stop=stop), model=model
    )


def _beside(session: Session, head: Message) -> list[Message]:
    """The answers at the head's place, or to the head if it is a question; fusions of them are left out."""
    visible = session.visible
    ids = visible.children.get(head.id, ()) if head.role == "user" else visible.siblings(head.id)
    found = [visible.messages[id] for id in ids]
    return [
        m for m in found if m.role == "assistant" and (m.merge is None or m.merge.kind.reading != "answer")
    ]


def land(session: Session, planned: FusePlan) -> Operation:
    """Write a fusion at the branch's head, or on a new branch if the head is somewhere else.

    Raises:
        Outdated: the branch has moved since the plan was made; nothing was written.
    """
    target = planned.target_name
    refuse_while_replying(session, target)
    tx = session.require_not_trashed()
    refuse_if_erased(tx.view, planned.made)
    refuse_if_moved(session, tx, target, planned.target)
    (one,) = planned.drafts
    message = seal(one.draft, one.parents, created=now())
    tx.messages.append(message)
    name = target
    if planned.forks:
        name = suggested_name(question_at(session.message, one.parents[0]), tx.view.branches)
        tx.create_branch(name, message.id, tx.view.branch(target).rules)
    else:
        tx.move(target, message.id)
    for key, entry in planned.entries.items():
        tx.set(key, entry)
    return tx.publish("fuse", f"Fused {len(planned.candidates)} answers on “{name}”")
