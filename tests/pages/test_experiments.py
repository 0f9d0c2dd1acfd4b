from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.experiments.experiments import Experiments
from forky_core.forky import Forky
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn, ExperimentRow, RowCheck
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import (
    SHELL,
    _component,
    _tell,
    branch_shown,
    by_key,
    graph_rows,
    keys,
    open_page,
    settled,
    words,
)

PAGE = "experiments.py"


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    return talk(
        forky.create("Capitals"), "What is the capital of France?", "Paris.", "And of Italy?", "Rome."
    )


def guide(**changes: Any) -> Experiment:
    fields: dict[str, Any] = {
        "name": "guide",
        "rows": [
            ExperimentRow("How do I fork?", checks=(RowCheck("icontains", "fork"),)),
            ExperimentRow("How do I merge?", checks=(RowCheck("icontains", "merge"),)),
        ],
        "columns": [ExperimentColumn("offline/quote"), ExperimentColumn("offline/digest")],
        **changes,
    }
    return Experiment(**fields)


def grid(test: AppTest) -> dict[str, Any]:
    """What the table was asked to draw."""
    (given,) = json.loads(_component(test, "experiments.grid", "forky_experiment").proto.json)
    assert isinstance(given, dict)
    return given


def click(test: AppTest, **what: object) -> AppTest:
    """Click in the table, and run the page; the browser asks for the whole page then."""
    clicked = _tell(test, _component(test, "experiments.grid", "forky_experiment"), "open", {"n": 1, **what})
    return settled(clicked)


def ran(test: AppTest, chat: Conversation) -> AppTest:
    """The page once every run of the conversation has ended."""
    experiments = Experiments(chat)
    for name in experiments.names:
        run = experiments.latest_run(name)
        assert run is None or run.wait(HANG)
    return settled(test.run())


def test_the_example_runs_on_a_fresh_machine(forky: Forky, chat: Conversation) -> None:
    test = open_page(PAGE, chat)
    assert "Ask many questions" in words(test)
    ran(by_key(test, "experiments.example").click().run(), chat)
    drawn = grid(test)
    assert [column["label"] for column in drawn["columns"]] == ["Offline: quotes", "Offline: digest"]
    assert len(drawn["rows"]) == 6 and all(
        cell["state"] in ("pass", "fail") for r in drawn["rows"] for cell in r["cells"]
    )
    assert "cannot be told apart" in words(test) and "95 %" in words(test)
    assert test.query_params["e"] == "example"


def test_the_example_makes_a_conversation_where_there_is_none(forky: Forky) -> None:
    test = AppTest.from_file(str(SHELL), default_timeout=HANG)
    test.switch_page(PAGE)
    settled(test.run())
    by_key(test, "experiments.example").click().run()
    (made,) = forky.conversations()
    ran(test, forky.conversation(made.id))
    assert len(grid(test)["rows"]) == 6


def test_typed_questions_become_a_grid(forky: Forky, chat: Conversation) -> None:
    test = open_page(PAGE, chat)
    by_key(test, "experiments.typed").set_value("One?\nTwo?").run()
    by_key(test, "experiments.create").click().run()
    assert [row["title"] for row in grid(test)["rows"]] == ["One?", "Two?"]
    assert len(grid(test)["columns"]) == 2 and Experiments(chat).result("experiment").answered == 0
    ran(by_key(test, "experiments.run").click().run(), chat)
    assert Experiments(chat).result("experiment").answered == 4


def test_the_questions_of_the_conversation_become_a_grid(forky: Forky, chat: Conversation) -> None:
    test = open_page(PAGE, chat)
    by_key(test, "experiments.how").set_value("chat").run()
    by_key(test, "experiments.create").click().run()
    rows = Experiments(chat)["questions"].rows
    assert [row.question for row in rows] == ["What is the capital of France?", "And of Italy?"]
    assert rows[1].reference == "Rome." and rows[1].at is not None


