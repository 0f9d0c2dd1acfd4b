"""One question to several branches, or to several models: one operation for the question, a separate reply for each.

Each reply fails by itself; if one cannot even be started (another is being written there, the model is unavailable),
that is reported with the others and does not delay them. Undo removes the question everywhere at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import (
    branch_name,
    free_name,
    log_text,
    suggested_name,
)
from forky_core.conversation.replies.asking import add_message, answer, refuse_if_moved
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import Session
from forky_core.conversation.transaction import with_a_free_key
from forky_core.model import Branch, MessageId, Rules, View
from forky_core.model.errors import ForkyError, NothingToDo
from forky_core.model.parts import Draft


@dataclass(frozen=True, slots=True)
class ReplyAttempt:
    """The outcome of asking on one branch: a running reply, or why there is none."""

    branch: str
    job: ReplyJob | None
    error: ForkyError | None = None


def ask_all(
    session: Session, branches: Sequence[Branch], draft: Draft, forks: Sequence[Branch] = ()
) -> tuple[ReplyAttempt, ...]:
    """Ask the same on each branch, as its author saw it, and on the new branches in `forks`.

    Raises:
        NothingToDo: no branch is given.
        NameTaken: a fork has the name of a branch.
    """
    if not branches and not forks:
        raise NothingToDo("There is nobody to ask.", "Choose a branch.")
    tx = session.require_not_trashed()
    for fork in forks:
        tx.create_branch(fork.name, fork.head, fork.rules)
    refused: dict[str, ForkyError] = {}
    for branch in (*branches, *forks):
        try:
            session.models.model(branch.rules.model or session.models.default())
            refuse_while_replying(session, branch.name)
            if branch not in forks:
                refuse_if_moved(session, tx, branch.name, branch.head)
        except ForkyError as error:
            refused[branch.name] = error
    open_ones = [branch for branch in (*branches, *forks) if branch.name not in refused]
    questions = {branch.name: add_message(tx, branch.name, branch.head, draft).id for branch in open_ones}
    group = None
    if open_ones:
        where = f"“{open_ones[0].name}”" if len(open_ones) == 1 else f"{len(open_ones)} branches"
        group = tx.publish("ask", f"Asked on {where}: {log_text(draft.parts)}").number
    return tuple(
        ReplyAttempt(branch.name, None, refused[branch.name])
        if branch.name in refused
        else _answered(session, branch.name, questions[branch.name], branch.rules, group)
        for branch in (*branches, *forks)
    )


def forks(view: View, at: Sequence[MessageId], rules: Rules, text: str) -> tuple[Branch, ...]:
    """A new branch at each message for a question of this text, which they are named after."""
    taken = set(view.branches)
    made: list[Branch] = []
    for message in at:
        name = suggested_name(text, taken)
        taken.add(name)
        made.append(Branch(name, message, rules))
    return tuple(made)


def ask_models(
    session: Session, at: MessageId | None, rules: Rules, draft: Draft, models: Sequence[str]
) -> tuple[ReplyAttempt, ...]:
    """Create a branch for each model at `at` and ask the same on all of them.

    Raises:
        NothingToDo: no model is given.
        NotFound: one of them is no longer available; nothing was written.
    """
    chosen = tuple(dict.fromkeys(models))
    if not chosen:
        raise NothingToDo("There is nobody to ask.", "Choose a model.")
    for model in chosen:
        session.models.model(model)
    own: dict[str, Rules] = {}
    questions: dict[str, MessageId] = {}

    def put() -> int:
        own.clear()
        questions.clear()
        tx = session.require_not_trashed()
        for model in chosen:
            name = free_name(
                branch_name(model.rpartition("/")[2][:40] or "model"), {*tx.view.branches, *questions}
            )
            own[name] = replace(rules, model=model)
            tx.create_branch(name, at, own[name])
            questions[name] = add_message(tx, name, at, draft).id
        return tx.publish("ask", f"Asked {len(chosen)} models: {log_text(draft.parts)}").number

    group = with_a_free_key("heads/", put)
    return tuple(_answered(session, name, question, own[name], group) for name, question in questions.items())


def _answered(
    session: Session, branch: str, question: MessageId, rules: Rules, group: int | None
) -> ReplyAttempt:
    try:
        return ReplyAttempt(
            branch, answer(session, ReplyTarget(session.id, branch, question, group=group), rules)
        )
    except ForkyError as error:
        return ReplyAttempt(branch, None, error)
