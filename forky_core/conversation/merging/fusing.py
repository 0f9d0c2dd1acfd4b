"""Fusing the answers to one question: planned, landed as one operation, with the candidates as its parents."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from forky_core.context.remembered import converter
from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import free_name, now
from forky_core.conversation.reader import reader_of
from forky_core.conversation.replies.asking import refuse_if_moved
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.repo import Repo
from forky_core.merge.fuse import FusePlan, plan_fuse
from forky_core.merge.models.fuse import fuse_with_model
from forky_core.model import Branch, Message, MessageId, Operation, seal
from forky_core.model.errors import BadContent, NothingToDo


def plan(
    repo: Repo,
    branch: Branch,
    candidates: Sequence[MessageId],
    *,
    model: str | None = None,
    seed: int | None = None,
    stop: Event | None = None,
) -> FusePlan:
    """What fusing answers would write; `candidates` defaults to the branch's head and its siblings.

    Raises:
        NothingToDo: nothing was answered here.
        BadContent: fewer than two answers, or not all to one question.
        SquashRejected: the model's answer failed a check.
        ModelError: the model did not answer, or was stopped.
    """
    if branch.head is None:
        raise NothingToDo("Nothing was said here.", "Ask something first.")
    head = repo.message(branch.head)
    answers = [repo.message(id) for id in candidates] or _beside(repo, head)
    if not answers:
        raise NothingToDo("There is no answer here to fuse.", "Regenerate, or ask several models.")
    if answers[0].parent is None:
        raise BadContent(
            "These are not all answers to one question.", "Choose answers that stand side by side."
        )
    reader = reader_of(repo, branch.rules)
    convert = converter(reader.count_tokens)
    planned = plan_fuse(
        repo.message(answers[0].parent),
        answers,
        branch=branch.name,
        head=head,
        count_tokens=reader.count_tokens,
        cost=lambda message: convert(message, reader.sight).tokens,
        seed=seed,
    )
    if model is None:
        return planned
    writer = repo.models.model(model)
    return fuse_with_model(
        planned, ask=lambda prompt: ask_once(writer, model, prompt, stop=stop), model=model
    )


def _beside(repo: Repo, head: Message) -> list[Message]:
    """The answers at the head's place, or to the head if it is a question; fusions of them are left out."""
    visible = repo.visible
    ids = visible.children.get(head.id, ()) if head.role == "user" else visible.siblings(head.id)
    found = [visible.messages[id] for id in ids]
    return [
        m for m in found if m.role == "assistant" and (m.merge is None or m.merge.kind.reading != "answer")
    ]


def land(repo: Repo, planned: FusePlan) -> Operation:
    """Write a fusion at the branch's head, or on a new branch if the head is somewhere else.

    Raises:
        Outdated: the branch has moved since the plan was made; nothing was written.
    """
    target = planned.target_name
    refuse_while_replying(repo, target)
    tx = repo.live()
    refuse_if_moved(repo, tx, target, planned.target)
    (one,) = planned.drafts
    message = seal(one.draft, one.parents, created=now())
    tx.messages.append(message)
    name = target
    if planned.forks:
        name = free_name("fused", tx.view.branches)
        tx.create_branch(name, message.id, tx.view.branch(target).rules)
    else:
        tx.move(target, message.id)
    for key, entry in planned.entries.items():
        tx.set(key, entry)
    return tx.publish("fuse", f"Fused {len(planned.candidates)} answers on “{name}”")
