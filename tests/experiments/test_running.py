from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from forky_core.conversation.replies import asking
from forky_core.experiments import latest_runs
from forky_core.experiments.experiment_run import ExperimentRun
from forky_core.experiments.experiments import Experiments, rows_of_conversation
from forky_core.experiments.exporting.registry import WRITERS
from forky_core.formats.reports.publishing import write_report
from forky_core.formats.reports.registry import FORMS
from forky_core.formats.reports.things.experiment import experiment_report
from forky_core.llm.contract import Done, ModelInfo, TextDelta
from forky_core.llm.scripted import Fail, ScriptedModel, Until
from forky_core.model import Usage
from forky_core.model.errors import InTheWay, NameTaken, NotFound, NothingToDo, Outdated
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn, ExperimentRow, RowCheck
from tests.builders import talk, texts
from tests.experiments.grids import capitals, knows, knows_half, opened, question_in, ran, saved
from tests.hangs import HANG, eventually


def test_every_cell_is_a_branch_that_can_be_continued_and_merged() -> None:
    _, _, chat, experiments = saved()
    result = experiments.run("capitals")
    assert result.answered == 8 and {cell.status for cell in result.cells.values()} == {"done"}
    cell = result.cells[CellAddress(1, "one")]
    branch = chat.checkout(cell.branch)
    assert texts(branch) == ["What is the capital of France?", "It is Paris."]
    branch.ask("And of Italy?")
    chat.say("Hello.")
    chat.merge(chat.plan_merge(branch, strategy="full"))
    assert {part.text for m in chat.path()[-1:] for part in m.merges} and "Rome" in str(
        chat.context().messages
    )


def test_a_conversation_opens_on_a_branch_of_its_own_and_on_no_cell() -> None:
    forky, _, chat, experiments = ran()
    assert forky.conversation(chat.id).branch_name == "main"
    side = chat.fork("side")
    side.say("Here.")
    experiments.save(replace(capitals(), columns=[ExperimentColumn("scripted/two", system="Be brief.")]))
    experiments.run("capitals")
    assert forky.conversation(chat.id).branch_name == "side"


def test_pass_rates_have_intervals_and_the_winner_too() -> None:
    _, _, _, experiments = saved(rows=[*capitals().rows, *capitals().rows])
    one, two = experiments.run("capitals").columns
    assert one.rate is not None and two.rate is not None
    assert (one.rate.value, two.rate.value) == (1.0, 0.25)
    assert one.rate.low < 0.8 and two.rate.low < 0.25 < two.rate.high
    verdict = experiments.result("capitals").verdict
    assert "75 points more" in verdict and "95 %" in verdict


def test_without_a_clear_difference_nobody_is_called_ahead() -> None:
    _, models, _, experiments = saved()
    models.let("scripted/two", lambda r: "It is Oslo." if "Japan" in question_in(r) else knows(r))
    assert experiments.run("capitals").verdict.startswith("No column is clearly ahead.")


def test_what_is_answered_is_not_asked_again() -> None:
    _, models, _, experiments = ran()
    assert models.asked == 8
    with pytest.raises(NothingToDo, match="answered"):
        experiments.start("capitals")
    experiments.save(
        replace(experiments["capitals"], rows=[*experiments["capitals"].rows, ExperimentRow("More?")])
    )
    experiments.run("capitals")
    assert models.asked == 10


def test_a_changed_prompt_asks_its_column_again_and_no_other() -> None:
    _, models, _, experiments = ran()
    first, second = experiments["capitals"].columns
    experiments.save(replace(experiments["capitals"], columns=[first, replace(second, system="Be brief.")]))
    waiting = [
        address for address, cell in experiments.result("capitals").cells.items() if cell.status == "waiting"
    ]
    assert {address.column for address in waiting} == {"two"}
    experiments.run("capitals")
    assert (len(models.one.requests), len(models.two.requests)) == (4, 8)
    assert models.two.requests[-1].messages[0] == {"role": "system", "content": "Be brief."}


