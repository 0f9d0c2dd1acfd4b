"""Who said what in a team, without a name in any message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.views.captions import opening_of
from forky_core.views.context import rows
from tests.builders import talk


@pytest.fixture
def whole() -> Iterator[Forky]:
    with Forky.open(":memory:") as forky:
        yield forky


def said(chat: Conversation) -> list[str]:
    return [chat.people.author_of(message.id) for message in chat.path() if message.role == "user"]


def test_each_sees_their_own_words_as_theirs_and_the_others_names(whole: Forky, team: Team) -> None:
    join_team(whole, team)
    ada, ben = team.members.add("Ada", Role.OWNER), team.members.add("Ben", Role.EDITOR)

    def opened(who: Member, id: str) -> Conversation:
        return member_view(whole, team, who.id).conversation(id, "main")

    hers = talk(member_view(whole, team, ada.id).create("Names"), "Which name?", "Fork.")
    team.sharing.share_with_everyone(hers.id, shared=True, by=ada.id)
    talk(opened(ben, hers.id), "And a short one?", "f.")
    assert said(opened(ada, hers.id)) == ["You", "Ben"]
    assert said(opened(ben, hers.id)) == ["Ada", "You"]
    branch = opened(ben, hers.id).fork("again", at=hers.path()[0].id)
    assert said(branch) == ["Ada"], "a branch that leads to a message does not make it somebody else's"
    team.members.rename(ben.id, "Benjamin")
    assert said(opened(ada, hers.id)) == ["You", "Benjamin"]
    team.members.forget(ben.id, by=ada.id)
    assert said(opened(ada, hers.id)) == ["You", "Somebody who left"]


def test_what_was_grafted_was_said_by_whoever_said_it_there_as_long_as_that_can_be_seen(
    whole: Forky, team: Team
) -> None:
    join_team(whole, team)
    ada, ben, eve = (team.members.add(name, Role.EDITOR) for name in ("Ada", "Ben", "Eve"))
    view = member_view(whole, team, ada.id)
    hers = talk(view.create("Names"), "Which name?", "Fork.")
    his = talk(member_view(whole, team, ben.id).create("Ideas"), "A short one?", "f.")
    for person in (ada, eve):
        team.sharing.share(his.id, person.id, Role.VIEWER, by=ben.id)
    team.sharing.share(hers.id, eve.id, Role.VIEWER, by=ada.id)
    hers.merge(hers.merges.plan_graft(view.conversation(his.id, "main")))
    question = his.path()[0].id
    seen = {person.id: member_view(whole, team, person.id) for person in (ada, eve)}
    assert [seen[one].conversation(hers.id).people.author_of(question) for one in seen] == ["Ben", "Ben"]
    assert hers.people.author_of(question) == "Ben"
    assert hers.head is not None and hers.people.author_of(hers.head.id) == "You"
    team.sharing.share(his.id, eve.id, Role.NONE, by=ben.id)
    assert [seen[one].conversation(hers.id).people.author_of(question) for one in seen] == ["Ben", "Somebody"]


def test_what_is_sent_and_what_is_compared_name_the_others(whole: Forky, team: Team) -> None:
    join_team(whole, team)
    ada, ben = team.members.add("Ada", Role.OWNER), team.members.add("Ben", Role.EDITOR)
    hers = talk(member_view(whole, team, ada.id).create("Names"), "Which name?", "Fork.")
    team.sharing.share_with_everyone(hers.id, shared=True, by=ada.id)
    for member, name in ((ada, "You"), (ben, "Ada")):
        chat = member_view(whole, team, member.id).conversation(hers.id, "main")
        known, author = chat.visible.messages, chat.people.author_of
        sent = rows(chat.calls.prepare("And now?").context, known.get, author=author)
        assert name in [row.who for row in sent if row.text == "Which name?"]
        assert opening_of(chat.path()[0], author) == f"{name}: Which name?"
        assert opening_of(chat.path()[1], author) == "Assistant: Fork."


def test_where_nobody_signs_in_nobody_in_particular_said_it(whole: Forky) -> None:
    assert said(talk(whole.create("Names"), "Which name?", "Fork.")) == [""]
