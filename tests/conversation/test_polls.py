"""Polls: opened on answers, voted in blind, revealed; all of it in the log, and nothing lost where many act at once."""

from __future__ import annotations

import csv
import io
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.voting.poll import Poll
from forky_core.conversation.voting.tables import votes_csv
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.model import Operation
from forky_core.model.errors import BadContent, ForkyError, InTheWay, NotAllowed, NotFound, NothingToDo
from forky_core.views.changes import sentences
from tests.builders import ScriptedModels, talk, workspace
from tests.examples import examples


def compared(forky: Workspace, question: str = "Name the tool.") -> Conversation:
    """A question with an answer of each scripted model, on the branches “main” and “two”."""
    chat = forky.create("Names")
    asked = chat.say(question, role="user")
    chat.replies.start(model="scripted/one").wait()
    chat.fork("two", at=asked.id).replies.start(model="scripted/two").wait()
    return chat


@pytest.fixture
def chat(forky: Workspace) -> Conversation:
    return compared(forky)


def opened(chat: Conversation, **more: object) -> Poll:
    return chat.polls.open(["main", "two"], **more)  # type: ignore[arg-type]


def test_a_poll_knows_its_question_and_what_made_each_answer(chat: Conversation) -> None:
    chat.checkout("two").rules.set(system="You name things.\nBriefly.")
    later = talk(chat.checkout("two"), "Another.")
    later.replies.start(model="scripted/two").wait()
    poll = opened(chat, title="Which name?")
    assert poll.question == chat.path()[0].id
    one, two = poll.candidates
    assert (one.models, one.branches) == (("scripted/one",), ("main",))
    assert (two.models, two.branches) == (("scripted/two",), ("two",))
    assert one.prompt is not None and one.prompt.id == ""
    assert two.prompt is not None and two.prompt.line == "You name things. Briefly."
    assert chat.history.operations[-1].summary == "Opened poll 1, “Which name?” on 2 answers"
    assert chat.polls.all == (poll,) and chat.polls.get(1) == poll


def test_the_prompt_is_the_one_that_was_set_when_the_answer_landed(chat: Conversation) -> None:
    chat.rules.set(system="Set afterwards.")
    prompt = opened(chat).candidates[0].prompt
    assert prompt is not None and prompt.line == ""


def test_without_candidates_it_is_about_the_answer_and_its_siblings(forky: Workspace) -> None:
    chat = forky.create()
    chat.ask("Hi")
    chat.regenerate(model="scripted/two")[1].wait()
    assert [one.models for one in chat.polls.open().candidates] == [("scripted/one",), ("scripted/two",)]


def test_order_and_letters_differ_from_voter_to_voter_and_stay_for_each(chat: Conversation) -> None:
    opened(chat)
    firsts = Counter(chat.people.as_person(f"Voter {n}").polls.order(1)[0].models for n in range(200))
    assert 70 < firsts[("scripted/one",)] < 130
    ann = chat.people.as_person("Ann").polls
    order = ann.order(1)
    chat.branches.rename("elsewhere")
    assert ann.order(1) == order
    for letter, key, candidate in zip("AB", "12", order, strict=True):
        ann.vote(1, letter)
        assert ann.mine(1) is not None and ann.mine(1).choice == candidate.message  # type: ignore[union-attr]
        ann.vote(1, key)
        assert ann.mine(1).choice == candidate.message  # type: ignore[union-attr]


def test_from_the_reveal_on_the_letters_are_the_same_for_everybody(chat: Conversation) -> None:
    opened(chat)
    people = [chat.people.as_person(f"Voter {n}").polls for n in range(20)]
    assert len({one.order(1) for one in people}) == 2
    chat.polls.reveal(1)
    assert {one.order(1) for one in people} == {chat.polls.get(1).candidates}


def test_a_vote_can_be_changed_until_the_reveal_and_counts_once(chat: Conversation) -> None:
    opened(chat)
    ann = chat.people.as_person("Ann").polls
    ann.vote(1, "A", note="Short.")
    ann.vote(1, "tie")
    assert chat.polls.voters(1) == ("Ann",)
    tally = chat.polls.tally(1)
    assert (tally.votes, tally.ties, sum(tally.counts.values())) == (1, 1, 0)
    assert [o.summary for o in chat.history.operations[-2:]] == [
        "Ann voted in poll 1",
        "Ann changed a vote in poll 1",
    ]
    ann.reveal(1)
    with pytest.raises(InTheWay, match=r"Poll 1 was revealed by Ann and takes no more votes\."):
        ann.vote(1, "A")
    assert chat.polls.tally(1) == tally


