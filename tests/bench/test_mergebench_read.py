from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bench.mergebench import __main__ as program
from bench.mergebench import agent_logs, hindsight, read, sources
from bench.mergebench.case import Case, Turn
from bench.mergebench.methods import METHODS, OURS
from bench.mergebench.run import Run
from bench.mergebench.table import Figure, Tally

ROWS = (OURS, "last answer", "random lines")


def case(id: str) -> Case:
    side = tuple(
        Turn(role, f"Statement {at} of {id} is that room {at} costs {at * 7} euros a night.")
        for at in range(40)
        for role in ("user", "assistant")
    )  # fmt: skip
    return Case(id, id, "en", "development", (Turn("user", "We plan a trip."),), side)


@pytest.fixture
def pages(tmp_path: Path) -> tuple[Path, Path]:
    chosen: list[tuple[read.Kind, Case]] = [("talk", case(f"talk-{at}")) for at in range(4)]
    into = tmp_path / "reading"
    run = Run({name: METHODS[name] for name in ROWS})
    return into, read.write(run, chosen, ROWS, into, headings=False)


def filled(into: Path, key: Path, scores: dict[str, int], name: str = "form.csv") -> Path:
    """The form as a reader who likes methods by these scores would fill it in."""
    known = json.loads(key.read_text())
    rows = list(csv.DictReader((into / "form.csv").read_text().splitlines()))
    ranks = sorted(scores.values(), reverse=True)
    for row in rows:
        method = known[row["branch"]]["blocks"][row["block"]]
        row["score"], row["rank"] = str(scores[method]), str(1 + ranks.index(scores[method]))
        row["misinforms"], row["note"] = ("yes", "says it costs less") if scores[method] < 3 else ("no", "")
    with (into / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, read.FORM)
        writer.writeheader()
        writer.writerows(rows)
    return into / name


def test_readers_do_not_see_which_block_is_whose(pages: tuple[Path, Path]) -> None:
    into, key = pages
    assert key.parent == into.parent and not (into / key.name).exists()
    for file in into.iterdir():
        text = file.read_text()
        assert not any(name in text for name in (*ROWS, "[Merged", "Said:", "talk-0-key")), file
    assert len(json.loads(key.read_text())) == 4


def test_letters_are_dealt_anew_for_each_branch_and_alike_each_time(
    pages: tuple[Path, Path], tmp_path: Path
) -> None:
    known = json.loads(pages[1].read_text())
    assert len({json.dumps(one["blocks"]) for one in known.values()}) > 1
    again = read.write(
        Run({name: METHODS[name] for name in ROWS}),
        [("talk", case(f"talk-{at}")) for at in range(4)],
        ROWS,
        tmp_path / "again",
        headings=False,
    )
    assert json.loads(again.read_text()) == known


def test_a_page_shows_the_branch_and_a_block_of_each_method(pages: tuple[Path, Path]) -> None:
    page = (pages[0] / "01.md").read_text()
    assert "We plan a trip." in page and "Statement 39 of" in page
    assert [f"## Block {letter}" in page for letter in "ABCD"] == [True, True, True, False]


def test_verdicts_are_counted_by_method_and_kind(pages: tuple[Path, Path]) -> None:
    into, key = pages
    first = filled(into, key, {OURS: 8, "last answer": 5, "random lines": 2}, "ann.csv")
    second = filled(into, key, {OURS: 6, "last answer": 6, "random lines": 1}, "ben.csv")
    scores, best, wrong, preferred, notes = read.tables(read.verdicts([first, second], key))
    assert scores.heads == ("all", "talk") and "24 verdicts of 2 readers on 4 branches" in scores.note
    means = {row: cells[0].mean for row, cells in scores.rows.items() if isinstance(cells[0], Figure)}
    assert means == {OURS: 7, "last answer": 5.5, "random lines": 1.5}
    assert isinstance(best.rows["last answer"][0], Figure) and best.rows["last answer"][0].mean == 0.5
    assert isinstance(wrong.rows["random lines"][0], Figure) and wrong.rows["random lines"][0].mean == 1
    over = dict(zip(preferred.heads, preferred.rows[OURS], strict=True))
    assert isinstance(over["over last answer"], Figure) and over["over last answer"].mean == 0.75
    assert over[f"over {OURS}"] is None
    assert next(iter(notes.rows.values()))[:2] == ["1", "yes"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("score", ""), ("score", "11"), ("rank", "0"), ("misinforms", "maybe"), ("block", "Q")],
)
def test_a_form_that_is_not_filled_in_is_refused_with_its_line(
    pages: tuple[Path, Path], column: str, value: str
) -> None:
    into, key = pages
    form = filled(into, key, {OURS: 8, "last answer": 5, "random lines": 2})
    rows = list(csv.DictReader(form.read_text().splitlines()))
    rows[1][column] = value
    with form.open("w", newline="") as file:
        writer = csv.DictWriter(file, read.FORM)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(read.BadForm, match=r"form\.csv, line 3"):
        read.verdicts([form], key)


