"""What earlier versions of Forky stored for a team and nothing uses any more. It stays in the tables, and goes with its
conversation; this is for telling people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from forky_core.llm.providers import PROVIDERS
from forky_core.model import ConversationId
from forky_core.people.access import Access
from forky_core.people.database import TeamDatabase
from forky_core.people.roles import Role

NO_LONGER_PROTECTED = (
    "Branches of this conversation were protected by an earlier version of Forky. They are no longer: everybody who may "
    "edit the conversation may change them."
)
_VARIABLES = {provider.id: provider.variables[0] for provider in PROVIDERS}


def no_longer_used(access: Access) -> Sequence[str]:
    """A sentence for each thing that concerns a member, and for an owner what concerns everybody."""
    database, workspace = access.team.database, access.team.workspace
    owns = access.role is Role.OWNER
    kept = database.rows(
        "SELECT person, provider FROM provider_keys WHERE workspace = ? ORDER BY provider", workspace
    )
    own = [row["provider"] for row in kept if row["person"] == access.id]
    everybodys = [row["provider"] for row in kept if not row["person"]]
    others = {row["person"] for row in kept} - {"", access.id}
    said = []
    if own:
        said.append(
            f"Your own key for {_listed(own)} is not used any more, and stays encrypted in the people's database: "
            "questions are paid for with the server's keys."
        )
    if everybodys and owns:
        variables = _listed([_VARIABLES.get(provider, "its variable") for provider in everybodys])
        said.append(
            f"The key for {_listed(everybodys)} that was stored for everybody is not used any more, and stays encrypted "
            f"in the people's database: set {variables} before starting Forky, or enter the key in Settings for as long "
            "as it runs."
        )
    if others and owns:
        whose = "One member's" if len(others) == 1 else f"{len(others)} members'"
        said.append(
            f"{whose} own keys of providers are not used any more, and stay encrypted in the people's database."
        )
    if owns and database.row("SELECT 1 FROM model_rules WHERE workspace = ?", workspace) is not None:
        said.append(
            "Which models a role may ask is not limited any more: every member may ask each model that is set up here."
        )
    if owns:
        said += _of_spending(database, workspace)
    return said


def _of_spending(database: TeamDatabase, workspace: str) -> Iterator[str]:
    """What became of the limits and sums of earlier versions."""
    if database.row("SELECT 1 FROM balances WHERE workspace = ?", workspace) is not None:
        yield "What somebody was granted as credit is what they may have in all now: raise it to top it up."
    gone = "'requests_a_minute', 'uploads_a_day', 'stored_bytes'"
    if database.row(f"SELECT 1 FROM limits WHERE workspace = ? AND name IN ({gone})", workspace) is not None:  # noqa: S608 - fixed texts
        yield "Requests a minute, files a day and the bytes of files are not limited any more; what was set stays stored."
    if database.row("SELECT 1 FROM ledger WHERE workspace = ?", workspace) is not None:
        yield (
            "Who spent what on which conversation is not listed any more: the lines until now stay in the table `ledger` of "
            "the people's database, and each account has gone on from their sum."
        )


def _listed(words: Sequence[str]) -> str:
    different = list(dict.fromkeys(words))
    return " and ".join((", ".join(different[:-1]), different[-1])) if len(different) > 1 else different[0]


def formerly_protected(database: TeamDatabase, workspace: str) -> Collection[ConversationId]:
    """The conversations of a workspace for whose branches the database has rules."""
    return database.made(("formerly protected", workspace), lambda: _read(database, workspace))


def _read(database: TeamDatabase, workspace: str) -> Collection[ConversationId]:
    rows = database.rows(
        "SELECT DISTINCT conversation FROM protected_branches WHERE workspace = ?", workspace
    )
    return frozenset(ConversationId(conversation) for (conversation,) in rows)