def test_neither_the_log_s_sentence_nor_history_tells_the_choice_or_a_model(chat: Conversation) -> None:
    opened(chat)
    ann = chat.people.as_person("Ann").polls
    ann.vote(1, "bad", note="Both are dull.")
    ann.vote(1, "tie")
    chat.undo()
    chat.undo()
    chat.polls.reveal(1)
    chat.undo()
    made = chat.history.operations[-7:]
    assert made[1].summary == "Ann voted in poll 1"
    assert [sentences(one.changes) for one in made] == [
        ("Poll 1: opened",),
        ("Poll 1: Ann voted",),
        ("Poll 1: Ann changed a vote",),
        ("Poll 1: Ann changed a vote",),
        ("Poll 1: Ann took a vote back",),
        ("Poll 1: revealed",),
        ("Poll 1: open again",),
    ]


def test_while_it_is_blind_its_opener_alone_sees_counts_and_nobody_who_voted_what(chat: Conversation) -> None:
    opened(chat)
    ann, bob = chat.people.as_person("Ann").polls, chat.people.as_person("Bob").polls
    ann.vote(1, "A", note="Mine.")
    with pytest.raises(NotAllowed, match=r"1 came in so far\. It was opened by you\."):
        bob.tally(1)
    assert bob.votes(1) == () and chat.polls.votes(1) == ()
    assert [one.note for one in ann.votes(1)] == ["Mine."]
    assert chat.polls.tally(1).votes == 1
    bob.reveal(1)
    assert bob.tally(1).votes == 1
    assert [(one.person, one.note) for one in bob.votes(1)] == [("Ann", "Mine.")]


def test_a_poll_that_is_not_blind_hides_nothing_and_keeps_its_order(chat: Conversation) -> None:
    poll = opened(chat, blind=False)
    chat.people.as_person("Ann").polls.vote(1, "A")
    bob = chat.people.as_person("Bob").polls
    assert bob.order(1) == poll.candidates
    assert bob.tally(1).counts[poll.candidates[0].message] == 1


def test_scores_are_kept_by_criterion_and_averaged(chat: Conversation) -> None:
    poll = opened(chat, criteria=["correct", "clear", "correct", " "])
    assert poll.criteria == ("correct", "clear")
    first = poll.candidates[0].message
    chat.people.as_person("Ann").polls.vote(1, "tie", scores={first: {"correct": 5}})
    chat.people.as_person("Bob").polls.vote(1, "tie", scores={first: {"correct": 2, "clear": 1}})
    scores = chat.polls.tally(1).scores[first]
    assert (scores["correct"].mean, scores["correct"].given, scores["clear"].given) == (3.5, 2, 1)


