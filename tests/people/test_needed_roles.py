"""Which role a change of a conversation needs."""

from __future__ import annotations

import pytest

from forky_core.model import Change, ConversationId
from forky_core.people.needed_roles import needed_for
from forky_core.people.roles import Role
from forky_core.store.contract import Commit

ME = "person:0123456789abcdef"


@pytest.mark.parametrize(
    ("changes", "role"),
    [
        ((Change("heads/ada/idea", None, {"at": None}),), Role.COMMENTER),
        ((Change("heads/main", None, {"at": None}),), Role.EDITOR),
        ((Change(f"polls/1/votes/{ME}", None, {}),), Role.COMMENTER),
        ((Change("polls/1/votes/person:ffffffffffffffff", None, {}),), Role.EDITOR),
        ((Change("polls/1/revealed", None, {}),), Role.EDITOR),
        ((Change("polls/1", {}, {}), Change(f"polls/1/votes/{ME}", None, {})), Role.COMMENTER),
        ((Change("polls/1", {}, {"title": "x"}), Change(f"polls/1/votes/{ME}", None, {})), Role.EDITOR),
        ((Change("polls/1", {}, {}),), Role.EDITOR),
        ((), Role.EDITOR),
    ],
)
def test_what_one_requires_to_stay_is_no_change(changes: tuple[Change, ...], role: Role) -> None:
    commit = Commit(conversation=ConversationId("c"), verb="vote", summary="Voted", changes=changes)
    assert needed_for(commit, "ada", ME) is role
