from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.experiments.experiments import Experiments
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow
from forky_core.views.log import LogPage, log_page, numbers_of
from tests.builders import talk


def page(chat: Conversation, number: int = 1, entries: int = 25) -> LogPage:
    return log_page(
        chat.history.operations,
        chat.history.timeline,
        now=0,
        page=number,
        total=chat.view.version,
        entries=entries,
    )


def test_the_newest_operation_comes_first_and_is_where_the_conversation_is(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    entries = page(chat).entries
    assert [entry.operation.number for entry in entries] == [3, 2, 1]
    assert [entry.current for entry in entries] == [True, False, False]


def test_what_was_undone_is_marked_until_it_is_redone(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    chat.undo()
    assert [entry.operation.number for entry in page(chat).entries if entry.undone] == [3]
    chat.redo()
    assert [entry for entry in page(chat).entries if entry.undone] == []


def test_what_was_undone_stays_marked_when_something_else_was_done_instead(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    chat.undo()
    chat.say("c", role="assistant")
    assert [entry.operation.number for entry in page(chat).entries if entry.undone] == [3]


def test_a_reply_names_the_question_it_belongs_to(forky: Workspace) -> None:
    chat = forky.create("Names")
    chat.ask("why?")
    assert [entry.with_ for entry in page(chat).entries] == [2, None, None]


def ran(chat: Conversation) -> Experiments:
    experiments = Experiments(chat)
    experiments.save(
        Experiment(
            "colours", [ExperimentRow(q) for q in ("red?", "blue?")], [ExperimentColumn("scripted/one")]
        )
    )
    experiments.run("colours")
    return experiments


def test_a_run_of_an_experiment_is_one_line_with_its_operations_behind_it(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    ran(chat)
    run, *others = page(chat).entries
    assert [entry.operation.number for entry in others] == [4, 3, 2, 1]
    assert (run.operation.number, run.answers, run.end.number, run.current) == (5, 2, 8, True)
    assert [entry.operation.number for entry in run.run] == [8, 7, 6]
    chat.say("later")
    assert [entry.current for entry in page(chat).entries[:2]] == [True, False]


def test_an_undone_run_is_one_line_too(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    ran(chat)
    chat.undo()
    undo, run, *_ = page(chat).entries
    assert (undo.operation.verb, run.undone, len(run.run)) == ("undo", True, 3)


def test_a_page_counts_a_run_as_one_line(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    ran(chat)
    chat.say("later")
    first = page(chat, 1, 3)
    assert (first.pages, [entry.operation.number for entry in first.entries]) == (2, [9, 5, 4])
    assert [entry.operation.number for entry in page(chat, 2, 3).entries] == [3, 2, 1]


@given(st.integers(1, 10_000), st.integers(-5, 500))
def test_pages_are_whole_rows_of_numbers(total: int, asked: int) -> None:
    shown, first, last = numbers_of(asked, range(1, total + 1))
    assert 1 <= first <= last <= total
    newer = numbers_of(shown - 1, range(1, total + 1))
    assert last == total if shown == 1 else newer[1] == last + 1


def test_a_page_of_a_long_log_needs_only_its_own_operations(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), *[str(number) for number in range(59)])
    _, first, last = numbers_of(2, range(1, 61))
    some = chat.history.since(first - 1)[: last - first + 1]
    shown = log_page(some, chat.history.timeline, now=0, page=2, total=60)
    assert [entry.operation.number for entry in shown.entries] == list(range(35, 10, -1))
    assert (shown.pages, shown.total) == (3, 60)
