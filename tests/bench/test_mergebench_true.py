from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.mergebench import conflicts, model_path, true
from bench.mergebench.case import Turn
from bench.mergebench.run import NOT_MADE, Run
from bench.mergebench.true import BadItem, judge, load

BRANCH: dict[str, Any] = {
    "id": "en-changed-decision-001",
    "kind": "changed decision",
    "split": "development",
    "trunk": [["user", "We need a store."]],
    "side": [
        ["user", "Shall we take SQLite?"],
        ["assistant", "Yes, SQLite on port 8080."],
        ["user", "No, Postgres. MySQL is out."],
        ["assistant", "Postgres it is."],
    ],
    "must": [["Postgres|PostgreSQL"], ["MySQL", "out"]],
    "must_not": [["MySQL", "recommended"]],
    "only_with": [[["SQLite"], ["Postgres"]], [["80"], ["90"]]],
}


def item(**changed: Any) -> true.Item:
    return true._item({**BRANCH, **changed}, "en", "here")


def written(folder: Path, name: str, *rows: Any) -> Path:
    (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def test_a_value_without_its_correction_is_a_lie() -> None:
    assert judge(item(), "We take SQLite.").lies == ("SQLite stands without Postgres",)
    assert judge(item(), "Postgres was first.\nThen SQLite.").lies


def test_a_correction_counts_in_the_same_line_or_in_a_later_one() -> None:
    assert not judge(item(), "We take SQLite. No, Postgres.").lies
    assert not judge(item(), "- We take **SQLite**. [3f2a91]\n- No, `postgres`. [aa13ea]").lies


def test_every_place_of_the_old_value_needs_the_correction() -> None:
    assert judge(item(), "SQLite.\nPostgres.\nSo SQLite it is.").lies


def test_a_block_that_tells_neither_keeps_less_and_does_not_lie() -> None:
    assert judge(item(), "Nothing of it.") == true.Verdict((), 0.0)
    assert judge(item(), "PostgreSQL.") == true.Verdict((), 0.5)


def test_what_must_not_stand_is_a_lie_only_within_one_sentence() -> None:
    assert judge(item(), "MySQL is recommended.").lies
    assert not judge(item(), "MySQL is out. Postgres is recommended.").lies
    assert not judge(item(), "MySQL is out.\nPostgres is recommended.").lies


def test_a_number_is_said_only_where_it_stands_whole() -> None:
    assert judge(item(), "Port 80.").lies == ("80 stands without 90",)
    for other in ("Port 8080.", "Port 180.", "80.5 percent", "1,80 Euro"):
        assert not judge(item(), other).lies, other
    assert not judge(item(), "Port 80.\nNow 90.").lies


def test_chinese_is_cut_into_sentences_without_spaces() -> None:
    chinese = true._item(
        {**BRANCH, "must_not": [["端口", "八千"]], "must": [], "only_with": []}, "zh", "here"
    )
    assert judge(chinese, "端口是八千。").lies and not judge(chinese, "端口改了。内存是八千。").lies
    assert judge(chinese, "").kept is None


@pytest.mark.parametrize(
    "changed",
    [
        {"split": "train"},
        {"must": ["Postgres"]},
        {"must_not": [[]]},
        {"only_with": [[["SQLite"]]]},
        {"side": [["system", "Be brief."]]},
        {"must": [["|"]]},
    ],
)
def test_a_row_of_another_form_is_refused_with_its_place(tmp_path: Path, changed: dict[str, Any]) -> None:
    written(tmp_path, "true-en.jsonl", BRANCH, {**BRANCH, **changed})
    with pytest.raises(BadItem, match=r"true-en\.jsonl, line 2"):
        load("en", "development", tmp_path)


def test_a_half_holds_its_own_items_alone_and_a_language_without_a_file_none(tmp_path: Path) -> None:
    written(tmp_path, "true-en.jsonl", BRANCH, {**BRANCH, "id": "two", "split": "test"})
    assert [item.case.id for item in load("en", "development", tmp_path)] == ["en-changed-decision-001"]
    assert [item.case.id for item in load("en", "test", tmp_path)] == ["two"]
    assert load("de", "development", tmp_path) == []


def test_lies_and_truths_are_told_by_language_and_kind(tmp_path: Path) -> None:
    written(
        tmp_path,
        "true-en.jsonl",
        BRANCH,
        {**BRANCH, "id": "two", "must_not": [["port"]], "kind": "unit changed"},
    )
    run = Run({"full": lambda _trunk, side, _budget: "\n".join(turn.text for turn in side)})
    lies, truths, by_kind, _ = true.tables(run, tmp_path)
    cells = dict(zip(lies.heads, lies.rows["full"], strict=True))
    assert (str(cells["en"]), lies.note.rsplit(": ", 1)[1]) == ("50.0 [0.0, 100.0]", "de, fr, es, zh.")
    assert [str(cell) for cell in by_kind.rows["full"]] == ["0.00 [0.00, 0.00]", "100.0 [100.0, 100.0]"]
    assert str(truths.rows["full"][0]).startswith("1.00")
    assert true.tables(run, tmp_path / "nowhere")[0].note == NOT_MADE


def pair(main: str, side: str, *, contradicts: bool, id: str) -> dict[str, Any]:
    return {
        "id": id,
        "kind": "port",
        "split": "development",
        "contradicts": contradicts,
        "main": [["user", "Which port?"], ["assistant", main]],
        "side": [["user", side]],
    }


def test_a_contradiction_is_seen_and_a_repetition_is_not(tmp_path: Path) -> None:
    clash = pair("The port is 8080.", "The port is 9090.", contradicts=True, id="a")
    same = pair("The port is 8080.", "The port is 8080.", contradicts=False, id="b")
    written(tmp_path, "conflicts-en.jsonl", clash, same)
    whole, by_language, by_kind = conflicts.tables(Run({}), data=tmp_path)
    assert [str(cell)[:4] for cell in whole.rows["ours, no model"]] == ["1.00", "1.00", "1.00", "1", "1"]
    assert [str(cell)[:4] for cell in whole.rows["always warns"]] == ["0.50", "1.00", "0.67", "1", "1"]
    assert set(by_language.rows) == {"ours, no model, en", "a merge, en"}
    assert set(by_kind.rows) == {"ours, no model, port", "a merge, port"}


def test_precision_and_recall_of_nothing_are_0() -> None:
    assert conflicts.precision_recall([(True, False), (False, False)]) == (0.0, 0.0, 0.0)
    assert conflicts.precision_recall([(True, True), (True, False), (False, True)]) == (0.5, 0.5, 0.5)


def test_a_verdict_that_is_none_is_refused(tmp_path: Path) -> None:
    row = pair("a", "b", contradicts=True, id="a")
    written(tmp_path, "conflicts-de.jsonl", {**row, "contradicts": "yes"})
    with pytest.raises(BadItem, match=r"conflicts-de\.jsonl, line 1"):
        conflicts.load("de", "development", tmp_path)


SUMMARY: dict[str, Any] = {
    "id": "en-sound-001",
    "kind": "sound",
    "language": "en",
    "split": "development",
    "side": [["user", "Which port?"], ["tool", "listening", "ss", "{}"], ["assistant", "It listens on port 8080."]],
    "lines": [["Facts", "It listens on port 8080.", [3]]],
    "wrong": [],
}  # fmt: skip


def test_a_sound_summary_passes_and_a_made_up_number_does_not(tmp_path: Path) -> None:
    made_up = ["Facts", "It listens on port 9090.", [3]]
    hostile = {**SUMMARY, "id": "hostile", "kind": "made-up number", "lines": [made_up], "wrong": [1]}
    written(tmp_path, "model-path.jsonl", SUMMARY, hostile)
    sound, wrong = model_path.load("development", tmp_path)
    assert (sound.expected, wrong.expected) == ("sound", "hostile")
    assert model_path.judge(sound) == {1}
    assert model_path.judge(wrong) == frozenset()


@pytest.mark.parametrize(
    "changed",
    [{"wrong": [2]}, {"language": "it"}, {"lines": [["Facts", "a", [4]]]}, {"lines": [["Gossip", "a", [3]]]}],
)
def test_a_summary_of_another_form_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    written(tmp_path, "model-path.jsonl", {**SUMMARY, **changed})
    with pytest.raises(BadItem, match=r"model-path\.jsonl, line 1"):
        model_path.load("development", tmp_path)


def test_a_summary_that_quotes_word_for_word_is_made_of_whole_sentences() -> None:
    case = item().case
    assert model_path.quoting(case) is None
    (one,) = [model_path.quoting(case, 1)]
    assert one is not None and one.lines[0].text in [turn.text for turn in case.side]
    assert model_path.judge(one) == {1}


def test_every_file_of_the_benchmark_has_the_form_that_is_described() -> None:
    for split in ("development", "test"):
        for language in ("en", "de", "fr", "es", "zh"):
            for one in load(language, split):
                assert one.must or one.must_not or one.only_with, one.case.id
                assert any(turn.role == "user" for turn in one.case.side), one.case.id
            assert all(pair.main and pair.side for pair in conflicts.load(language, split))
        assert all(isinstance(summary.case.side[0], Turn) for summary in model_path.load(split))
