"""Everything about spending in one workspace, opened with its team."""

from __future__ import annotations

from collections.abc import Callable

from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase
from forky_core.team.members import Members
from forky_core.team.refused_requests import TOO_MANY, RefusedRequests
from forky_core.team.spending.accounts import Accounts
from forky_core.team.spending.ledger import Ledger
from forky_core.team.spending.limits import LimitBook
from forky_core.team.spending.request_rate import RequestRate, SharedRequests
from forky_core.team.spending.uploads import Uploads


class TeamSpending:
    """The limits, balances and sums of one workspace."""

    def __init__(
        self,
        database: TeamDatabase,
        audit: Audit,
        members: Members,
        refused: RefusedRequests,
        workspace: str,
        *,
        clock: Callable[[], int],
    ) -> None:
        self.clock = clock
        self.limits = LimitBook(database, audit, members, workspace)
        self.accounts = Accounts(database, audit, members, self.limits, workspace, clock)
        self.ledger = Ledger(database, workspace)
        self.uploads = Uploads(database, self.limits, workspace, clock)

        def rate(kind: str) -> RequestRate:
            shared = SharedRequests(database, f"{kind} {workspace}", clock) if database.is_shared else None
            return RequestRate(shared, refused=lambda person: refused.count(TOO_MANY, person))

        self.question_rate = rate("question")
        """The calls of models."""
        self.program_rate = rate("program")
        """The requests of programs to `/v1`."""

    def close(self) -> None:
        self.accounts.close()