def test_an_answer_opens_with_its_checks_and_is_marked(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    experiments.run("guide")
    test = click(open_page(PAGE, chat), kind="cell", row=2, column="quote", sample=1)
    assert "How do I merge?" in words(test) and "contains, in any case “merge”" in words(test)
    settled(by_key(test, "experiments.bad").click().run())
    mark = experiments.cell("guide", CellAddress(2, "quote")).mark
    assert mark is not None and mark.passed is False
    assert grid(test)["rows"][1]["cells"][0]["marked"] is False


def test_a_cell_is_asked_again(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    experiments.run("guide")
    test = click(open_page(PAGE, chat), kind="cell", row=1, column="digest", sample=1)
    by_key(test, "experiments.ask_again").click().run()
    ran(test, chat)
    assert len(experiments.history("guide", CellAddress(1, "digest"))) == 2


def test_a_column_is_changed_and_only_its_cells_are_open(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    experiments.run("guide")
    test = click(open_page(PAGE, chat), kind="column", column="digest")
    by_key(test, "experiments.column_system").set_value("Be brief.")
    by_key(test, "experiments.column_parameters").set_value("temperature: 0\nstop: END")
    settled(by_key(test, "experiments.column_save").click().run())
    column = experiments["guide"].column("digest")
    assert column is not None and (column.system, dict(column.parameters)) == (
        "Be brief.",
        {"temperature": 0, "stop": "END"},
    )
    assert {
        cell["state"] for row in grid(test)["rows"] for cell in row["cells"] if cell["column"] == "digest"
    } == {"waiting"}


def test_a_row_is_changed_and_removed(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    test = click(open_page(PAGE, chat), kind="row", row=1)
    by_key(test, "experiments.row_question").set_value("How do I {{verb}}?")
    by_key(test, "experiments.row_variables").set_value("verb: undo")
    settled(by_key(test, "experiments.row_save").click().run())
    assert grid(test)["rows"][0]["title"] == "How do I undo?"
    click(test, kind="row", row=2)
    settled(by_key(test, "experiments.row_remove").click().run())
    assert [row["id"] for row in grid(test)["rows"]] == [1]


def test_checks_are_added_and_removed(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide(rows=[ExperimentRow("How do I fork?")]))
    experiments.run("guide")
    test = open_page(PAGE, chat)
    settled(by_key(test, "experiments.checks").click().run())
    by_key(test, "experiments.check_value.all.contains").set_value("Fork")
    settled(by_key(test, "experiments.check_add.all").click().run())
    assert experiments["guide"].checks == (RowCheck("contains", "Fork"),)
    assert {cell["state"] for cell in grid(test)["rows"][0]["cells"]} <= {"pass", "fail"}
    settled(by_key(test, "experiments.checks").click().run())
    settled(by_key(test, "experiments.remove_check.all.0").click().run())
    assert not experiments["guide"].checks


def test_a_mistake_in_a_form_is_said_in_it(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    test = click(open_page(PAGE, chat), kind="column", column="quote")
    by_key(test, "experiments.column_parameters").set_value("api_key: secret")
    settled(by_key(test, "experiments.column_save").click().run())
    assert "is no parameter of a model" in test.session_state["experiments.mistake"]
    assert experiments["guide"] == guide()


def test_limits_are_set(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    test = open_page(PAGE, chat)
    settled(by_key(test, "experiments.menu").set_value("settings").run())
    by_key(test, "experiments.dollars").set_value(2.5)
    by_key(test, "experiments.parallel").set_value(7)
    settled(by_key(test, "experiments.settings_save").click().run())
    assert (experiments["guide"].dollars, experiments["guide"].parallel) == (2.5, 7)
    assert "at most $2.50" in words(test)


def test_it_is_forked_deleted_and_brought_back(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    test = open_page(PAGE, chat)
    settled(by_key(test, "experiments.menu").set_value("fork").run())
    assert list(experiments.names) == ["guide", "guide-2"]
    settled(by_key(test, "experiments.menu").set_value("delete").run())
    assert list(experiments.names) == ["guide"]
    chat.undo()
    assert list(experiments.names) == ["guide", "guide-2"]


def test_many_rows_come_a_page_at_a_time_and_filtered(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    rows = [
        ExperimentRow(f"How do I fork {n}?", checks=(RowCheck("contains", "x" if n == 70 else ""),))
        for n in range(120)
    ]
    rows = [
        ExperimentRow(row.question, checks=(RowCheck("regex", "zzz" if n == 70 else "."),))
        for n, row in enumerate(rows)
    ]
    experiments.save(guide(rows=rows, columns=[ExperimentColumn("offline/digest")]))
    experiments.run("guide")
    test = open_page(PAGE, chat)
    assert len(grid(test)["rows"]) == 50 and grid(test)["corner"] == "120 rows"
    settled(by_key(test, "experiments.only").set_value("fail").run())
    assert [row["id"] for row in grid(test)["rows"]] == [71]


def test_the_chat_lists_no_cells_and_opens_one(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    experiments.run("guide")
    test = open_page("chat.py", chat)
    (given,) = json.loads(_component(test, "chat.branch", "forky_branchbox").proto.json)
    assert [name for name, _ in given["branches"]] == ["main"] and len(chat.branches) == 5
    drawn = {row["id"] for row in graph_rows(test, "chat.graph")}
    assert len([id for id in drawn if id.startswith("b2:")]) == 4
    cell = open_page("chat.py", chat.checkout("guide/1/quote"))
    assert branch_shown(cell) == "guide/1/quote" and "How do I fork?" in words(cell)
    asked = chat.checkout("guide/1/quote").path()[-1].id.removeprefix("b2:")
    looked = {row["id"] for row in graph_rows(open_page("chat.py", chat, m=asked), "chat.graph")}
    again = {row["id"] for row in graph_rows(open_page("chat.py", chat), "chat.graph")}
    assert looked > drawn == again, "who looks at a cell draws it for nobody else"


def test_hostile_texts_are_shown_as_they_are(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    hostile = "</script><img src=x onerror=alert(1)> **$5** :red[x] [a](javascript:x) \x00"
    experiments.save(
        guide(
            rows=[ExperimentRow(hostile)],
            about=hostile,
            columns=[ExperimentColumn("offline/digest", label=hostile)],
        )
    )
    experiments.run("guide")
    test = open_page(PAGE, chat)
    assert grid(test)["rows"][0]["title"].startswith("</script><img")
    column = grid(test)["rows"][0]["cells"][0]["column"]
    click(test, kind="cell", row=1, column=column, sample=1)
    assert not any("<img" in str(m.value).replace("\\<", "") for m in test.markdown)


def test_what_is_gone_meanwhile_is_said(forky: Forky, chat: Conversation) -> None:
    experiments = Experiments(chat)
    experiments.save(guide())
    test = open_page(PAGE, chat)
    experiments.delete("guide")
    settled(test.run())
    assert "Ask many questions" in words(test) and "experiments.run" not in keys(test)