@pytest.mark.parametrize(
    ("work", "error", "sentence"),
    [
        (
            lambda p: p.vote(1, "C"),
            BadContent,
            "“C” is no answer of poll 1. There are A, B, and “tie” and “bad”.",
        ),
        (lambda p: p.vote(1, ""), BadContent, "“” is no answer of poll 1"),
        (lambda p: p.vote(1, "b2:"), BadContent, "“b2:” is no answer of poll 1"),
        (lambda p: p.vote(2, "A"), NotFound, "There is no poll 2. It may have been undone."),
        (lambda p: p.reveal(7), NotFound, "There is no poll 7."),
        (lambda p: p.vote(1, "A", note="x" * 2_001), BadContent, "A note has at most 2,000 characters"),
        (
            lambda p: p.vote(1, "A", scores={"A": {"wit": 3}}),
            BadContent,
            "“wit” is no criterion of poll 1. There are: clear.",
        ),
        (
            lambda p: p.vote(1, "A", scores={"A": {"clear": 6}}),
            BadContent,
            "A score is a whole number from 1 to 5.",
        ),
        (lambda p: p.vote(1, "A", scores={"A": {"clear": True}}), BadContent, "A score is a whole number"),
        (lambda p: p.open(["main", "two"]), InTheWay, "Poll 1 asks that already."),
        (lambda p: p.open(["main"]), BadContent, "A poll compares at least two answers."),
        (lambda p: p.open(["main", "main"]), BadContent, "These are one and the same answer, word by word: "),
        (lambda p: p.open(["main", "question"]), BadContent, "is no answer of a model"),
        (lambda p: p.open(["main", "nowhere"]), NotFound, "No message of this conversation"),
        (
            lambda p: p.open(["main", "two"], criteria=list("abcdefg")),
            BadContent,
            "A poll has at most 6 criteria.",
        ),
        (
            lambda p: p.open(["main", "two"], criteria=["x" * 61]),
            BadContent,
            "A criterion has at most 60 characters.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    chat: Conversation, work: object, error: type[ForkyError], sentence: str
) -> None:
    chat.fork("question", at=chat.path()[0].id)
    opened(chat, criteria=["clear"])
    before = len(chat.history.operations)
    with pytest.raises(error) as raised:
        work(chat.polls)  # type: ignore[operator]
    assert sentence in str(raised.value)
    assert len(chat.history.operations) == before


def test_nine_answers_fit_and_ten_do_not(forky: Workspace) -> None:
    chat = forky.create()
    asked = chat.say("Hi")
    for n in range(10):
        chat.fork(f"b{n}", at=asked.id).say(f"Answer {n}.", role="assistant")
    assert len(chat.polls.open([f"b{n}" for n in range(9)]).candidates) == 9
    with pytest.raises(BadContent, match="at most 9 answers; these are 10"):
        chat.polls.open([f"b{n}" for n in range(10)])


def test_an_empty_conversation_has_nothing_to_vote_on(forky: Workspace) -> None:
    chat = forky.create()
    with pytest.raises(NothingToDo, match="There is no answer to vote on yet"):
        chat.polls.open()
    with pytest.raises(NothingToDo, match="“main” is empty"):
        chat.polls.open(["main"])


def test_votes_outlive_merges_renames_and_deleted_branches(chat: Conversation) -> None:
    opened(chat)
    ann = chat.people.as_person("Ann").polls
    ann.vote(1, "A")
    chosen = ann.mine(1).choice  # type: ignore[union-attr]
    chat.merge(chat.plan_merge("two", force=True))
    chat.checkout("two").branches.rename("second")
    chat.branches.delete("second")
    ann.reveal(1)
    assert chat.polls.tally(1).counts[chosen] == 1  # type: ignore[index]


def test_a_removed_candidate_keeps_its_votes_and_takes_no_more(chat: Conversation, forky: Workspace) -> None:
    poll = opened(chat)
    two = poll.candidates[1].message
    chat.people.as_person("Ann").polls.vote(1, two)
    chat.branches.prune(chat.branches.plan_prune(two))
    with pytest.raises(InTheWay, match="That answer was removed meanwhile"):
        chat.people.as_person("Bob").polls.vote(1, two)
    chat.people.as_person("Bob").polls.vote(1, poll.candidates[0].message)
    chat.polls.reveal(1)
    assert list(chat.polls.tally(1).counts.values()) == [1, 1]
    with pytest.raises(InTheWay, match="was removed"):
        chat.polls.open([poll.candidates[0].message, two])


def test_of_two_who_reveal_at_once_one_does_and_the_other_is_told(chat: Conversation) -> None:
    opened(chat)
    start = Barrier(2)

    def reveal(name: str) -> str:
        start.wait()
        try:
            return chat.people.as_person(name).polls.reveal(1).summary
        except InTheWay as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(reveal, ["Ann", "Bob"]))
    assert said[1] == "Revealed poll 1 after 0 votes"
    assert said[0] in ("Poll 1 was revealed by Ann already.", "Poll 1 was revealed by Bob already.")


def test_a_hundred_phones_vote_at_once_and_none_is_lost(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "votes.duckdb", models=ScriptedModels()) as forky:
        chat = compared(forky)
        opened(chat)
        start = Barrier(100)

        def one(n: int) -> None:
            polls = chat.people.as_person(f"Phone {n}").polls
            start.wait()
            polls.vote(1, "AB"[n % 2], note=f"Note {n}")
            polls.vote(1, "tie" if n % 3 == 0 else "A", note=f"Note {n}")

        with ThreadPoolExecutor(100) as pool:
            list(pool.map(one, range(100)))
        chat.polls.reveal(1)
        assert sorted(chat.polls.voters(1)) == sorted(f"Phone {n}" for n in range(100))
        tally = chat.polls.tally(1)
        assert (tally.votes, tally.ties, sum(tally.counts.values())) == (100, 34, 66)
        assert {one.note for one in chat.polls.votes(1)} == {f"Note {n}" for n in range(100)}
        assert sum(operation.verb == "vote" for operation in chat.history.operations) == 200
        assert forky.verify().clean


def test_no_vote_gets_in_after_the_reveal_however_close(chat: Conversation) -> None:
    opened(chat)
    start = Barrier(21)

    def vote(n: int) -> bool:
        polls = chat.people.as_person(f"Voter {n}").polls
        start.wait()
        try:
            polls.vote(1, "A")
        except InTheWay:
            return False
        return True

    def reveal() -> None:
        start.wait()
        chat.polls.reveal(1)

    with ThreadPoolExecutor(21) as pool:
        closing = pool.submit(reveal)
        came_in = sum(pool.map(vote, range(20)))
        closing.result()
    assert chat.polls.tally(1).votes == came_in
    verbs = [operation.verb for operation in chat.history.operations]
    assert "vote" not in verbs[verbs.index("reveal") :]


def test_no_vote_gets_in_once_its_poll_is_undone(chat: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(chat)
    publish = Transaction.publish

    def undone_first(tx: Transaction, verb: str, summary: str, **more: Any) -> Operation:
        monkeypatch.setattr(Transaction, "publish", publish)
        chat.undo()
        return publish(tx, verb, summary, **more)

    monkeypatch.setattr(Transaction, "publish", undone_first)
    with pytest.raises(NotFound, match="undone"):
        chat.people.as_person("Ann").polls.vote(1, "A")
    assert opened(chat).number == 1 and chat.polls.voters(1) == ()


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("vote"), st.sampled_from("xyz"), st.sampled_from(["A", "B", "tie", "bad"])),
        st.tuples(st.sampled_from(["undo", "redo", "reveal", "open"]), st.just(""), st.just("")),
    ),
    max_size=14,
)