def test_one_cell_or_a_row_is_asked_again_and_the_old_answer_stays() -> None:
    _, models, chat, experiments = ran()
    before = experiments.cell("capitals", CellAddress(2, "one")).answer
    models.let("scripted/one", lambda _: "Rome, of course.")
    experiments.start("capitals", cells=[CellAddress(2, "one")], again=True).wait(HANG)
    after = experiments.cell("capitals", CellAddress(2, "one")).answer
    assert before is not None and after is not None and after.text == "Rome, of course."
    assert before.id in chat.visible.messages and models.asked == 9
    assert [call.message for call in experiments.history("capitals", CellAddress(2, "one"))] == [
        before.id,
        after.id,
    ]


def test_half_of_the_calls_fail_and_the_rest_is_kept() -> None:
    _, models, _, experiments = saved()
    models.let("scripted/one", knows_half)
    result = experiments.run("capitals")
    assert (result.columns[0].answered, result.columns[0].failed) == (2, 2)
    assert result.columns[0].rate is not None and result.columns[0].rate.value == 1.0
    (failed,) = {cell.reply.why for cell in result.cells.values() if cell.status == "failed"}
    assert failed == "No."
    models.let("scripted/one", knows)
    experiments.run("capitals")
    assert experiments.result("capitals").failed == 0 and models.asked == 10


def test_a_busy_provider_is_asked_again_after_a_pause() -> None:
    _, models, _, experiments = saved(columns=[ExperimentColumn("scripted/one")], parallel=1)
    models.one.enqueue(Fail("rate_limited", "Slow down.", 0.0))
    run = experiments.start("capitals", pause=0.0)
    run.wait(HANG)
    assert run.progress.done == 4 and run.progress.failed == 0
    assert "Asked again after: Slow down." in run.progress.notes
    assert len(models.one.requests) == 5


def test_a_model_without_a_key_is_not_called_for_every_row() -> None:
    _, models, _, experiments = saved(parallel=1)
    models.let("scripted/one", lambda _: (Fail("bad_key", "The key is wrong."),))
    run = experiments.start("capitals")
    run.wait(HANG)
    assert len(models.one.requests) == 1 and len(models.two.requests) == 4
    assert set(run.refused.values()) == {"The key is wrong."} and run.progress.failed == 4


def test_an_unknown_model_is_said_and_the_other_columns_are_asked() -> None:
    _, models, _, experiments = saved(
        columns=[ExperimentColumn("nobody/at-all"), ExperimentColumn("scripted/two")]
    )
    run = experiments.start("capitals")
    run.wait(HANG)
    assert len(models.two.requests) == 4 and run.progress.failed == 4
    assert any("nobody/at-all" in note for note in run.progress.notes)


def test_it_stops_and_goes_on() -> None:
    _, models, _, experiments = saved(parallel=2)
    go = threading.Event()
    models.let("scripted/one", lambda r: (Until(go), knows(r)))
    run = experiments.start("capitals")
    with pytest.raises(InTheWay, match="is running"):
        experiments.start("capitals")
    while not models.one.requests:
        assert not run.wait(0.01)
    run.stop()
    assert run.wait(HANG) and run.progress.sentence.startswith("Stopped.")
    go.set()
    assert experiments.run("capitals").answered == 8


