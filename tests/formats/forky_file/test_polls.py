"""Polls in files: a whole file has them, a shared part has none, and two copies unite without mixing votes."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.sharing import export_value, hidden_content
from forky_core.formats.forky_file.entries import check_entry
from forky_core.formats.forky_file.lines import BadLine
from forky_core.formats.forky_file.uniting import unite_chats
from tests.builders import workspace
from tests.formats.forky_file.chats import copy_of, value_of


def voted() -> tuple[Workspace, Conversation]:
    forky, _ = workspace()
    chat = forky.create("Names")
    chat.ask("Hi")
    chat.regenerate(model="scripted/two")[1].wait()
    chat.polls.open(criteria=["clear"])
    chat.people.as_person("Ann").polls.vote(1, "A", note="Secret.", scores={"A": {"clear": 3}})
    return forky, chat


def test_a_whole_file_brings_polls_and_votes_with_the_log() -> None:
    _, chat = voted()
    chat.polls.reveal(1)
    copy = copy_of(value_of(chat))
    assert copy.polls.all == chat.polls.all and copy.polls.votes(1) == chat.polls.votes(1)
    assert copy.polls.tally(1) == chat.polls.tally(1)
    assert copy.history.verify().clean
    copy.undo()
    assert copy.polls.get(1).open


def test_nothing_of_a_poll_is_in_what_is_shared() -> None:
    forky, chat = voted()
    for part in (visible(export_value(forky.store, chat)), export_value(forky.store, chat, branch="main")):
        assert not [key for key in part.entries if key.startswith("polls")]
    assert "1 vote" in hidden_content(export_value(forky.store, chat))


def test_two_copies_keep_their_own_polls_and_votes() -> None:
    _, chat = voted()
    chat.undo()
    chat.undo()
    copy = copy_of(value_of(chat))
    for side, title, person in ((chat, "Ours", "Ann"), (copy, "Theirs", "Bob")):
        side.polls.open(title=title)
        side.people.as_person(person).polls.vote(1, "A")
    copy.polls.reveal(1)
    united = copy_of(unite_chats(value_of(chat), value_of(copy)).chat)
    polls = united.polls
    assert [(poll.title, polls.voters(poll.number), poll.open) for poll in polls.all] == [
        ("Theirs", ("Bob",), False),
        ("Ours", ("Ann",), True),
    ]


def test_votes_of_two_copies_of_one_poll_come_together() -> None:
    _, chat = voted()
    copy = copy_of(value_of(chat))
    chat.people.as_person("Bob").polls.vote(1, "A")
    copy.people.as_person("Cem").polls.vote(1, "tie")
    united = copy_of(unite_chats(value_of(chat), value_of(copy)).chat)
    assert united.polls.voters(1) == ("Ann", "Bob", "Cem")


GOOD = {"candidates": [{"at": "b2:a"}, {"at": "b2:b"}], "by": "Ann", "at": 1, "question": None}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("polls", False),
        ("polls/01", GOOD),
        ("polls/x", GOOD),
        ("polls/1", {**GOOD, "candidates": []}),
        ("polls/1", {**GOOD, "candidates": [{"at": 3}, {"at": "b2:b"}]}),
        ("polls/1", {**GOOD, "candidates": [{"at": "b2:a", "prompt": ["x"]}, {"at": "b2:b"}]}),
        ("polls/1", {**GOOD, "blind": "no"}),
        ("polls/1", {**GOOD, "at": "now"}),
        ("polls/1", {**GOOD, "criteria": "clear"}),
        ("polls/1/votes/", {"choice": "tie", "at": 1}),
        ("polls/1/votes/Ann\n", {"choice": "tie", "at": 1}),
        ("polls/1/votes/Ann", {"choice": 3, "at": 1}),
        ("polls/1/votes/Ann", {"choice": "tie", "at": 1, "scores": {"b2:a": {"clear": "x"}}}),
        ("polls/1/votes/Ann", {"choice": "tie", "at": 1, "scores": []}),
        ("polls/1/revealed", {"by": "Ann"}),
        ("polls/1/elsewhere", {"by": "Ann", "at": 1}),
    ],
)
def test_an_entry_that_no_poll_has_is_refused(key: str, value: object) -> None:
    with pytest.raises(BadLine):
        check_entry(key, value)


def test_a_vote_for_something_else_counts_for_nothing_and_is_counted() -> None:
    _, chat = voted()
    tx = chat._session.change()
    tx.set("polls/1/votes/Mallory", {"choice": "b2:" + "0" * 32, "at": 5})
    tx.publish("import", "Brought a vote")
    tally = chat.polls.tally(1)
    assert (tally.votes, tally.unread, sum(tally.counts.values())) == (2, 1, 1)
