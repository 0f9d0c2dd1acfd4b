"""`chat.stashes`: drafts, settings and messages that are put aside, to be applied elsewhere, as `git stash` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now, title_from, title_line
from forky_core.conversation.replies.asking import refuse_if_moved
from forky_core.conversation.session import Session, branch_in
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_text, refuse_unknown_files
from forky_core.model import Branch, Message, MessageId, Operation, Rules, Stash, View, seal
from forky_core.model.errors import BadContent, NotFound
from forky_core.model.parts import Draft


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a stash returns to the composer."""

    draft: str
    attachments: tuple[str, ...]
    """The sha256 of each attachment."""
    rules: Rules | None
    copied: tuple[MessageId, ...]
    """Messages that were copied onto the branch."""
    operation: Operation | None
    """The operation that changed the branch; None if only typed text was returned."""


class Stashes:
    """The stashes of a conversation; they are applied to the branch that is checked out."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def all(self) -> tuple[Stash, ...]:
        """Every stash of this conversation."""
        return self._chat.view.stashes

    def create(
        self,
        *,
        draft: str = "",
        attachments: Sequence[str] = (),
        with_rules: bool = False,
        last: int = 0,
        note: str = "",
    ) -> Stash:
        """Stash a draft, its attachments (sha256 each), the branch's settings, or its last messages.

        With `last`, the branch is moved back by so many messages; they stay visible under the stash.

        Raises:
            BadContent: there is nothing to stash, or fewer messages than `last`.
        """
        session, branch = self._session, self._chat.branch_name
        draft = fit_text(draft, "A draft")
        if not (draft.strip() or attachments or with_rules or last):
            raise BadContent("There is nothing to stash.", "Type something, or choose messages.")
        here = session.branch(branch)
        path = session.path(here.head)
        if not 0 <= last <= len(path):
            raise BadContent(f"“{branch}” has only {len(path)} messages.")
        refuse_unknown_files(session.store, attachments)
        run = path[len(path) - last :]
        said = title_from(draft or (run[-1].text if run else ""))
        label = title_line(note)[:80] or said or _without_words(branch, attachments, run)
        rules = here.rules if with_rules else None
        ids = tuple(message.id for message in run)
        kept = Stash(0, label, draft, tuple(attachments), rules, ids, created=now())
        return with_a_free_key("stash/", lambda: _put_aside(session, here, run, kept))

    def apply(self, number: int) -> Applied:
        """Apply a stash to this branch and keep it; a draft and its attachments are returned for the composer."""
        return self._apply(number, drop=False)

    def pop(self, number: int) -> Applied:
        """Apply a stash to this branch and remove it from the list."""
        return self._apply(number, drop=True)

    def drop(self, number: int) -> Operation:
        """Remove a stash from the list without applying it."""
        tx = self._session.require_not_trashed()
        kept = _find(tx.view, number)
        tx.set(f"stash/{number}", None)
        return tx.publish("drop", f"Dropped stash “{kept.note}”")

    def _apply(self, number: int, *, drop: bool) -> Applied:
        session, branch = self._session, self._chat.branch_name
        refuse_while_replying(session, branch)
        tx = session.require_not_trashed()
        kept = _find(tx.view, number)
        here = branch_in(tx.view, branch)
        head, copied = here.head, []
        for id in kept.messages:
            source = session.message(id)
            if source.parent == head and len(source.parents) < 2:
                head = source.id
            else:
                copy = seal(
                    Draft(source.role, source.parts, source.name, (source.id,)), (head,), created=now()
                )
                tx.messages.append(copy)
                head = copy.id
            copied.append(head)
        if head != here.head:
            tx.move(branch, head)
        if kept.rules is not None:
            tx.set_rules(branch, kept.rules)
        if drop:
            tx.set(f"stash/{number}", None)
        operation = None
        if tx.changes:
            verb = "pop" if drop else "apply"
            operation = tx.publish(verb, f"{'Popped' if drop else 'Applied'} “{kept.note}” onto “{branch}”")
        return Applied(kept.draft, kept.attachments, kept.rules, tuple(copied), operation)


def _without_words(branch: str, attachments: Sequence[str], run: Sequence[Message]) -> str:
    what = "files" if attachments else "messages" if run else "settings"
    return f"{what} of {branch}"


def _put_aside(session: Session, seen: Branch, run: Sequence[Message], unnumbered: Stash) -> Stash:
    """Publish a stash under the next unused number. Raises Outdated if the branch it takes messages from has moved."""
    refuse_while_replying(session, seen.name)
    tx = session.require_not_trashed()
    kept = replace(unnumbered, number=max((s.number for s in tx.view.stashes), default=0) + 1)
    tx.set(f"stash/{kept.number}", kept.stored())
    if run:
        refuse_if_moved(session, tx, seen.name, seen.head)
        tx.move(seen.name, run[0].parent)
    tx.publish("stash", f"Stashed “{kept.note}”")
    return kept


def _find(view: View, number: int) -> Stash:
    """The stash of this number. Raises NotFound if there is none."""
    kept = next((s for s in view.stashes if s.number == number), None)
    if kept is None:
        raise NotFound(f"There is no stash {number}.")
    return kept