@settings(max_examples=examples(40), deadline=None)
@given(ACTS)
def test_undo_and_redo_take_votes_back_one_by_one_in_whatever_order(acts: list[tuple[str, str, str]]) -> None:
    forky, _ = workspace()
    chat = compared(forky)
    opened(chat)
    for verb, person, choice in acts:
        before = dict(chat.view.entries)
        try:
            if verb == "vote":
                chat.people.as_person(person).polls.vote(1, choice)
            elif verb == "open":
                chat.polls.open(["main", "two"])
            elif verb == "reveal":
                chat.polls.reveal(1)
            else:
                getattr(chat, verb)()
        except ForkyError:
            assert dict(chat.view.entries) == before
            continue
        after = dict(chat.view.entries)
        if verb in ("vote", "reveal", "open"):
            chat.undo()
            assert dict(chat.view.entries) == before
            chat.redo()
            assert dict(chat.view.entries) == after
    polls = chat.polls.all
    assert all(poll.revealed is None or poll.revealed.by for poll in polls)
    assert chat.history.verify().clean


def test_only_revealed_polls_outside_the_trash_are_in_the_table_of_votes(forky: Workspace) -> None:
    first, second = compared(forky), compared(forky, "Name it anew.")
    for chat, voters in ((first, 1), (second, 2)):
        poll = opened(chat)
        for n in range(voters):
            chat.people.as_person(f"Voter {n}").polls.vote(1, poll.candidates[1].message)
    assert list(forky.polls) == []
    first.polls.reveal(1)
    second.polls.reveal(1)
    assert {poll.conversation: len(poll.votes) for poll in forky.polls} == {first.id: 1, second.id: 2}
    second.trash()
    assert [poll.conversation for poll in forky.polls] == [first.id]


def test_tables_hold_every_vote_and_no_formula(forky: Workspace, chat: Conversation) -> None:
    opened(chat, title="Which?")
    chat.people.as_person("=cmd()").polls.vote(1, "A", note='=HYPERLINK("http://x")\nline, "two"')
    assert len(list(csv.reader(io.StringIO(votes_csv(forky.polls))))) == 1
    chat.polls.reveal(1)
    head, row = csv.reader(io.StringIO(votes_csv(forky.polls)))
    vote = dict(zip(head, row, strict=True))
    assert vote["voter"] == "'=cmd()" and vote["note"] == '\'=HYPERLINK("http://x")\nline, "two"'
    assert vote["model"].startswith("scripted/") and vote["asked"] == "Which?"


def test_large_answers_and_hostile_notes_are_kept_as_they_are(forky: Workspace) -> None:
    chat = forky.create()
    asked = chat.say("Hi")
    for n in range(2):
        chat.fork(f"b{n}", at=asked.id).say(f"{n}" * 200_000, role="assistant")
    chat.polls.open(["b0", "b1"])
    note = "<script>alert(1)</script> $x$ :red[x] \u202e \ud800"
    chat.people.as_person("Ann").polls.vote(1, "A", note=note)
    chat.polls.reveal(1)
    (vote,) = chat.polls.votes(1)
    assert vote.note == note.replace("\ud800", "\ufffd")
    assert forky.verify().clean
