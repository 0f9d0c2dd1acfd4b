"""Models that said the same share a message; the call that gave it is found by the branch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.message_origins import MessageOrigins, call_index
from forky_core.llm.contract import Done
from forky_core.llm.scripted import Fail, Step
from forky_core.model import MessageId, Usage
from forky_core.model.room import Person
from forky_core.views.compare import Comparison, compare
from forky_core.views.notebook import notebook
from forky_core.views.savings import savings
from forky_core.views.sides import first_sides, read_sides, side_of
from tests.builders import ScriptedModels, begun, job_of, talk, texts

ONE, TWO = "scripted/one", "scripted/two"
Twins = tuple[Conversation, ScriptedModels]


def costing(text: str, dollars: float) -> Sequence[Step]:
    return (text, Done(usage=Usage(9, 2, cost=dollars), finish_reason="stop"))


def asked(chat: Conversation, models: ScriptedModels, first: str = "Yes.", second: str = "Yes.") -> None:
    """Ask both models; each call costs something else."""
    models.one.enqueue(*costing(first, 0.01))
    models.two.enqueue(*costing(second, 0.07))
    for attempt in chat.ask_models("Is 7 prime?", [ONE, TWO]):
        job_of(attempt).result()


@pytest.fixture
def twins() -> Twins:
    """Two models that said the same, asked from an empty branch."""
    chat, models = begun(title="Twins")
    asked(chat, models)
    assert chat.branches["one"].head == chat.branches["two"].head
    return chat, models


def given(chat: Conversation, branch: str) -> tuple[str, ...]:
    """The models that a branch names above its last answer."""
    there = chat.checkout(branch)
    cell = notebook(there.path(), there.visible, there.view, there.calls.origins).cells[-1]
    assert (cell.generation is not None) == (len(cell.origin.models) == 1)
    return cell.origin.models


def compared(chat: Conversation, *names: str) -> Comparison:
    sides, unknown = read_sides(names, chat.view, chat.visible)
    assert unknown == ()
    return compare(sides, chat.visible, chat.calls.generations, chat.path, chat.branches.origin)


def rows(found: Comparison) -> list[list[tuple[str, float | None, str | None]]]:
    """The last answer of each column in each row: its model, what it cost, and the column that has the same one."""
    shown: list[list[tuple[str, float | None, str | None]]] = []
    for row in found.rows:
        shown.append([])
        for turn in row.turns:
            assert turn is not None
            entry = turn.answers[-1]
            cost = entry.generation.usage.cost if entry.generation is not None else None
            shown[-1].append((entry.origin.models[0], cost, entry.same_as))
    return shown


def test_each_branch_names_its_own_model_and_cost(twins: Twins) -> None:
    chat, _ = twins
    assert (given(chat, "one"), given(chat, "two")) == ((ONE,), (TWO,))
    costs = {
        name: savings(chat.checkout(name).calls.origins.calls_on(ids(chat, name))).cost
        for name in ("one", "two")
    }
    assert costs == {"one": 0.01, "two": 0.07}


def ids(chat: Conversation, branch: str) -> set[MessageId]:
    return {message.id for message in chat.checkout(branch).path()}


def test_a_message_seen_from_no_branch_names_all_who_said_it(twins: Twins) -> None:
    chat, _ = twins
    head = chat.branches["one"].head
    assert head is not None
    origin = chat.calls.origins_on(None).of(head)
    assert (origin.call, origin.models) == (None, (ONE, TWO))
    assert given(chat, "one") == (ONE,)
    chat.checkout("two").branches.delete()
    assert given(chat, "one") == (ONE,)


def test_a_renamed_branch_keeps_its_call(twins: Twins) -> None:
    chat, models = twins
    chat.checkout("one").branches.rename("winner")
    chat.checkout("winner").branches.rename("first")
    asked(chat, models)  # Two more branches, one of which is called “one” again.
    assert (given(chat, "first"), given(chat, "one")) == ((ONE,), (ONE,))
    calls = [
        chat.calls.origins_on(name).of(chat.checkout(name).path()[-1].id).call for name in ("first", "one")
    ]
    assert calls[0] is not None and calls[1] is not None and calls[0].started < calls[1].started
    chat.undo()


def test_a_fork_has_the_answer_from_the_branch_it_was_forked_from(twins: Twins) -> None:
    chat, _ = twins
    chat.checkout("one").fork("of one")
    chat.checkout("two").fork("of two").rules.set(model=ONE)
    assert (given(chat, "of one"), given(chat, "of two")) == ((ONE,), (TWO,))


def test_a_branch_that_was_moved_there_names_both(twins: Twins) -> None:
    chat, _ = twins
    head = chat.branches["one"].head
    assert head is not None
    chat.branches.promote(head)
    assert given(chat, "main") == (ONE, TWO)
    assert [column.models for column in compared(chat, "main", "two").columns] == [(ONE, TWO), (TWO,)]
    assert side_of(head, chat.view, chat.visible, "two").key == "two"


def test_two_columns_with_the_same_head_have_an_answer_each(twins: Twins) -> None:
    chat, _ = twins
    found = compared(chat, "one", "two")
    assert [column.models for column in found.columns] == [(ONE,), (TWO,)]
    assert [column.total.cost for column in found.columns] == [0.01, 0.07]
    assert rows(found) == [[(ONE, 0.01, None), (TWO, 0.07, None)]]
    assert [message.text for message in found.shared] == ["Is 7 prime?"]
    assert found.notes == ("“one” and “two” gave the same answer, word by word.",)
    assert compared(chat, "two", "one").columns[0].models == (TWO,)


def test_of_three_columns_two_are_equal() -> None:
    chat, models = begun(title="Three")
    asked(chat, models)
    models.one.enqueue("No.")
    third = chat.fork("third", at=chat.checkout("one").path()[0].id)
    third.replies.start(model=ONE).wait()
    found = compared(chat, "one", "third", "two")
    assert [(cell[0], cell[2]) for cell in rows(found)[0]] == [(ONE, None), (ONE, None), (TWO, None)]
    assert [message.text for message in found.shared] == ["Is 7 prime?"]


def test_each_level_of_questions_keeps_its_calls(twins: Twins) -> None:
    chat, models = twins
    for question, dollars in (("And 11?", 0.2), ("And 13?", 0.3)):
        models.one.enqueue(*costing("Yes, too.", dollars))
        models.two.enqueue(*costing("Yes, too.", dollars * 10))
        for attempt in chat.ask_all(question, ["one", "two"]):
            job_of(attempt).result()
    assert chat.branches["one"].head == chat.branches["two"].head
    found = compared(chat, "one", "two")
    assert rows(found) == [
        [(ONE, 0.01, None), (TWO, 0.07, None)],
        [(ONE, 0.2, None), (TWO, 2.0, None)],
        [(ONE, 0.3, None), (TWO, 3.0, None)],
    ]
    assert [column.models for column in found.columns] == [(ONE,), (TWO,)]
    assert [row.asked and row.asked.text for row in found.rows] == [None, "And 11?", "And 13?"]


def test_forks_with_the_same_head_show_their_last_answer() -> None:
    chat, _ = begun("Hello", "Hi.", "And?", "Fine.", title="Fork")
    chat.fork("copy")
    found = compared(chat, "main", "copy")
    assert [[turn and turn.text for turn in row.turns] for row in found.rows] == [["Fine.", "Fine."]]
    assert found.rows[0].turns[1] is not None and found.rows[0].turns[1].answers[0].same_as == "main"
    assert found.notes == ("“main” and “copy” stand at the same message.",)


def test_the_first_columns_are_all_that_were_asked_the_same() -> None:
    chat, models = begun(title="Asked")
    asked(chat, models)

    def names(branch: str) -> list[str]:
        sides = first_sides(chat.view, chat.visible, branch, chat.calls.origins_on)
        return [side.key for side in sides]

    assert (names("main"), names("two")) == (["one", "two"], ["two", "one"])
    models.one.enqueue(Fail("overloaded"))
    models.two.enqueue(Fail("overloaded"))
    for attempt in chat.ask_models("And 13?", [ONE, TWO]):
        job_of(attempt).wait()
    assert names("main") == ["one-2", "two-2"]
    chat.undo()
    chat.checkout("one").fork("later")
    assert names("main") == ["one", "two"]
    for attempt in chat.ask_all("And 11?", ["one", "two"]):
        job_of(attempt).result()
    assert (names("main"), names("two")) == (["one", "two"], ["two", "one"])
    talk(chat, "Something else", "Fine.")
    assert names("main") == ["main", "one", "two"]


def test_a_poll_on_answers_of_which_two_are_the_same_counts_both_models(twins: Twins) -> None:
    chat, models = twins
    models.one.enqueue("No.")
    third = chat.fork("third", at=chat.checkout("one").path()[0].id)
    third.replies.start(model=ONE).wait()
    poll = chat.polls.open(["two", "one", "third"])
    assert [(one.models, one.branches) for one in poll.candidates] == [
        ((ONE, TWO), ("one", "two")),
        ((ONE,), ("third",)),
    ]
    assert chat.polls.get(poll.number) == poll


def test_a_failed_call_is_shown_on_its_own_branch(twins: Twins) -> None:
    chat, models = twins
    models.one.enqueue(Fail("overloaded", "The model is busy."))
    models.two.enqueue("Eleven, too.")
    for attempt in chat.ask_all("And 11?", ["one", "two"]):
        job_of(attempt).wait()
    one = chat.checkout("one")
    failed = notebook(one.path(), one.visible, one.view, one.calls.origins).unanswered
    assert [call.model for call in failed] == [ONE]


def test_an_interrupted_reply_is_resumed_on_its_own_branch(twins: Twins) -> None:
    chat, models = twins
    models.one.enqueue("Perhaps", Fail("cut_off", "The connection was lost."))
    models.two.enqueue("Perhaps")
    for attempt in chat.ask_all("And 11?", ["one", "two"]):
        job_of(attempt).wait()
    assert chat.branches["one"].head == chat.branches["two"].head
    models.one.enqueue(" not.")
    chat.checkout("one").replies.resume().wait()
    assert texts(chat.checkout("one"))[-1] == "Perhaps not."


def test_what_a_person_spent_is_theirs_alone_where_models_said_the_same() -> None:
    chat, models = begun(title="Allowance")
    for name in ("Ana", "Ben"):
        chat.people.set(Person(name, dollars=5.0))
    question = chat.say("Is 7 prime?")
    for name, model in (("Ana", ONE), ("Ben", TWO)):
        scripted = models.one if model == ONE else models.two
        scripted.enqueue(*costing("Yes.", 0.01 if model == ONE else 0.07))
        chat.fork(name.lower(), at=question.id).people.as_person(name).replies.start(model=model).wait()
    assert [round(chat.people.spent(name).dollars, 2) for name in ("Ana", "Ben")] == [0.01, 0.07]


def test_without_a_log_the_branch_of_the_call_decides(twins: Twins) -> None:
    chat, _ = twins
    head = chat.branches["one"].head
    assert head is not None
    index = call_index(chat.calls.generations)
    assert [MessageOrigins(index, name).of(head).models for name in ("one", "two", "elsewhere")] == [
        (ONE,),
        (TWO,),
        (ONE, TWO),
    ]
