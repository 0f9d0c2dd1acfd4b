from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forky_core.experiments.exporting.registry import experiment_writer
from forky_core.experiments.files.cases import cases_in_text, typed_cases
from forky_core.experiments.files.check_words import check_in, check_in_words
from forky_core.experiments.files.experiment_file import experiment_in_bytes, named_after, read_experiment
from forky_core.experiments.files.loading import table_in
from forky_core.experiments.files.promptfoo import model_of
from forky_core.experiments.validation import fit_experiment
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from tests.experiments.grids import opened, saved

OWN = """
about: Which model knows capitals?
columns:
  - offline/quote
  - {model: gpt-4o, label: Brief, system: "Answer in {{style}}.", parameters: {temperature: 0}, samples: 3}
  - {model: gpt-4o, prompt: [[user, "Hi"], [assistant, "Hello."], [user, "{{question}}"]]}
checks: [{length: {max: 200}}, {not-contains: sorry}]
judge: gpt-4o-mini
parallel: 2
dollars: 1.5
seed: 7
colour: blue
rows:
  - What is the capital of France?
  - question: And of {{country}}?
    country: Italy
    style: one word
    reference: Rome
    checks: [contains: "{{reference}}", {judge: "Is it polite?", weight: 0.5}, "regex: ^R"]
"""


def test_forky_s_own_form_is_read(tmp_path: Path) -> None:
    (tmp_path / "capitals.yaml").write_text(OWN)
    read = read_experiment(tmp_path / "capitals.yaml")
    assert (read.name, read.judge, read.parallel, read.dollars, read.seed) == (
        "capitals",
        "gpt-4o-mini",
        2,
        1.5,
        7,
    )
    assert [c.samples for c in read.columns] == [1, 3, 1] and dict(read.columns[1].parameters) == {
        "temperature": 0
    }
    assert read.columns[2].turns[-1] == ("user", "{{question}}")
    assert [check.kind for check in read.checks] == ["length", "contains"] and read.checks[1].negated
    assert read.rows[1].reference == "Rome" and dict(read.rows[1].variables) == {
        "country": "Italy",
        "style": "one word",
    }
    assert [(c.kind, c.weight) for c in read.rows[1].checks] == [
        ("contains", 1),
        ("judge", 0.5),
        ("regex", 1),
    ]
    assert read.notes == ("The file says “colour”, which is no part of an experiment.",)


def test_what_is_written_as_yaml_is_read_as_the_same_experiment(tmp_path: Path) -> None:
    _, _, _, experiments = saved(
        checks=[RowCheck("judge", "Polite?", threshold=0.5)], about="A test", dollars=2.0, seed=3
    )
    (tmp_path / "x.yaml").write_bytes(
        b"".join(experiment_writer("yaml").write(experiments.result("capitals")))
    )
    assert fit_experiment(read_experiment(tmp_path / "x.yaml")) == experiments["capitals"]


def test_tables_of_cases_are_read() -> None:
    csv = 'question;country;expected\n"What is the ""capital"";\nof it?";France;Paris\n;;\nAnd here?;Italy;\n'
    one, two = cases_in_text(csv, "cases.csv")
    assert (one.question, one.reference, dict(one.variables)) == (
        'What is the "capital";\nof it?',
        "Paris",
        {"country": "France"},
    )
    assert two.question == "And here?"
    lines = '{"input": "Hi", "ideal": "Hello", "n": 3, "checks": ["icontains: hello"]}\n\n"Just this"\n'
    first, second = cases_in_text(lines, "cases.jsonl")
    assert (first.question, first.reference, first.variables["n"]) == ("Hi", "Hello", 3)
    assert first.checks == (RowCheck("icontains", "hello"),) and second.question == "Just this"


def test_pasted_lines_are_questions() -> None:
    assert [row.question for row in typed_cases("One?\n\nTwo?\r\nThree?")] == ["One?", "Two?\nThree?"]
    assert [row.question for row in typed_cases("One?\nTwo?\n")] == ["One?", "Two?"]


