"""Votes as people use them: somebody opens a poll, others choose on their own, and the result is read together."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel
from forky_core.render.qr import qr_uri
from pages.ui.person import COOKIE, OPENER
from pages.ui.vote.host import is_this_machine
from pages.ui.vote.opener import proof
from tests.pages.apptest import by_key, compare_act, compared, keys, open_page, press, settled, words
from tests.pages.workspaces import empty_workspace

HOSTILE = ":red[x] **b** <script>alert(1)</script> $a$"


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        assert isinstance(opened.models, Catalogue)
        opened.models.add(ScriptedModel("scripted/one", answer=lambda _: "By train, in nine hours."))
        opened.models.add(ScriptedModel("scripted/two", answer=lambda _: "By boat, in two days."))
        yield opened


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    chat = forky.create("Trip")
    chat.ask("How do we get there?", model="scripted/one")
    chat.regenerate(model="scripted/two")[1].wait()
    return chat


def opened(chat: Conversation, **more: object) -> Conversation:
    poll = chat.people.as_person("Host").polls.open(**more)  # type: ignore[arg-type]
    chat._session.store.set_setting(f"poll_opener/{chat.id}/1", proof(SECRET, poll))
    return chat


SECRET = "of the browser that opened it"


def vote_page(chat: Conversation, person: str | None, poll: int | None = 1, secret: str = "") -> AppTest:
    """The page as this person sees it; with None, as a browser that nobody has given a name."""
    test = open_page("vote.py", chat, **({"poll": str(poll)} if poll is not None else {}))
    if person is None:
        return test
    test.session_state["session"].person = person
    test.session_state["session"].cookies[OPENER] = secret
    return settled(test.run())


def drawn(test: AppTest) -> str:
    """What the page says, in sentences and in HTML of its own."""
    return words(test) + "\n".join(one.proto.body for one in test.get("html"))


def test_a_phone_is_asked_for_a_name_once_and_sees_no_answer_before(chat: Conversation) -> None:
    test = vote_page(opened(chat, title="Which way?"), None)
    assert "Host asks you to compare 2 answers." in words(test)
    by_key(test, "vote.name").set_value(" : ")
    press(test, "vote.join")
    assert "A person needs a name." in words(test)
    assert "By train" not in words(test) and "vote.choose.A" not in keys(test)
    by_key(test, "vote.name").set_value(" Ann ")
    press(test, "vote.join")
    assert "By train, in nine hours." in words(test) and "By boat, in two days." in words(test)
    held = test.session_state["session"]
    assert held.person == "Ann" and held.cookies[COOKIE] == "Ann"


def test_a_press_votes_and_another_one_changes_it(chat: Conversation) -> None:
    test = vote_page(opened(chat), "Ann")
    assert "scripted/" not in drawn(test) and "You have not voted yet" in words(test)
    press(test, "vote.choose.A")
    ann = chat.people.as_person("Ann").polls
    assert ann.mine(1).choice == ann.order(1)[0].message  # type: ignore[union-attr]
    assert "Your vote: A. You can change it until the reveal." in words(test)
    press(test, "vote.choose.tie")
    assert ann.mine(1).choice == "tie" and chat.polls.voters(1) == ("Ann",)  # type: ignore[union-attr]
    both = (by_key(test, "bar.undo"), by_key(test, "bar.redo"))
    assert all(one.disabled for one in both), "nobody undoes the votes of others from here"


def test_note_and_scores_are_kept_before_and_after_the_choice(chat: Conversation) -> None:
    test = vote_page(opened(chat, criteria=["Clear"]), "Ann")
    ann = chat.people.as_person("Ann").polls
    by_key(test, "vote.score.1.A.0").set_value(3)
    by_key(test, "vote.note.1").set_value(HOSTILE)
    settled(test.run())
    assert ann.mine(1) is None
    press(test, "vote.choose.B")
    by_key(test, "vote.score.1.B.0").set_value(0)
    settled(test.run())
    vote = ann.mine(1)
    assert vote is not None and vote.note == HOSTILE
    first, second = (candidate.message for candidate in ann.order(1))
    assert (vote.scores[first], vote.scores[second]) == ({"Clear": 4}, {"Clear": 1})
    again = vote_page(chat, "Ann")
    assert by_key(again, "vote.note.1").value == HOSTILE and by_key(again, "vote.score.1.A.0").value == 3


def test_who_opened_it_sees_counts_and_names_and_the_others_only_how_many(chat: Conversation) -> None:
    opened(chat)
    chat.people.as_person("Ann").polls.vote(1, "A")
    host, bob = vote_page(chat, "Host", secret=SECRET), vote_page(chat, "Bob")
    assert "1 person voted: Ann" in words(host).replace("**", "") and 'class="fk-bars"' in drawn(host)
    assert "1 person has voted so far" in words(bob) and 'class="fk-bars"' not in drawn(bob)
    assert "scripted/" not in drawn(host) + drawn(bob)


def test_a_poll_that_is_not_blind_shows_names_and_counts_while_people_vote(chat: Conversation) -> None:
    opened(chat, blind=False)
    test = press(vote_page(chat, "Ann"), "vote.choose.A")
    assert "scripted/one" in words(test) and "A is ahead with 1 of 1 vote." in words(test)
    assert "vote.choose.B" in keys(test)


def test_after_the_reveal_everybody_sees_who_made_what(chat: Conversation) -> None:
    poll = opened(chat).polls.get(1)
    chat.people.as_person("Ann").polls.vote(1, poll.candidates[1].message, note=HOSTILE)
    host = press(vote_page(chat, "Host", secret=SECRET), "vote.reveal")
    assert "Revealed poll 1 after 1 vote." in words(host)
    assert "scripted/two" in drawn(host) and HOSTILE not in "".join(
        one.proto.body for one in host.get("html")
    )
    ann = vote_page(chat, "Ann")
    assert "your vote" in drawn(ann) and "is ahead with 1 of 1 vote" in words(ann)
    assert "vote.choose.A" not in keys(ann)
    stranger = vote_page(chat, None)
    assert "scripted/two" in drawn(stranger)


def test_a_page_that_was_open_says_who_revealed_it_and_goes_on(chat: Conversation) -> None:
    opened(chat)
    here, there = (vote_page(chat, "Host", secret=SECRET) for _ in range(2))
    press(here, "vote.reveal")
    press(there, "vote.reveal")
    assert "Poll 1 was revealed by Host already." in words(there)
    assert 'class="fk-bars"' in drawn(there)


@pytest.mark.parametrize(
    ("person", "secret"), [("Host", ""), ("Host", "guessed"), ("Ann", SECRET), ("Ann", "")]
)
def test_whoever_types_the_name_of_the_opener_reveals_nothing(
    chat: Conversation, person: str, secret: str
) -> None:
    opened(chat)
    chat.people.as_person("Ann").polls.vote(1, "A")
    test = vote_page(chat, person, secret=secret)
    assert "vote.reveal" not in keys(test) and 'class="fk-bars"' not in drawn(test)
    assert "1 person has voted so far. Host ends the vote." in words(test)


def test_a_poll_that_takes_the_number_of_one_that_was_undone_has_an_opener_of_its_own(
    chat: Conversation,
) -> None:
    opened(chat)
    chat.undo()
    chat.people.as_person("Host").polls.open()
    assert "vote.reveal" not in keys(vote_page(chat, "Host", secret=SECRET))


def test_a_vote_that_comes_after_the_reveal_says_so(chat: Conversation) -> None:
    test = vote_page(opened(chat), "Ann")
    chat.polls.reveal(1)
    press(test, "vote.choose.A")
    assert "Poll 1 was revealed by you and takes no more votes." in words(test)
    assert chat.polls.voters(1) == ()


def test_a_removed_answer_says_so_and_cannot_be_chosen(chat: Conversation) -> None:
    two = opened(chat).polls.get(1).candidates[1].message
    chat.branches.prune(chat.branches.plan_prune(two))
    test = vote_page(chat, "Ann")
    assert "This answer was removed meanwhile" in words(test)
    letters = {
        candidate.message: letter
        for letter, candidate in zip("AB", chat.people.as_person("Ann").polls.order(1), strict=True)
    }
    assert by_key(test, f"vote.choose.{letters[two]}").disabled
    press(test, "vote.choose.bad")
    assert chat.people.as_person("Ann").polls.mine(1).choice == "bad"  # type: ignore[union-attr]


def test_an_address_of_a_poll_that_was_undone_lists_what_there_is(chat: Conversation) -> None:
    opened(chat)
    chat.undo()
    test = vote_page(chat, "Ann")
    assert "There is no poll 1. It may have been undone." in words(test)
    assert "poll" not in test.query_params
    assert "vote.offer" in keys(test)
    assert "There is no poll 0" in words(vote_page(chat, "Ann", poll=10**12))


def test_a_very_long_answer_is_cut_until_somebody_asks(forky: Forky) -> None:
    chat = forky.create("Long")
    asked = chat.say("Go on.")
    for n in range(2):
        chat.fork(f"b{n}", at=asked.id).say(f"{n} " + "word " * 40_000, role="assistant")
    chat.people.as_person("Host").polls.open(["b0", "b1"])
    test = vote_page(chat, "Ann")
    assert max(len(one.value) for one in test.markdown) < 30_000
    assert [one.label for one in test.toggle] == ["Show all 200,002 characters"] * 2
    press(test, "vote.choose.B")
    assert chat.polls.voters(1) == ("Ann",)


def test_without_a_poll_the_page_lists_them_and_offers_the_votes_once_one_is_revealed(
    chat: Conversation,
) -> None:
    opened(chat, title=HOSTILE)
    chat.people.as_person("Bob").polls.vote(1, "A")
    listed = vote_page(chat, "Ann", poll=None)
    assert "open · 1 vote" in words(listed) and "vote.votes_csv" not in keys(listed)
    chat.polls.reveal(1)
    listed = vote_page(chat, "Ann", poll=None)
    assert "revealed · 1 vote" in words(listed) and "vote.votes_csv" in keys(listed)


def test_the_newest_answers_can_be_voted_on_from_the_list_and_from_compare(chat: Conversation) -> None:
    assert "vote.offer" in keys(vote_page(chat, "Ann", poll=None))
    one, two = chat.polls.open().messages
    test = open_page("compare.py", chat, **{"with": f"@{one[3:15]},@{two[3:15]}"})
    assert compared(test)["can"]["vote"]
    assert "vote.open" in keys(settled(compare_act(test, "vote")))


def test_chat_leads_to_what_is_open(chat: Conversation) -> None:
    def links() -> list[str]:
        return [
            one.proto.label for one in open_page("chat.py", chat).get("page_link") if "vote" in one.proto.page
        ]

    assert links() == []
    opened(chat)
    assert links() == ["Vote"]
    chat.polls.reveal(1)
    assert links() == []


def test_a_code_is_drawn_here_and_an_address_of_this_machine_is_known_as_one() -> None:
    pytest.importorskip("segno")
    picture = unquote(qr_uri("https://forky.example/vote?c=1&poll=2"))
    assert picture.startswith("data:image/svg+xml") and "#111" in picture and "#fff" in picture
    assert is_this_machine("http://127.0.0.1:8501/vote") and is_this_machine("http://localhost/vote")
    assert not is_this_machine("https://forky.example/vote")


def test_an_answer_that_two_models_gave_stands_for_both(forky: Forky) -> None:
    assert isinstance(forky.models, Catalogue)
    forky.models.add(ScriptedModel("scripted/three", answer=lambda _: "By boat, in two days."))
    chat = forky.create("Trip")
    for attempt in chat.ask_models("How?", [f"scripted/{name}" for name in ("one", "two", "three")]):
        assert attempt.job is not None
        attempt.job.result()
    opened(chat, candidates=["one", "two", "three"])
    assert len(chat.polls.get(1).candidates) == 2
    boat = chat.branches["two"].head
    assert boat is not None
    for name in ("Ann", "Ben"):
        chat.people.as_person(name).polls.vote(1, boat)
    chat.people.as_person("Host").polls.reveal(1)
    assert chat.polls.tally(1).counts[boat] == 2
    shown = drawn(vote_page(chat, "Ann"))
    assert "Scripted: scripted/two and Scripted: scripted/three · two and three" in shown