@pytest.mark.parametrize("again", [False, True])
def test_of_two_tabs_that_run_it_at_the_same_moment_exactly_one_does(again: bool) -> None:
    forky, models, chat, experiments = saved()
    go, together = threading.Event(), threading.Barrier(2)
    models.let("scripted/one", lambda r: (Until(go), knows(r)))
    if again:
        go.set()
        experiments.run("capitals")
        go.clear()
    before = models.asked
    began: list[object] = []

    def press() -> None:
        tab = Experiments(forky.conversation(chat.id))
        together.wait()
        try:
            began.append(tab.start("capitals", again=again))
        except InTheWay as error:
            began.append(str(error))

    tabs = [threading.Thread(target=press) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join(HANG)
    run = experiments.latest_run("capitals")
    assert run in began and [one for one in began if isinstance(one, str)] == [
        "The experiment “capitals” is running. Wait for it, or stop it."
    ]
    go.set()
    assert run is not None and run.wait(HANG) and models.asked == before + 8
    assert sum(o.summary.startswith("Ran the experiment") for o in chat.history.operations) == 1 + again


def test_the_limit_of_money_holds() -> None:
    _, models, _, experiments = saved(
        columns=[ExperimentColumn("scripted/one", samples=5)], dollars=0.55, parallel=4
    )
    paid = Done("stop", Usage(10, 10, cost=0.10))
    models.let("scripted/one", lambda r: (TextDelta(knows(r)), paid))
    run = experiments.start("capitals")
    run.wait(HANG)
    assert run.progress.cost <= 0.55 + 1e-9 and len(models.one.requests) == 5
    assert run.progress.sentence == "The limit of $0.55 is reached."
    experiments.save(replace(experiments["capitals"], dollars=None))
    experiments.run("capitals")
    assert len(models.one.requests) == 20


@pytest.mark.parametrize("price", [1e-6, None])
def test_at_a_limit_of_nothing_only_models_answer_that_cost_nothing(price: float | None) -> None:
    _, models, _, experiments = opened()
    info = ModelInfo("scripted/one", "One", "Scripted", input_price=price, output_price=price)
    models.one = ScriptedModel("scripted/one", answer=knows, info=info)
    checks = [RowCheck("judge", "Is it right?", model=model) for model in ("scripted/one", "scripted/judge")]
    experiments.save(capitals(dollars=0.0, parallel=1, checks=checks))
    run = experiments.start("capitals")
    run.wait(HANG)
    assert (len(models.one.requests), len(models.two.requests), len(models.judge.requests)) == (0, 4, 4)
    assert "lets only models answer that are known to cost nothing" in run.progress.sentence
    experiments.save(replace(experiments["capitals"], dollars=None, checks=()))
    assert experiments.run("capitals").answered == 8


def test_a_limit_of_nothing_ends_a_model_that_costs_something_after_all() -> None:
    _, models, _, experiments = saved(dollars=0.0, parallel=1)
    models.let("scripted/one", lambda r: (TextDelta(knows(r)), Done("stop", Usage(10, 10, cost=0.10))))
    experiments.run("capitals")
    assert (len(models.one.requests), len(models.two.requests)) == (1, 4)


def test_calls_that_cost_nothing_make_no_other_call_look_cheap() -> None:
    _, models, _, experiments = ran(columns=[ExperimentColumn("scripted/two", samples=5)], parallel=1)
    models.let("scripted/one", lambda r: (TextDelta(knows(r)), Done("stop", Usage(10, 10, cost=0.10))))
    experiments.save(capitals(dollars=0.25, parallel=1))
    experiments.run("capitals")
    assert len(models.one.requests) == 2


def test_an_embedding_model_that_costs_something_is_not_asked_at_a_limit_of_nothing() -> None:
    _, models, _, experiments = saved(
        dollars=0.0,
        columns=[ExperimentColumn("scripted/two")],
        checks=[RowCheck("similar", model="scripted/one")],
    )
    info = ModelInfo("scripted/one", "One", "Scripted", input_price=1e-6, output_price=0.0)
    models.one = ScriptedModel("scripted/one", answer=knows, info=info)
    reasons = {cell.verdicts[0].verdict.reason for cell in experiments.run("capitals").cells.values()}
    assert reasons == {"the limit of $0 lets no embedding model be asked that may cost something"}


def test_a_column_that_is_deleted_while_it_runs_is_asked_no_more() -> None:
    _, models, chat, experiments = saved(parallel=1)
    go = threading.Event()
    models.let("scripted/one", lambda r: ("part of ", Until(go), knows(r)))
    run = experiments.start("capitals")
    eventually(lambda: any(job.parts for job in chat._session.replies.running(chat.id)))
    remove_column(experiments, "capitals", "one")
    assert run.wait(HANG) and len(models.one.requests) == 1
    result = experiments.result("capitals")
    assert [column.label for column in result.columns] == ["Two"] and result.answered == 4
    assert not [name for name in chat.branches if "/one" in name]
    assert not chat.view.kept  # What had arrived by then is stored and out of sight.
    assert "part of" in [m.text.strip() for m in chat._session.messages.values()]
    chat.undo()
    go.set()
    assert [column.id for column in experiments["capitals"].columns] in (["one", "two"], ["two"])


def test_a_column_that_is_deleted_as_a_reply_begins_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    _, models, _, experiments = saved(parallel=1)
    models.let("scripted/one", lambda r: (Until(threading.Event()), knows(r)))
    answer = asking.answer

    def answer_and_delete(*values: Any, **named: Any) -> Any:
        begun = answer(*values, **named)
        if "one" in experiments["capitals"].columns[0].id:
            remove_column(experiments, "capitals", "one")
        return begun

    monkeypatch.setattr(asking, "answer", answer_and_delete)
    assert experiments.start("capitals").wait(HANG)
    assert experiments.result("capitals").answered == 4


def test_a_column_that_is_deleted_before_it_has_branches_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, chat, experiments = saved(parallel=1)
    prepare = ExperimentRun._prepare

    def delete_and_prepare(run: ExperimentRun, *values: Any) -> None:
        if experiments["capitals"].column("one") is not None:
            remove_column(experiments, "capitals", "one")
        prepare(run, *values)

    monkeypatch.setattr(ExperimentRun, "_prepare", delete_and_prepare)
    assert experiments.start("capitals").wait(HANG)
    assert not [name for name in chat.branches if name.endswith("/one")]
    assert experiments.result("capitals").answered == 4


@pytest.mark.parametrize("change", ["save", "delete"])
def test_a_change_is_written_also_where_an_answer_comes_first(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    _, _, chat, experiments = ran()
    remove, came = experiments._remove_cells, iter(["capitals/1/two", "capitals/2/two"])

    def remove_and_answer(*values: Any) -> None:
        remove(*values)
        with suppress(StopIteration):  # As an answer that comes in between.
            tx = chat._session.change()
            branch = next(came)
            tx.move(branch, chat.branches["capitals/3/one"].head)
            tx.publish("reply", "Answered")

    monkeypatch.setattr(experiments, "_remove_cells", remove_and_answer)
    if change == "save":
        remove_column(experiments, "capitals", "two")
        assert [column.id for column in experiments["capitals"].columns] == ["one"]
    else:
        experiments.delete("capitals")
        assert experiments.names == ()


def test_a_change_of_what_somebody_else_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, chat, experiments = saved()
    remove = experiments._remove_cells

    def remove_and_change(*values: Any) -> None:
        remove(*values)
        Experiments(chat).save(capitals(about="Somebody else's."))

    monkeypatch.setattr(experiments, "_remove_cells", remove_and_change)
    with pytest.raises(Outdated):
        experiments.save(capitals(about="Mine."))
    assert experiments["capitals"].about == "Somebody else's."


def test_a_branch_that_somebody_continued_outlives_its_column() -> None:
    _, _, chat, experiments = ran()
    chat.checkout("capitals/1/one").say("Thanks.")
    remove_column(experiments, "capitals", "one")
    assert [name for name in chat.branches if name.startswith("capitals/") and "/one" in name] == [
        "capitals/1/one"
    ]
    experiments.save(replace(experiments["capitals"], about="Changed once more."))
    assert "capitals/1/one" in chat.branches


def test_the_number_of_a_removed_row_is_never_given_again() -> None:
    _, _, chat, experiments = ran()
    chat.checkout("capitals/4/one").say("Thanks.")
    continued = chat.branches["capitals/4/one"].head
    grid = experiments["capitals"]
    experiments.save(replace(grid, rows=grid.rows[:3]))
    experiments.save(add_row(experiments["capitals"], "What is the capital of Norway?"))
    assert numbers(experiments) == [1, 2, 3, 5]
    experiments.run("capitals")
    assert chat.branches["capitals/4/one"].head == continued
    experiments.save(add_row(replace(experiments["capitals"], rows=grid.rows[:3]), "At one stroke?"))
    assert numbers(experiments) == [1, 2, 3, 6]
    experiments.save(replace(experiments["capitals"], rows=()))
    experiments.save(add_row(experiments["capitals"], "The only one?"))
    assert numbers(experiments) == [7]


def test_the_id_of_a_removed_column_is_given_to_none_that_asks_something_else() -> None:
    _, _, _, experiments = opened()
    experiments.create(capitals())
    two = experiments["capitals"].column("two")
    assert two is not None
    remove_column(experiments, "capitals", "two")
    kept = experiments["capitals"]
    other = replace(two, system="Answer in French.")
    experiments.save(replace(kept, columns=[*kept.columns, other]))
    assert [column.id for column in experiments["capitals"].columns] == ["one", "two-2"]
    experiments.save(replace(kept, columns=[*kept.columns, two]))
    assert [column.id for column in experiments["capitals"].columns] == ["one", "two"]


def test_undo_and_forks_make_no_number_free() -> None:
    _, _, chat, experiments = saved()
    experiments.save(add_row(experiments["capitals"], "Is it undone?"))
    chat.undo()
    assert numbers(experiments) == [1, 2, 3, 4]
    experiments.save(add_row(experiments["capitals"], "Is it another one?"))
    assert numbers(experiments) == [1, 2, 3, 4, 6]
    chat.undo()
    chat.redo()
    old = experiments["capitals"]
    experiments.save(replace(old, rows=old.rows[:4]))
    copy = experiments.fork("capitals", "cities")
    for value in (copy, experiments["capitals"]):
        experiments.save(add_row(value, "Is it of the copy?"))
    assert numbers(experiments) == numbers(experiments, "cities") == [1, 2, 3, 4, 7]
    experiments.save(old)
    assert numbers(experiments) == [1, 2, 3, 4, 8]


def test_a_copy_takes_no_branch_that_outlived_a_row() -> None:
    _, _, chat, experiments = saved()
    chat.fork("capitals/9/one").say("Mine.")
    experiments.save(add_row(experiments.fork("capitals", "cities"), "More?"))
    assert "cities/9/one" in chat.branches and numbers(experiments, "cities") == [1, 2, 3, 4, 10]


def test_a_file_that_is_run_again_finds_its_rows_again() -> None:
    _, models, _, experiments = saved()
    experiments.save(capitals(rows=capitals().rows[:3]))
    changed = [*capitals().rows[:3], ExperimentRow("What is new?")]
    experiments.save(capitals(rows=changed))
    experiments.run("capitals")
    assert numbers(experiments) == [1, 2, 3, 5] and models.asked == 8
    with pytest.raises(NothingToDo):
        experiments.save(capitals(rows=changed))


def remove_column(experiments: Experiments, name: str, column: str) -> None:
    left = [one for one in experiments[name].columns if one.id != column]
    experiments.save(replace(experiments[name], columns=left))


def add_row(experiment: Experiment, question: str) -> Experiment:
    return replace(experiment, rows=[*experiment.rows, ExperimentRow(question)])


def numbers(experiments: Experiments, name: str = "capitals") -> list[int]:
    return [row.id for row in experiments[name].rows]


@pytest.mark.parametrize("label", ["Judge 7B", "Best two"])
def test_a_column_may_be_called_like_a_judge(label: str) -> None:
    _, _, chat, experiments = ran(
        columns=[ExperimentColumn("scripted/one", label=label), *capitals().columns]
    )
    column = experiments["capitals"].columns[0].id
    chat.checkout(f"capitals/1/{column}").say("Thanks.")
    remove_column(experiments, "capitals", column)
    assert [name for name in chat.branches if column in name] == [f"capitals/1/{column}"]


def test_a_branch_that_was_continued_before_its_prompt_changed_outlives_its_column() -> None:
    _, _, chat, experiments = ran()
    chat.checkout("capitals/1/one").say("Thanks.")
    one, two = experiments["capitals"].columns
    experiments.save(replace(experiments["capitals"], columns=[replace(one, system="Be brief."), two]))
    remove_column(experiments, "capitals", "one")
    assert [name for name in chat.branches if name.endswith("/one")] == ["capitals/1/one"]


def test_a_branch_of_a_person_below_a_cell_s_name_is_not_removed() -> None:
    _, _, chat, experiments = saved()
    chat.fork("capitals/1/one/mine").say("Mine.")
    remove_column(experiments, "capitals", "one")
    assert "capitals/1/one/mine" in chat.branches


def test_undo_takes_a_whole_run_back_and_redo_brings_it_again() -> None:
    _, models, chat, experiments = ran()
    chat.undo()
    assert list(chat.branches) == ["main"] and experiments.result("capitals").answered == 0
    chat.redo()
    assert experiments.result("capitals").answered == 8 and models.asked == 8
    chat.undo()
    chat.undo()
    assert experiments.names == ()


def test_a_run_that_is_undone_ends() -> None:
    _, models, chat, experiments = saved(columns=[ExperimentColumn("scripted/one")], parallel=1)
    go = threading.Event()
    models.let("scripted/one", lambda r: (Until(go), knows(r)))
    run = experiments.start("capitals")
    while not models.one.requests:
        assert not run.wait(0.01)
    chat.undo()
    assert run.wait(HANG) and run.progress.sentence == "The run was undone."
    # One more call may have begun between the undo's look at what is written and its operation.
    assert len(models.one.requests) <= 2 and list(chat.branches) == ["main"]


def test_a_fork_has_the_answers_and_changes_alone() -> None:
    _, models, chat, experiments = ran()
    copy = experiments.fork("capitals", "cities")
    assert experiments.result("cities").answered == 8 and models.asked == 8
    assert experiments.result("cities").columns[0].prompt_tokens > 0
    experiments.save(replace(copy, columns=copy.columns[:1]))
    assert len(experiments["capitals"].columns) == 2
    with pytest.raises(NameTaken):
        experiments.fork("capitals", "cities")
    chat.fork("work/1/one").say("Mine.")
    with pytest.raises(NameTaken, match="work/"):
        experiments.fork("capitals", "work")
    chat.fork("capitals-2/1/one").say("Mine, too.")
    assert experiments.fork("capitals").name == "capitals-3"
    experiments.delete("capitals-3")
    experiments.delete("capitals")
    assert experiments.names == ("cities",) and experiments.result("cities").answered == 4


def test_samples_are_separate_answers_and_their_row_counts_once() -> None:
    _, models, _, experiments = opened()
    answers = iter(["It is Paris.", "No idea.", "It is Paris.", "It is Paris."])
    models.let("scripted/one", lambda _: next(answers))
    row = capitals().rows[0]
    experiments.save(capitals(rows=[row], columns=[ExperimentColumn("scripted/one", samples=4)], parallel=1))
    (column,) = experiments.run("capitals").columns
    assert column.rate is not None and (column.cells, column.passes, column.rate.value) == (4, 3, 0.75)


def test_stored_answers_are_taken_where_that_is_wanted() -> None:
    _, models, _, experiments = ran()
    experiments.save(capitals(name="again", reuse=True))
    result = experiments.run("again")
    assert models.asked == 8 and [column.reused for column in result.columns] == [4, 4]


def test_questions_of_a_conversation_are_asked_in_their_context() -> None:
    _, models, chat, experiments = opened()
    talk(chat, "My country is Italy.", "Noted.", "What is its capital?", "Rome.")
    rows = rows_of_conversation(chat, in_context=True)
    assert [row.reference for row in rows] == ["Noted.", "Rome."]
    experiments.save(capitals(rows=rows, columns=[ExperimentColumn("scripted/one")]))
    experiments.run("capitals")
    sent = max(models.one.requests, key=lambda request: len(request.messages))
    assert [m["content"] for m in sent.messages] == ["My country is Italy.", "Noted.", "What is its capital?"]


def test_hostile_and_huge_answers_are_kept_as_they_are() -> None:
    _, models, _, experiments = opened()
    hostile = "</td><script>alert(1)</script>{{question}} \x00\x1b[31m\u202e =1+1 " + "x" * 200_000
    models.let("scripted/one", lambda _: hostile)
    row = ExperimentRow(
        "{{name}} & <b>", variables={"name": "{{reference}}\ud800</script>"}, reference="secret"
    )
    experiments.save(
        capitals(rows=[row], columns=[ExperimentColumn("scripted/one")], checks=[RowCheck("regex", "x+$")])
    )
    result = experiments.run("capitals")
    (cell,) = result.cells.values()
    assert len(cell.text) == len(hostile) and cell.passed
    assert cell.question.text == "{{reference}}\ufffd</script> & <b>"
    for writer in WRITERS:
        assert b"".join(writer.write(result)).decode()
    for form in FORMS:
        written = b"".join(write_report(experiment_report(result), form.name)).decode()
        assert form.name != "html" or "<script>alert" not in written


def test_two_handles_and_a_conversation_that_is_closed_meanwhile() -> None:
    forky, models, chat, experiments = saved(columns=[ExperimentColumn("scripted/one")])
    models.let("scripted/one", lambda _: (Until(threading.Event()),))
    run = Experiments(forky.conversation(chat.id)).start("capitals")
    assert experiments.latest_run("capitals") is run
    while not models.one.requests:
        assert not run.wait(0.01)
    forky.close()
    assert run.wait(HANG) and not run.progress.running


def test_a_new_experiment_replaces_none_of_its_name() -> None:
    _, _, _, experiments = opened()
    experiments.create(capitals())
    with pytest.raises(NameTaken, match="“capitals” already"):
        experiments.create(capitals(rows=[ExperimentRow("Another?")]))
    assert len(experiments["capitals"].rows) == 4


def test_a_table_that_takes_long_is_worked_out_seldom_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    _, models, _, experiments = saved()
    go, clock = threading.Event(), iter(range(0, 1_000, 10))
    models.let("scripted/one", lambda r: (Until(go), knows(r)))
    run = experiments.start("capitals")
    monkeypatch.setattr(latest_runs, "monotonic", lambda: float(next(clock)))
    first = experiments.result("capitals", age=1.0)  # It seems to take ten seconds.
    assert experiments.result("capitals", age=1.0) is first
    remove_column(experiments, "capitals", "two")
    assert len(experiments.result("capitals", age=1.0).columns) == 1
    go.set()
    assert run.wait(HANG)
    assert experiments.result("capitals", age=1.0).answered == 4


def test_what_is_not_there_is_said() -> None:
    _, _, _, experiments = opened()
    with pytest.raises(NotFound, match="no experiment"):
        experiments["nothing"]
    experiments.save(capitals(columns=[]))
    with pytest.raises(NothingToDo, match="no cells"):
        experiments.start("capitals")
    with pytest.raises(NotFound, match="no cell"):
        experiments.cell("capitals", CellAddress(9, "one"))
    with pytest.raises(NotFound):
        experiments.save(capitals(rows=[ExperimentRow("Here?", at="b2:00")]))  # type: ignore[arg-type]


def test_a_cell_that_is_named_twice_is_asked_once() -> None:
    _, models, _, experiments = saved()
    run = experiments.start("capitals", cells=[CellAddress(1, "one")] * 3)
    assert run.wait(HANG) and models.asked == run.progress.total == run.progress.done == 1