def test_ten_thousand_cases_and_long_ones_are_read() -> None:
    text = (
        "question,n\n"
        + "".join(f'"What is {n}, {n}?",{n}\n' for n in range(10_000))
        + f'"{"x" * 300_000}",1\n'
    )
    rows = cases_in_text(text, "many.csv")
    assert len(rows) == 10_001 and rows[9_999].question == "What is 9999, 9999?"
    assert len(rows[-1].question) == 300_000


@given(st.lists(st.lists(st.text(alphabet=st.characters(codec="utf-8")), min_size=2, max_size=2), max_size=6))
def test_any_table_that_python_writes_is_read(lines: list[list[str]]) -> None:
    import csv  # noqa: PLC0415
    from io import StringIO  # noqa: PLC0415

    written = StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["a", "b"], *lines])
    expected = [{"a": a, "b": b} for a, b in lines if a.strip() or b.strip()]
    assert list(table_in(written.getvalue(), "x.csv")) == expected


@pytest.mark.parametrize(
    ("words", "check"),
    [
        ("contains: Paris", RowCheck("contains", "Paris")),
        ("not-icontains: sorry", RowCheck("icontains", "sorry", negated=True)),
        ("contains-any: a, b", RowCheck("contains-any", ["a", "b"])),
        ("similar(0.8): a text", RowCheck("similar", "a text", threshold=0.8)),
        ("is-json", RowCheck("is-json")),
        ("grade: polite", RowCheck("judge", "polite")),
        ("llm-rubric: polite", RowCheck("judge", "polite")),
        ("select-best: shorter", RowCheck("best", "shorter")),
        ("javascript: output > 1", RowCheck("javascript", "output > 1", weight=0)),
        ("Paris", RowCheck("equals", "Paris")),
        ("Note: this is a text", RowCheck("equals", "Note: this is a text")),
    ],
)
def test_checks_in_words(words: str, check: RowCheck) -> None:
    assert check_in_words(words) == check


def test_an_unknown_check_of_our_own_form_is_refused() -> None:
    with pytest.raises(BadContent, match="no check of the kind “contians”"):
        check_in({"contians": "x"})
    with pytest.raises(BadContent, match="no kind"):
        check_in({"contains": "x", "equals": "y"})


CONFIG = """
description: Does the assistant translate?
prompts:
  - "Translate into {{language}}: {{text}}"
  - id: file://prompts/chat.json
    label: chat
  - file://prompts/*.txt
  - file://prompt.py
providers:
  - openai:chat:gpt-4o-mini
  - id: anthropic:messages:claude-haiku-4-5
    label: Haiku
    config: {temperature: 0.3, max_tokens: 100, apiKey: not-a-key}
    prompts: [chat]
  - ollama:chat:llama3.2
  - exec:./model.sh
defaultTest:
  vars: {tone: kind}
  assert:
    - {type: latency, threshold: 5000}
  options:
    provider: openai:gpt-4o
tests:
  - description: greetings
    vars: {language: [French, German], text: Hello}
    threshold: 0.5
    assert:
      - {type: icontains-any, value: [bonjour, hallo], weight: 2}
      - {type: llm-rubric, value: "Is {{tone}}", metric: tone, provider: "openai:gpt-4o-mini"}
      - {type: python, value: "len(output) < 9"}
      - type: assert-set
        assert: [{type: not-contains, value: sorry}]
  - file://more/*.csv
  - vars: {language: Dutch, text: file://text.md}
scenarios:
  - config: [{vars: {language: Polish}}, {vars: {language: Czech}}]
    tests: [{vars: {text: Thanks}}]
evaluateOptions: {maxConcurrency: 8, repeat: 2}
extensions: [file://hook.js]
"""


@pytest.fixture
def promptfoo(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "promptfooconfig.yaml").write_text(CONFIG)
    (tmp_path / "prompts" / "chat.json").write_text(
        '[{"role": "system", "content": "Be {{tone}}."}, {"role": "user", "content": "{{text}} in {{language}}?"}]'
    )
    (tmp_path / "prompts" / "two.txt").write_text("First: {{text}}\n---\nSecond: {{text}}\n")
    (tmp_path / "prompt.py").write_text("raise SystemExit")
    (tmp_path / "more" / "a.csv").write_text(
        "language,text,__expected,__expected2,__description\nItalian,Bye,icontains: ciao,is-json,farewell\n"
    )
    (tmp_path / "text.md").write_text("# A text")
    return tmp_path / "promptfooconfig.yaml"


