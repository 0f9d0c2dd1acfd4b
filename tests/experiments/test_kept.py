"""An experiment is a value of its conversation: files, the log and other tabs have it."""

from __future__ import annotations

from pathlib import Path

from forky_core.experiments.experiments import Experiments
from forky_core.formats.exporting.redaction import findings, redacted
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, save_as
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of, checked_out
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.views.changes import sentences
from forky_core.views.listed import visible_without_cells, without_cells
from forky_core.views.merging import default_source
from forky_core.views.places import branch_for
from tests.builders import talk, workspace
from tests.experiments.grids import capitals, opened, ran, saved
from tests.formats.forky_file.chats import file_of, parsed
from tests.hangs import HANG


def test_a_file_brings_the_experiment_with_its_answers() -> None:
    forky, _, chat, experiments = saved(
        checks=[RowCheck("judge", "Fine?"), RowCheck("code", "short")], judge="scripted/judge"
    )
    run = experiments.start("capitals", code={"short": lambda answer, _: len(answer) < 99})
    assert run.wait(HANG)
    experiments.mark("capitals", CellAddress(1, "one"), passed=True)
    text = file_of(forky, chat)
    other, _ = workspace()
    adopt(other, parsed(text))
    there = Experiments(other.conversation(chat.id))
    assert there["capitals"] == experiments["capitals"]
    assert file_of(other, other.conversation(chat.id)) == text
    one, two = experiments.result("capitals"), there.result("capitals")
    assert [cell.passed for cell in two.cells.values()] == [cell.passed for cell in one.cells.values()]
    assert two.agreement == one.agreement and other.verify().clean


def test_an_exported_branch_brings_nothing_of_the_experiment(tmp_path: Path) -> None:
    forky, _, chat, _ = saved(rows=[ExperimentRow("What is the password of ada@example.com?")])
    talk(chat, "Hello.", "Hi.")
    part = export_value(forky.store, chat, branch="main")
    save_as(part, exporter("forky"), tmp_path / "part.forky.jsonl")
    assert "ada@example.com" not in (tmp_path / "part.forky.jsonl").read_text()


def test_what_looks_private_in_a_row_is_found_and_replaced(tmp_path: Path) -> None:
    forky, _, chat, experiments = saved(
        rows=[ExperimentRow("Write to ada@example.com")], columns=[ExperimentColumn("scripted/one")]
    )
    talk(chat, "Hello.", "Hi.")
    experiments.run("capitals")
    leaves = export_value(forky.store, chat)
    save_as(redacted(leaves, findings(leaves)), exporter("forky"), tmp_path / "all.forky.jsonl")
    assert "ada@example.com" not in (tmp_path / "all.forky.jsonl").read_text()


def test_the_log_says_what_changed() -> None:
    _, _, chat, experiments = ran()
    experiments.mark("capitals", CellAddress(1, "one"), passed=False)
    summaries = [operation.summary for operation in chat.history.operations]
    assert "Saved the experiment “capitals”: 4 rows, 2 columns" in summaries
    assert "Ran the experiment “capitals”: 8 cells" in summaries
    said = [line for operation in chat.history.operations for line in sentences(operation.changes)]
    assert "Experiment “capitals”: 4 × 2, new" in said and "Experiment “capitals”: rows changed" in said
    assert "Experiment “capitals”, cell 1/one/1: a person's mark" in said
    experiments.delete("capitals")
    assert "Experiment “capitals”: deleted" in sentences(chat.history.operations[-1].changes)


def test_lists_leave_cells_out_but_the_one_that_is_looked_at() -> None:
    _, _, chat, experiments = opened()
    assert without_cells(chat.view) is chat.view
    experiments.save(capitals())
    experiments.run("capitals")
    chat.fork("capital-ideas")
    assert list(without_cells(chat.view, {"capitals/1/one"}).branches) == [
        "capital-ideas",
        "capitals/1/one",
        "main",
    ]


def test_an_export_shows_a_branch_of_a_person_and_no_cell() -> None:
    forky, _, chat, experiments = saved()
    talk(chat, "Hello.", "Hi.")
    experiments.run("capitals")
    assert checked_out(chat_of(forky.store, chat.id)) == "main"


def test_lists_leave_the_earlier_answers_of_cells_out_and_nobody_else_s() -> None:
    _, models, chat, experiments = saved()
    models.one.enqueue("Fine.")
    chat.ask("How are you?")
    chat.regenerate()
    experiments.run("capitals")
    models.let("scripted/one", lambda _: "Rome, of course.")
    experiments.start("capitals", again=True).wait(HANG)
    assert len(chat.view.kept) > 1
    listed = visible_without_cells(chat.visible, chat.view, {"main"})
    assert [m.text for m in listed.messages.values() if m.role == "user"] == ["How are you?"]
    assert len(listed.messages) == 3
    cell = visible_without_cells(chat.visible, chat.view, {"capitals/2/one"})
    assert len(cell.messages) == 3 + 3


def test_questions_of_an_experiment_are_no_versions_of_what_a_person_said() -> None:
    _, _, chat, experiments = opened()
    talk(chat, "Which capital is the largest?", "Moscow, in Europe.", "And in the world?")
    answer = chat.path()[-2].id
    row = ExperimentRow("And in Asia?", at=answer)
    experiments.save(Experiment("asia", [row], [ExperimentColumn("scripted/one")]))
    assert visible_without_cells(chat.visible, chat.view) is not chat.visible
    experiments.run("asia")
    own, cell = chat.path()[-1].id, chat.checkout("asia/1/one").path()
    listed = visible_without_cells(chat.visible, chat.view, {"main"})
    assert (listed.siblings(own), len(chat.visible.siblings(own))) == ((own,), 2)
    assert branch_for(answer, chat.view, chat.visible, "elsewhere") == "main"
    assert branch_for(cell[-1].id, chat.view, chat.visible, "main") == "asia/1/one"
    assert default_source(chat.view, chat.visible, "main") is None
