"""Drafts: whose they are, and what they survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.model import ConversationId
from forky_core.people import stored_drafts
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.people.people import Office


def test_a_draft_is_its_authors_and_survives_a_restart(file: Path) -> None:
    team = Team(file)
    ada, ben = team.members.add("Ada", Role.OWNER), team.members.add("Ben", Role.EDITOR)
    team.drafts.keep(ada.id, "c1/main", {"text": "Shall we “float”?"})
    other = Team(file)
    assert other.drafts.at(ada.id, "c1/main") == {"text": "Shall we “float”?"}
    assert other.drafts.at(ben.id, "c1/main") is None
    other.drafts.keep(ada.id, "c1/main", None)
    assert team.drafts.at(ada.id, "c1/main") is None
    team.close()
    other.close()


def test_the_one_that_was_touched_longest_ago_goes_first(
    here: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_drafts, "KEPT", 2)
    ada = here.join("Ada", Role.OWNER)
    for place in ("a", "b", "a", "c"):
        here.team.drafts.keep(ada.id, place, {"text": place})
    assert [here.team.drafts.at(ada.id, place) is not None for place in "abc"] == [True, False, True]


def test_drafts_go_with_their_conversation_and_no_other(here: Office) -> None:
    ada = here.join("Ada", Role.OWNER)
    for place in ("one/main", "one/thread/x", "other/main"):
        here.team.drafts.keep(ada.id, place, {"text": "typed"})
    here.team.sharing.drop(ConversationId("one"))
    rows = here.team.database.rows("SELECT place FROM drafts")
    assert [row["place"] for row in rows] == ["other/main"]