def test_a_configuration_of_promptfoo_s_is_read(promptfoo: Path) -> None:
    read = read_experiment(promptfoo)
    assert fit_experiment(read).rows == read.rows
    assert (read.name, read.parallel, read.judge) == ("promptfoo", 8, "gpt-4o")
    labels = [(column.model, column.label) for column in read.columns]
    assert [label for model, label in labels if model == "claude-haiku-4-5"] == ["Haiku · chat"]
    assert len(labels) == 9 and {column.samples for column in read.columns} == {2}
    haiku = next(column for column in read.columns if column.model == "claude-haiku-4-5")
    assert (haiku.system, haiku.prompt, dict(haiku.parameters)) == (
        "Be {{tone}}.",
        "{{text}} in {{language}}?",
        {"temperature": 0.3, "max_tokens": 100},
    )
    said = [(row.variables["language"], row.variables["text"], row.variables["tone"]) for row in read.rows]
    assert said == [
        ("French", "Hello", "kind"),
        ("German", "Hello", "kind"),
        ("Italian", "Bye", "kind"),
        ("Dutch", "# A text", "kind"),
        ("Polish", "Thanks", "kind"),
        ("Czech", "Thanks", "kind"),
    ]
    assert [check.kind for check in read.checks] == ["latency"]
    any_of, judge, program, without = read.rows[0].checks
    assert (any_of.weight, judge.model, judge.label, program.weight) == (2.0, "gpt-4o-mini", "tone", 0.0)
    assert without == RowCheck("contains", "sorry", negated=True) and read.rows[0].threshold == 0.5
    assert [check.kind for check in read.rows[2].checks] == ["icontains", "is-json"]


def test_what_promptfoo_does_and_forky_does_not_is_named(promptfoo: Path) -> None:
    notes = "\n".join(read_experiment(promptfoo).notes)
    for named in ("prompt.py is a program", "exec:./model.sh", "apiKey", "type “python”", "extensions"):
        assert named in notes
    assert "not-a-key" not in notes


def test_it_runs_as_it_was_read(promptfoo: Path) -> None:
    _, _, _, experiments = opened()
    text = (
        promptfoo.read_text()
        .replace("openai:chat:gpt-4o-mini", "scripted/one")
        .replace("ollama:chat:llama3.2", "scripted/two")
    )
    promptfoo.write_text(text)
    read = read_experiment(promptfoo)
    experiments.save(read)
    result = experiments.run(read.name)
    assert result.experiment.judge == "gpt-4o" and result.answered == result.experiment.size - 12
    assert result.cells and all(cell.status == "failed" or cell.text for cell in result.cells.values())


@pytest.mark.parametrize("name", ["file:///etc/hostname", "file://../secret.csv", "file://link.csv"])
def test_files_elsewhere_are_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\nkey,12345\n")
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "c.yaml").write_text(f"prompts: ['{{{{a}}}}']\nproviders: [openai:gpt-4o]\ntests: '{name}'\n")
    read = read_experiment(folder / "c.yaml")
    assert [row.label for row in read.rows] == ["without variables"] and read.notes
    (folder / "own.yaml").write_text(f"columns: [gpt-4o]\nrows: '{name}'\n")
    with pytest.raises(BadContent):
        read_experiment(folder / "own.yaml")