def test_branches_of_every_kind_and_of_different_sources_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pools: dict[read.Kind, list[Case]] = {
        "code": [case(f"code-{at}") for at in range(9)],
        "agents": [],
        "talk": [Case(f"t{at}", f"s{at // 3}", "en", "development", (), ()) for at in range(9)],
        "meetings": [case("only")],
    }
    monkeypatch.setattr(read, "_every", lambda _split: pools)
    chosen = read.branches("development", 7)
    assert [kind for kind, _ in chosen].count("meetings") == 1 and len(chosen) == 7
    assert len({one.source for kind, one in chosen if kind == "talk"}) == 3
    assert [one.id for _, one in chosen] == [one.id for _, one in read.branches("development", 7)]
    assert [one.id for _, one in chosen] != [one.id for _, one in read.branches("development", 7, seed=2)]


def test_talk_topics_and_agents_turns_of_the_right_length_are_read(
    no_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "LEAST", 20)
    monkeypatch.setattr(read, "MOST", 60)
    meeting = no_data / "qmsum" / "data" / "ALL" / "val" / "m.json"
    history = no_data / "agents" / "2026-01-16_16-48-38Z.md"
    for file in (meeting, history):
        file.parent.mkdir(parents=True)
    said = [{"speaker": "A", "content": f"Statement {at} of the meeting is a longer one."} for at in range(9)]
    topics = [{"topic": "t", "relevant_text_span": [span]} for span in (["0", "2"], ["3", "3"], ["0", "8"])]
    meeting.write_text(
        json.dumps({"meeting_transcripts": said, "specific_query_list": [], "topic_list": topics})
    )
    turn = "_**{} (2026-01-16 16:48:38Z)**_\n\nStatement {} of this session is a longer one.\n\n"
    history.write_text("".join(turn.format(who, at) for at in range(4) for who in ("User", "Agent")))
    every = read._every("development")
    assert [case.id for case in every["meetings"]] == ["qmsum-m-0"]
    assert every["agents"] and all(case.trunk and 20 <= case.tokens <= 60 for case in every["agents"])
    assert every["agents"][0].side[0].text == "Statement 1 of this session is a longer one."
    assert every["talk"] == [] and every["code"] == []


def test_an_interval_draws_whole_sources() -> None:
    alike = Figure.of({"a": [0.0] * 50, "b": [1.0] * 50})
    apart = Figure.of({str(at): [float(at % 2)] for at in range(100)})
    assert alike and apart and alike.mean == apart.mean == 0.5
    assert (alike.low, alike.high) == (0, 1) and apart.high - apart.low < 0.25
    assert Figure.of({"a": []}) is None


def test_a_table_is_markdown_and_says_nothing_where_nothing_was_measured() -> None:
    tally = Tally()
    tally.add("ours", "20%", "a", 0.5)
    tally.add("theirs", "10%", "a", 1.0)
    assert str(tally.table("Kept", "Two rows.")).splitlines() == [
        "### Kept",
        "Two rows.",
        "",
        "|  | 20% | 10% |",
        "| --- | --- | --- |",
        "| ours | 0.50 [0.50, 0.50] |  |",
        "| theirs |  | 1.00 [1.00, 1.00] |",
    ]


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    monkeypatch.setattr(hindsight, "LOG", tmp_path / "no.md")
    for cached in (hindsight.coding_log, agent_logs.agent_logs):
        cached.cache_clear()
    return tmp_path


def test_the_program_says_what_it_left_out_and_writes_its_tables(
    no_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = no_data / "tables.json"
    own = "bench.mergebench.methods:full"
    assert program.main(["kept", "--only", "nothing", "--method", own, "--json", str(out)]) == 0
    run, _ = program._run(program._parser().parse_args(["--only", "nothing", "--method", own]))
    assert list(run.methods) == ["nothing", own]
    assert "Left out: the data is not in build/mergebench/" in capsys.readouterr().out
    assert [table["rows"] for table in json.loads(out.read_text())["tables"]] == [{}] * 5
    hindsight.coding_log.cache_clear()


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-column"],
        ["kept", "--only", "no such row"],
        ["--method", "no:such"],
        ["--verdicts", "no/form.csv"],
    ],
)
def test_the_program_refuses_what_is_not_there(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        program.main(arguments)
    assert stopped.value.code == 2 and "error:" in capsys.readouterr().err
