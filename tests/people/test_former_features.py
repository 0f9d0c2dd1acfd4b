"""What an earlier version had stored for parts that are gone: it stays as it was, and a sentence says so."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from forky_core.people.access import Access
from forky_core.people.former_features import no_longer_used
from forky_core.people.team import Team
from tests.people.budgets import put_back


def told(team: Team, handle: str) -> str:
    member = team.members.by_handle(handle)
    assert member is not None
    return "\n".join(no_longer_used(Access(team, member.id, lambda _conversation: ())))


def test_keys_and_models_of_roles_stay_stored_and_whom_it_concerns_is_told(place: Path | str) -> None:
    with closing(Team(place)) as team:
        put_back(team)
    with closing(Team(place)) as team:
        owner, bob, eve = told(team, "ada"), told(team, "bob"), told(team, "eve")
        assert "The key for groq and openai that was stored for everybody is not used any more" in owner
        assert "set GROQ_API_KEY and OPENAI_API_KEY before starting Forky" in owner
        assert "One member's own keys of providers are not used any more" in owner
        assert "Which models a role may ask is not limited any more" in owner
        assert bob.startswith("Your own key for anthropic is not used any more") and "openai" not in bob
        assert eve == ""
        assert len(team.database.rows("SELECT provider FROM provider_keys")) == 3
        member = team.members.by_handle("bob")
        assert member is not None
        team.members.remove(member.id, by="")
        assert "member's own key" not in told(team, "ada"), "it leaves with whose it is"


def test_where_nothing_of_it_was_in_use_nothing_is_said() -> None:
    with closing(Team(None)) as team:
        put_back(team)
        with team.database.writing() as connection:
            for table in ("provider_keys", "model_rules", "limits", "balances", "ledger"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        assert told(team, "ada") == ""
