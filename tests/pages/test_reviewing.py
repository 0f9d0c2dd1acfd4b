"""A team's merge requests on the pages: somebody else approves one, and an editor lands it."""

from __future__ import annotations

from forky_core.people.former_features import NO_LONGER_PROTECTED
from forky_core.people.members import Member
from forky_core.people.roles import Role
from tests.builders import talk
from tests.pages.apptest import by_key, keys, open_app, open_page, settled, words
from tests.pages.teams import TeamServer


def test_a_commenters_request_is_approved_and_landed_by_others(
    server: TeamServer, ada: Member, ben: Member
) -> None:
    chat = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    cleo = server.add("Cleo", Role.COMMENTER)
    for member, role in ((ben, Role.EDITOR), (cleo, Role.COMMENTER)):
        server.team.sharing.share(chat.id, member.id, role, by=ada.id)
    hers = server.seen_by(cleo).conversation(chat.id, "main")
    hers.requests.open(talk(hers.fork("cleo/stones"), "And stones?", "They sink."))

    server.sign_in(cleo)
    own = open_page("merge.py", chat, request="1")
    assert not {"merge.approve", "merge.land"} & set(keys(own))
    assert "An editor of this conversation brings it in." in words(own)

    server.sign_in(ada)
    library = open_app()
    library.switch_page("library.py")
    assert "Waits for an answer." in words(settled(library.run()))
    test = settled(by_key(open_page("merge.py", chat, request="1"), "merge.approve").click().run())
    assert "**Ada** approved" in words(test) and "merge.approve" not in keys(test)

    server.sign_in(ben)
    settled(by_key(open_page("merge.py", chat, request="1"), "merge.land").click().run())
    assert chat.requests.get(1).state == "accepted"


def test_history_says_where_branches_were_protected_before(server: TeamServer, ada: Member) -> None:
    boats = talk(server.seen_by(ada).create("Boats"), "Why?", "Because.")
    stones = talk(server.seen_by(ada).create("Stones"), "Why?", "Because.")
    with server.team.database.writing() as connection:
        connection.execute(
            "INSERT INTO protected_branches VALUES (?, ?, 'main', 1, '[]', 0)",
            (server.team.workspace, boats.id),
        )
    server.sign_in(ada)
    assert NO_LONGER_PROTECTED in words(open_page("history.py", boats))
    assert NO_LONGER_PROTECTED not in words(open_page("history.py", stones))
