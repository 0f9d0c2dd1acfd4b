"""What `verify` has found so far: the checks of auditing.py, and those of an engine about its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from forky_core.model import ConversationId, View
from forky_core.store.auditing import EARLY_END, astray, content_findings, naming_findings
from forky_core.store.contract import Finding, Verification
from forky_core.store.erasing import StoredConversation


@dataclass(slots=True)
class StoreAudit:
    findings: list[Finding] = field(default_factory=list)
    remarks: list[Finding] = field(default_factory=list)
    messages: int = 0
    operations: int = 0
    newest: int = 0
    ends_early: bool = False
    damaged: bool = False

    def found(self, conversation: ConversationId | None, what: str, *, damage: bool) -> None:
        """Add a finding. `damage` marks what Forky never writes; other findings can stem from a
        caller, or are rebuilt.
        """
        self.findings.append(Finding(conversation, what))
        self.damaged = self.damaged or damage

    def take(
        self,
        stored: StoredConversation,
        view: View,
        has_blob: Callable[[str], bool],
        of_rows: Iterable[str],
        early: Iterable[str] = (),
    ) -> None:
        """Check a conversation, and add what its rows have shown: some at the early end of its log or messages."""
        content = content_findings(stored.messages, stored.operations, view)
        for what in (*of_rows, *content, *early):
            self.found(stored.id, what, damage=True)
        for what in naming_findings(stored.messages, view, stored.generations, has_blob):
            self.found(stored.id, what, damage=False)
        if (remark := astray(stored.messages, stored.operations)) is not None:
            self.remarks.append(Finding(stored.id, remark))
        self.messages += len(stored.messages)
        self.operations += len(stored.operations)
        self.newest = max([self.newest, *(operation.at for operation in stored.operations)])

    def verification(self, *, conversations: int, blobs: int) -> Verification:
        if self.ends_early or self.remarks:
            self.remarks.append(Finding(None, EARLY_END))
        return Verification(
            conversations,
            self.messages,
            self.operations,
            blobs,
            tuple(self.findings),
            tuple(self.remarks),
            self.newest,
        )
