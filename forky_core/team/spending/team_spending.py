"""Everything about spending in one workspace, opened with its team."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forky_core.settings import data_folder
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase
from forky_core.team.members import Members
from forky_core.team.refused_requests import TOO_MANY, RefusedRequests
from forky_core.team.spending.accounts import Accounts
from forky_core.team.spending.ledger import Ledger
from forky_core.team.spending.limits import LimitBook
from forky_core.team.spending.master_key import MasterKey
from forky_core.team.spending.model_rules import ModelRules
from forky_core.team.spending.provider_keys import ProviderKeys, WorkspaceKeys
from forky_core.team.spending.request_rate import RequestRate, SharedRequests
from forky_core.team.spending.uploads import Uploads


class TeamSpending:
    """The keys, rules, limits, balances and sums of one workspace."""

    def __init__(
        self,
        database: TeamDatabase,
        audit: Audit,
        members: Members,
        refused: RefusedRequests,
        workspace: str,
        *,
        key_file: Path | None,
        clock: Callable[[], int],
    ) -> None:
        """`key_file` has the key with which providers' keys are encrypted; None keeps it in memory."""
        self.clock = clock
        self.master_key = MasterKey(key_file)
        self.limits = LimitBook(database, audit, members, workspace)
        self.models = ModelRules(database, audit, workspace)
        self.keys = ProviderKeys(database, audit, members, workspace, self.master_key)
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

    @property
    def workspace_keys(self) -> WorkspaceKeys:
        return WorkspaceKeys(self.keys)

    def close(self) -> None:
        self.accounts.close()


def usual_key_file(people: Path | str) -> Path:
    """Where the key that encrypts providers' keys is kept, if FORKY_KEY_FILE does not say: beside the people's file.

    Its name is `forky.key` for `forky.people.sqlite`, which the backups of docs/operating.md leave out. Where people
    are in PostgreSQL, it is in the user's data folder.
    """
    if isinstance(people, str):
        return data_folder() / "forky.key"
    return people.with_name(f"{people.stem.removesuffix('.people')}.key")
