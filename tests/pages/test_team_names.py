"""Where people read who did something, they read a name: never the id that the operations of a team carry."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.formats.reports.publishing import report_of, write_report
from forky_core.gateway.shown_documents import ShownDocuments
from forky_core.model.errors import InTheWay, NotAllowed, Outdated
from forky_core.people.members import ID_PREFIX, Member
from forky_core.people.roles import Role
from pages.ui.registry import pages
from tests.builders import talk
from tests.pages.apptest import keys, said, settled
from tests.pages.teams import TeamServer
from tests.pages.workspaces import open_page


@pytest.fixture
def chat(server: TeamServer, ada: Member, bob: Member) -> Conversation:
    """Ada's, shared with Bob, who has done everything in it that carries a name."""
    own = talk(server.seen_by(ada).create("Boats"), "hello", "hi")
    server.team.sharing.share(own.id, bob.id, Role.EDITOR, by=ada.id)
    seen = server.seen_by(bob).conversation(own.id)
    talk(seen.fork("idea"), "a question", "an answer")
    talk(seen.checkout("idea").fork("other"), "a question", "another answer")
    candidates = [seen.checkout(name).path()[-1].id for name in ("idea", "other")]
    poll = seen.polls.open(candidates, title="Which?")
    seen.polls.vote(poll.number, candidates[0], note="It floats.")
    seen.polls.reveal(poll.number)
    seen.polls.open([seen.path()[-1].id, candidates[0]], title="And now?")
    request = seen.requests.open("idea", into="main")
    seen.requests.comment(request.number, "Please.")
    answered = seen.requests.open("other", into="main")
    seen.requests.decline(answered.number, "No.")
    return own


def test_no_page_shows_an_id(server: TeamServer, ada: Member, chat: Conversation) -> None:
    server.sign_in(ada)
    for page in pages():
        places: list[dict[str, str]] = [{}]
        if page.about_conversation:
            places = [{"c": chat.id}]
        if page.name == "vote":
            places += [{"c": chat.id, "poll": number} for number in ("1", "2")]
        if page.name == "merge":
            places += [{"c": chat.id, "request": number} for number in ("1", "2")]
        for place in places:
            test = settled(open_page(str(page.script), **place))
            assert ID_PREFIX not in str(test._tree), (page.name, place)


def test_history_says_who_did_it_by_the_name_they_have_now(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    server.team.members.rename(bob.id, "Robert")
    server.sign_in(ada)
    test = settled(open_page("history.py", c=chat.id))
    labels = [str(one.label) for one in test.expander]
    assert any("Robert voted" in label for label in labels), labels
    assert any("Ada ·" in label.replace("\\", "") for label in labels)


def test_whoever_was_forgotten_has_no_name(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    server.team.members.forget(bob.id, by=ada.id)
    server.sign_in(ada)
    tree = str(settled(open_page("history.py", c=chat.id))._tree)
    assert "Somebody who left voted" in tree and ID_PREFIX not in tree and "Bob" not in tree


def test_a_members_vote_and_request_say_their_name(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    server.sign_in(ada)
    assert "revealed by Bob" in said(settled(open_page("vote.py", c=chat.id, poll="1")))
    assert "by Bob" in said(settled(open_page("merge.py", c=chat.id)))


def test_a_member_votes_under_the_name_they_signed_in_with(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    """Nobody is asked for a name, and none that the browser kept counts."""
    server.sign_in(ada)
    test = settled(open_page("vote.py", c=chat.id, poll="2"))
    assert "asks you to compare" not in said(test)
    assert not [one for one in test.button if one.key in ("vote.join", "vote.not_me")]


def test_a_commenter_votes_and_reads_their_name(server: TeamServer, ada: Member, chat: Conversation) -> None:
    carol = server.add("Carol", Role.COMMENTER)
    server.team.sharing.share(chat.id, carol.id, Role.COMMENTER, by=ada.id)
    seen = server.seen_by(carol).conversation(chat.id)
    seen.polls.vote(2, seen.polls.get(2).messages[0])
    seen.polls.vote(2, seen.polls.get(2).messages[1])
    assert chat.polls.voters(2) == (carol.id,)


def test_what_overtook_somebody_is_said_with_a_name(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    mine = server.seen_by(ada).conversation(chat.id, "main")
    seen = mine.branch
    talk(server.seen_by(bob).conversation(chat.id, "main"), "meanwhile")
    with pytest.raises(Outdated, match=r"^Bob wrote on “main” meanwhile"):
        mine.people.post("Too late", seen=seen)
    with pytest.raises(InTheWay, match="revealed by Bob already"):
        mine.polls.reveal(1)


def test_a_poll_is_revealed_only_by_the_member_who_opened_it(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    mine, theirs = (server.seen_by(one).conversation(chat.id, "main").polls for one in (ada, bob))
    with pytest.raises(NotAllowed, match="Only Bob reveals poll 2"):
        mine.reveal(2)
    server.sign_in(ada)
    test = settled(open_page("vote.py", c=chat.id, poll="2"))
    assert "vote.reveal" not in keys(test) and "Bob ends the vote." in said(test)
    theirs.reveal(2)
    assert not mine.get(2).open


def test_what_is_given_away_has_names(server: TeamServer, ada: Member, chat: Conversation) -> None:
    forky = server.seen_by(ada)
    own = forky.conversation(chat.id)
    for thing, which in (("replay", ("everything",)), ("poll", ("1",))):
        report = report_of(forky, own, thing, which)
        for form in ("html", "markdown"):
            written = b"".join(write_report(report, form)).decode()
            assert ID_PREFIX not in written and "Bob" in written, (thing, form)
    replay = ShownDocuments(server.seen_by_id).replay(ada.id, chat.id)
    assert ID_PREFIX not in replay and "Bob" in replay
