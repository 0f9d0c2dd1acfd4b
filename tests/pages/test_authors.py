"""On a team's server nobody reads “You” above what somebody else said."""

from __future__ import annotations

import json

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.people.members import Member
from forky_core.people.roles import Role
from tests.builders import talk
from tests.pages.apptest import compared, merge_editor, open_page
from tests.pages.teams import TeamServer


@pytest.fixture
def chat(server: TeamServer, ada: Member, ben: Member) -> Conversation:
    """Ada's, of two branches on which she asked different things; Ben may write in it."""
    begun = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    talk(begun.fork("harbour"), "Which harbour is the port?", "The port is Bergen.")
    talk(begun, "How deep is a keel?", "A metre.")
    server.team.sharing.share(begun.id, ben.id, Role.EDITOR, by=ada.id)
    return begun


def test_columns_side_by_side_name_who_asked(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    for member, name in ((ben, "Ada"), (ada, "You")):
        server.sign_in(member)
        drawn = compared(open_page("compare.py", chat, **{"with": "main,harbour"}))
        asked = [
            one for row in drawn["rows"] for cell in row["cells"] for one in cell if one["role"] == "user"
        ]
        assert [one["took"] for one in asked] == [name, name]


def test_the_editor_of_a_merge_names_who_said_what(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    for member, name in ((ben, "Ada"), (ada, "You")):
        server.sign_in(member)
        drawn = merge_editor(open_page("merge.py", chat, source="harbour"))
        messages = [one for stretch in drawn["stretches"] for one in stretch.get("messages", ())]
        assert {one["who"] for one in messages} == {name, "Assistant"}
        lines = [line for section in drawn["sections"] for line in section["lines"]]
        assert name in {line["who"] for line in lines} and "user" not in json.dumps(
            [one["who"] for one in lines]
        )
