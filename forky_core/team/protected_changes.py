"""The check of every change of a protected branch: it comes by a merge request that has the required reviews.

The guarded store asks it of each commit, whatever verb made it: a question, an undo, a restore, a rename, an import.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from forky_core.conversation.merging.merge_request import REQUESTS, REVIEWS, MergeRequest
from forky_core.conversation.merging.review_log import Review, ReviewLog, request_heads
from forky_core.model import EMPTY_VIEW, Change, ConversationId, Generation, MessageId, View
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.model.parts import Json
from forky_core.store.contract import Commit, Store
from forky_core.team.protection import BranchRule, rule_for
from forky_core.team.review_standing import standing
from forky_core.team.roles import Role

_HEADS, _RULES, _TRASHED = "heads/", "rules/", "trashed"
_MOST_LOGS = 100


class Actor(Protocol):
    """Who makes a change, as far as protected branches are concerned (access.py)."""

    def rules_of(self, conversation: ConversationId) -> Sequence[BranchRule]: ...

    def belongs(self, conversation: ConversationId) -> bool: ...

    def role_of(self, conversation: ConversationId, person: str) -> Role: ...

    def name_of(self, person: str) -> str: ...

    def role_in(self, conversation: ConversationId) -> Role:
        """Their own role there."""
        ...

    def owner_of(self, conversation: ConversationId) -> str:
        """The name of whoever it belongs to; "" for the owners of the workspace."""
        ...

    @property
    def own_branch(self) -> str:
        """An example of a branch that is theirs: `ada/idea`."""
        ...


@dataclass(frozen=True, slots=True)
class CheckedCommit:
    """A commit that may be made."""

    commit: Commit
    bypasses: bool
    """Whether it changes a protected branch without a request, as its rule allows this person."""


class ProtectedChanges:
    """Checks the commits of one person against the rules of protected branches; safe from any thread."""

    def __init__(self, store: Store, actor: Actor) -> None:
        """`store` is the whole one, unguarded."""
        self._store = store
        self._actor = actor
        self._logs: dict[ConversationId, ReviewLog] = {}
        self._lock = threading.Lock()

    def check(self, commit: Commit) -> CheckedCommit:
        """The commit, if protected branches allow it.

        Raises:
            NotAllowed: it changes one otherwise than its rule says; the error offers the way.
        """
        rules = self._actor.rules_of(commit.conversation)
        if not rules:
            return CheckedCommit(commit, bypasses=False)
        if any(one.key == _TRASHED and one.after and not one.before for one in commit.changes):
            self.require_removable(commit.conversation)
        owns = self._actor.belongs(commit.conversation)
        for branch in _with_other_rules(commit):
            if not owns and rule_for(rules, branch) is not None:
                raise NotAllowed(
                    f"“{branch}” is protected: only the person whom the conversation belongs to changes its model, "
                    "prompt, memory and pins.",
                    f"Fork it, and change them on a branch of your own, such as {self._actor.own_branch}.",
                )
        required: list[Change] = []
        bypasses = False
        for change in commit.changes:
            branch = change.key.removeprefix(_HEADS)
            if branch == change.key or change.before == change.after:
                continue
            rule = rule_for(rules, branch)
            if rule is None or (change.before is None and owns):
                continue
            try:
                required += self._check_landing(commit, change, branch, rule)
            except NotAllowed:
                if not (owns and rule.bypass):
                    raise
                bypasses = True
        return CheckedCommit(replace(commit, changes=(*commit.changes, *required)), bypasses)

    def refuse_replies(self, conversation: ConversationId, calls: Iterable[Generation]) -> None:
        """Refuse replies that begin now and could not land on their branch, before a model is asked.

        Those that began before are checked as they land.

        Raises:
            NotAllowed: a branch is protected, and its rule allows this person no direct change.
        """
        running = [call for call in calls if call.status == "running"]
        rules = self._actor.rules_of(conversation) if running else ()
        if not rules:
            return
        known = {one.id for one in self._store.generations(conversation)}
        for call in running:
            rule = rule_for(rules, call.branch) if call.id not in known else None
            if rule is not None and not (rule.bypass and self._actor.belongs(conversation)):
                raise self._refusal(call.branch, rule)

    def require_removable(self, conversation: ConversationId) -> None:
        """Check that this person may take a conversation away from everybody: into the trash, or for good.

        Raises:
            NotAllowed: one of its branches is protected, and the conversation is not theirs.
        """
        rules = self._actor.rules_of(conversation)
        if not rules or self._actor.role_in(conversation) is Role.OWNER:
            return
        branch = next(
            (name for name in self._store.view(conversation).branches if rule_for(rules, name)), None
        )
        if branch is None:
            return
        owner = self._actor.owner_of(conversation)
        whose = (
            f"{owner}, whom it belongs to, and owners of the workspace who see it"
            if owner
            else "owners of the workspace"
        )
        raise NotAllowed(
            f"This conversation has a protected branch, “{branch}”: only {whose} may move it to the trash or delete it.",
            "Ask them to do it, or to lift the protection.",
        )

    def _check_landing(
        self, commit: Commit, change: Change, branch: str, rule: BranchRule
    ) -> Iterator[Change]:
        """Check that a commit lands a reviewed request on a protected branch.

        What the check has read must still hold when the store writes, so the reviews are yielded as changes that
        require their keys to stay. Raises NotAllowed for anything else.
        """
        conversation = commit.conversation
        head = _head(change.after)
        landed = list(_accepted(commit, branch))
        if head is None or len(landed) != 1 or not self._continues(commit, _head(change.before), head):
            raise self._refusal(branch, rule, made=change.before is None)
        request = landed[0]
        log = self._log(conversation)
        reviews = log.reviews(request.number)
        view = self._store.view(conversation)
        heads = request_heads(request, view, self._home(request, view))

        def outdated(review: Review) -> str:
            why = review.outdated(request, heads)
            return why or ("" if review.lands == head else "something else would land than what was approved")

        found = standing(
            rule,
            reviews,
            log.authors(request.number),
            lambda person: self._actor.role_of(conversation, person),
            outdated,
        )
        if not found.ready:
            raise NotAllowed(
                f"“{branch}” is protected, and request {request.number} cannot land yet. "
                f"{found.sentence(self._actor.name_of)}",
                "Ask for the reviews that are missing; the request stays open.",
            )
        for review in reviews:
            key = f"{REVIEWS}{request.number}/{review.by}"
            yield Change(key, view.entries.get(key), view.entries.get(key))

    def _refusal(self, branch: str, rule: BranchRule, *, made: bool = False) -> NotAllowed:
        way = f"work on a branch of your own, such as {self._actor.own_branch}, and ask for its merge."
        if made:
            return NotAllowed(
                f"“{branch}” is a protected name: only the person whom the conversation belongs to makes such a branch.",
                f"Choose another name: {way}",
            )
        needed = max(rule.approvals, len(rule.reviewers))
        by = (
            ""
            if not needed
            else " that one person approved"
            if needed == 1
            else f" that {needed} people approved"
        )
        return NotAllowed(
            f"“{branch}” is protected: it changes only by a merge request{by}.", f"Fork it, {way}"
        )

    def _continues(self, commit: Commit, before: MessageId | None, after: MessageId) -> bool:
        """Whether a branch that is at `before` only moves forward to `after`, along first parents."""
        added = {message.id: message for message in commit.messages}
        at: MessageId | None = after
        while at in added and at != before:
            at = added[at].parent
        if before is None or at == before:
            return True
        try:
            return at is not None and any(
                one.id == before for one in self._store.path(commit.conversation, at)
            )
        except NotFound:
            return False

    def _home(self, request: MergeRequest, view: View) -> View:
        if request.graft is None:
            return view
        try:
            return self._store.view(request.graft.conversation)
        except NotFound:
            return EMPTY_VIEW

    def _log(self, conversation: ConversationId) -> ReviewLog:
        with self._lock:
            if len(self._logs) >= _MOST_LOGS and conversation not in self._logs:
                self._logs.clear()
            log = self._logs.setdefault(conversation, ReviewLog())
            log.add(self._store.operations(conversation, after=log.version))
            return log


def _with_other_rules(commit: Commit) -> Iterator[str]:
    """The branches that stay and get other rules by a commit."""
    ends = {
        change.key.removeprefix(_HEADS)
        for change in commit.changes
        if change.key.startswith(_HEADS) and None in (change.before, change.after)
    }
    for change in commit.changes:
        branch = change.key.removeprefix(_RULES)
        if branch != change.key and change.before != change.after and branch not in ends:
            yield branch


def _accepted(commit: Commit, branch: str) -> Iterator[MergeRequest]:
    """The requests for a branch that a commit closes as accepted, and changes in nothing else."""
    for change in commit.changes:
        before, after = change.before, change.after
        if change.key.startswith(REQUESTS) and isinstance(before, Mapping) and isinstance(after, Mapping):
            states = before.get("state"), after.get("state")
            if states == ("open", "accepted") and _without_answer(before) == _without_answer(after):
                request = MergeRequest.from_stored(int(change.key.removeprefix(REQUESTS)), before)
                if request.into == branch:
                    yield request


def _without_answer(entry: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in entry.items() if name not in {"state", "answered_by"}}


def _head(value: Any) -> MessageId | None:
    return value["at"] if value is not None else None