@pytest.mark.parametrize(
    ("id", "model"),
    [
        ("openai:gpt-4o", "gpt-4o"),
        ("openai:responses:gpt-5", "gpt-5"),
        ("anthropic:claude-x", "claude-x"),
        ("ollama:chat:llama3:8b", "ollama/llama3:8b"),
        ("vertex:gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("openrouter:meta/llama", "openrouter/meta/llama"),
        ("somebody:chat:thing", "somebody/thing"),
        ("offline/quote", "offline/quote"),
    ],
)
def test_providers_by_their_names(id: str, model: str) -> None:
    assert model_of(id) == model


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.yaml", b"rows: [", "line 1"),
        ("x.yaml", b"just: this", "is no experiment"),
        ("x.yaml", b"a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n" + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 9)) for n in range(ord("c"), ord("k"))), "holds too much"),
        ("x.yaml", b"rows: 7\ncolumns: [a]", "rows are a list"),
        ("x.yaml", b"rows: [a]\ncolumns: [{modle: a}]", "no “modle”"),
        ("x.yaml", b"rows: [a]\ncolumns: [a]\nparallel: many", "wrong kind"),
        ("x.csv", b'a,b\n"never closed', "never ends"),
        ("x.csv", b"a,b\n", "no case"),
        ("x.jsonl", b"{", "line 1"),
        ("x.json", b"[" * 100_000, "cannot be read"),
        ("x.csv", b"\x81\x8d\x00\x9d", "is no text"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(name: str, content: bytes, says: str) -> None:
    with pytest.raises(BadContent, match=says):
        experiment_in_bytes(content, name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"columns": ["a"] * 51, "rows": ["x"]}, "50 columns at most; this one has 51"),
        ({"providers": ["a"] * 500, "prompts": ["{{x}}"] * 500, "tests": [{}]}, "more than 50 columns"),
        (
            {"scenarios": [{"config": [{}] * 1_000, "tests": [{"vars": {"x": list("ab" * 50)}}] * 300}]},
            "more than 20,000 rows",
        ),
    ],
)
def test_a_file_makes_no_more_than_an_experiment_has(content: dict[str, object], says: str) -> None:
    with pytest.raises(BadContent, match=says):
        experiment_in_bytes(json.dumps(content).encode(), "promptfooconfig.json")


def test_names_after_files() -> None:
    assert [named_after(n) for n in ("a/promptfooconfig.yaml", "my cases.v2.csv", "x" * 99)] == [
        "promptfoo",
        "my cases",
        "x" * 40,
    ]


def test_yaml_of_python_objects_is_refused() -> None:
    with pytest.raises(BadContent):
        experiment_in_bytes(b"rows: !!python/object/apply:os.getcwd []", "x.yaml")
    assert yaml.__version__


@pytest.mark.parametrize(
    "content", ["!!timestamp foo", "a: !!int ''", "a: !!bool foo", "a: !!float ''", "rows: 2024-13-45"]
)
def test_yaml_whose_values_are_not_what_they_say_is_refused(content: str) -> None:
    with pytest.raises(BadContent, match="cannot be read"):
        experiment_in_bytes(content.encode(), "grid.yaml")


def test_yaml_that_multiplies_what_it_merges_is_refused() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    with pytest.raises(BadContent, match="merged"):
        experiment_in_bytes("\n".join(lines).encode(), "grid.yaml")
    merged = experiment_in_bytes(
        b"rows: [Hi]\ncolumns: [&a {model: x, system: Hm.}, {<<: *a, label: B}]", "a.yaml"
    )
    assert [column.system for column in merged.columns] == ["Hm.", "Hm."]


@pytest.mark.parametrize(
    "content",
    [
        "evaluateOptions: {repeat: .inf}",
        "evaluateOptions: {repeat: .nan, maxConcurrency: .inf}",
        "scenarios: [{config: 5}]",
    ],
)
def test_odd_values_of_a_configuration_are_no_error(content: str) -> None:
    text = f"prompts: [Hi.]\nproviders: [openai:gpt-4o]\n{content}\n"
    assert experiment_in_bytes(text.encode(), "promptfooconfig.yaml").columns[0].model == "gpt-4o"


def test_a_check_in_words_with_a_number_that_is_none() -> None:
    found = experiment_in_bytes(b'question,__expected\nHi?,"similar(0.8.1): Hello"\n', "cases.csv")
    assert found.rows[0].checks == (RowCheck("similar", "Hello"),)


def test_lines_of_json_may_hold_other_ends_of_lines() -> None:
    found = experiment_in_bytes(
        '{"question": "One\u2028two\x85three?"}\r\n{"question": "b"}\n'.encode(), "a.jsonl"
    )
    assert [row.question for row in found.rows] == ["One\u2028two\x85three?", "b"]
