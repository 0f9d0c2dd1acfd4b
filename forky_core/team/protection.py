"""Which branches of a conversation are protected, and by which rule.

The rules are kept beside the sharing and not in the conversation's view: whoever may change a conversation could
otherwise undo them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.identity import branch_name
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, BadName, NotFound
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase
from forky_core.views.shelf import count

MOST_APPROVALS = 20
"""The most approvals that a rule can require."""
MOST_RULES = 50
"""The most rules of one conversation."""


@dataclass(frozen=True, slots=True)
class BranchRule:
    """A branch that this rule names changes only by a merge request."""

    pattern: str
    """The name of a branch; `*` stands for any characters, as in `release/*`."""
    approvals: int = 1
    """How many people who may edit the conversation have to approve a request."""
    reviewers: tuple[str, ...] = ()
    """The ids of people each of whom has to approve it; they count among `approvals`."""
    bypass: bool = False
    """Whether the person whom the conversation belongs to may change the branch directly; that is in the audit log."""

    def covers(self, branch: str) -> bool:
        """Whether it protects a branch of this name."""
        first, *others = self.pattern.split("*")
        if not others:
            return branch == first
        *middle, last = others
        if len(branch) < len(first) + len(last) or not (branch.startswith(first) and branch.endswith(last)):
            return False
        at, end = len(first), len(branch) - len(last)
        for part in middle:
            found = branch.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True


def rule_for(rules: Collection[BranchRule], branch: str) -> BranchRule | None:
    """What protects a branch; None if nothing does. Of several rules the strictest of each requirement holds."""
    fitting = [rule for rule in rules if rule.covers(branch)]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    return BranchRule(
        branch,
        max(rule.approvals for rule in fitting),
        tuple(dict.fromkeys(person for rule in fitting for person in rule.reviewers)),
        all(rule.bypass for rule in fitting),
    )


def rule_words(rule: BranchRule, name_of: Callable[[str], str]) -> str:
    """What a rule requires, in a line; `name_of` is the name of a person's id."""
    needed = max(rule.approvals, len(rule.reviewers))
    said = "By a merge request" if not needed else f"By a merge request with {count(needed, 'approval')}"
    if rule.reviewers:
        said += f", of {' and '.join(name_of(person) for person in rule.reviewers)}"
        said += " among others" if needed > len(rule.reviewers) else ""
    return said + (". Whom the conversation belongs to may also change it directly." if rule.bypass else ".")


class Protections:
    """The protected branches of one workspace."""

    def __init__(self, database: TeamDatabase, audit: Audit, workspace: str) -> None:
        self._database = database
        self._audit = audit
        self._workspace = workspace

    def of_all(self) -> Mapping[ConversationId, Sequence[BranchRule]]:
        """The rules of every conversation that has any, sorted by their patterns."""
        return self._database.made(("rules", self._workspace), self._read)

    def _read(self) -> Mapping[ConversationId, Sequence[BranchRule]]:
        found: dict[ConversationId, list[BranchRule]] = {}
        rows = self._database.rows(
            "SELECT conversation, pattern, approvals, reviewers, bypass FROM protected_branches WHERE workspace = ? "
            "ORDER BY pattern",
            self._workspace,
        )
        for conversation, pattern, approvals, reviewers, bypass in rows:
            rule = BranchRule(pattern, approvals, tuple(json.loads(reviewers)), bool(bypass))
            found.setdefault(ConversationId(conversation), []).append(rule)
        return found

    def of(self, conversation: ConversationId) -> Sequence[BranchRule]:
        """The rules of a conversation, sorted by their patterns."""
        return self._read().get(conversation, ())

    # Changes. `by` is the id of the person who makes it; whether they may is asked before. The audit log names no
    # branch, because one is often called after what was asked on it.

    def protect(self, conversation: ConversationId, rule: BranchRule, *, by: str) -> None:
        """Add a rule, or replace the one with the same pattern.

        Raises:
            BadContent: the pattern or the number of approvals cannot be used, or there are too many rules.
        """
        pattern = fit_pattern(rule.pattern)
        if not 0 <= rule.approvals <= MOST_APPROVALS:
            raise BadContent(f"A rule requires 0 to {MOST_APPROVALS} approvals.")
        with self._database.writing() as connection:
            known = self.of(conversation)
            before = next((one for one in known if one.pattern == pattern), None)
            if before is None and len(known) >= MOST_RULES:
                raise BadContent(
                    f"A conversation has at most {MOST_RULES} rules.", "Use a pattern: release/*"
                )
            connection.execute(
                "INSERT INTO protected_branches VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (workspace, conversation, pattern) DO UPDATE SET approvals = excluded.approvals, "
                "reviewers = excluded.reviewers, bypass = excluded.bypass",
                (
                    self._workspace,
                    conversation,
                    pattern,
                    rule.approvals,
                    json.dumps(list(dict.fromkeys(rule.reviewers))),
                    int(rule.bypass),
                ),
            )
            self._audit.note(
                "branch protected" if before is None else "protection changed",
                by,
                conversation=conversation,
                approvals=rule.approvals,
                reviewers=len(rule.reviewers),
                bypass=int(rule.bypass),
            )

    def lift(self, conversation: ConversationId, pattern: str, *, by: str) -> None:
        """Remove a rule. Raises NotFound if there is none with this pattern."""
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM protected_branches WHERE workspace = ? AND conversation = ? AND pattern = ?",
                (self._workspace, conversation, pattern),
            )
            if not gone.rowcount:
                raise NotFound(f"No rule protects “{pattern[:40]}”.")
            self._audit.note("protection lifted", by, conversation=conversation)

    def note_bypass(self, conversation: ConversationId, operation: int, *, by: str) -> None:
        """Record that somebody changed a protected branch by an operation that was no merge of a request."""
        self._audit.note("protection bypassed", by, conversation=conversation, operation=operation)


def fit_pattern(text: str) -> str:
    """A pattern as it is stored. Raises BadContent for one that cannot be used."""
    try:
        return branch_name(text)
    except BadName as error:
        raise BadContent(
            f"“{text[:40]}” names no branch.", "Such as main, or release/* for all that begin so."
        ) from error
