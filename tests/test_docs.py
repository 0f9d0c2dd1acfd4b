"""The examples of the documentation run as they stand, in front of a gateway whose offline models answer.

README.md and docs/python.md are run by tests/test_readme.py, docs/matching.md by tests/matching/test_contract.py,
docs/extending.md by tests/test_extending.py, docs/operating.md by tests/operating.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.mergebench.__main__ import _parser
from bench.mergebench.methods import METHODS
from forky_core.experiments.files.experiment_file import read_experiment
from forky_core.forky import Forky
from forky_core.formats.importing.landing import import_file
from forky_core.gateway.health import READY, Readiness
from forky_core.gateway.metrics import METRICS
from tests.builders import ScriptedModels
from tests.gateway.served import Served, catalogue, serving
from tests.hangs import HANG, eventually
from tests.pages.apptest import settled
from tests.programs import CHECKOUT

yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with mkdocs and LiteLLM, is not installed.")
DOCS = CHECKOUT / "docs"
ELSEWHERE = {"README.md", "python.md", "matching.md", "extending.md", "operating.md"}
"""Pages whose examples other tests run."""
BLOCK = re.compile(r"(<!-- tested -->\n)?```(python|sh|json|yaml)\n(.*?)```", re.DOTALL)
QUESTION = "How do I fork?"
BASH = shutil.which("bash") if shutil.which("curl") else None


def blocks(page: str, language: str) -> list[str]:
    """The tested blocks of a page, in its order."""
    found = BLOCK.findall((DOCS / page).read_text("utf-8"))
    return [text for mark, known, text in found if mark and known == language]


def block(page: str, language: str, word: str) -> str:
    """The one tested block that holds a word."""
    (found,) = [text for text in blocks(page, language) if word in text]
    return found


@pytest.fixture
def gateway() -> Iterator[Served]:
    with serving(catalogue({})) as served:
        yield served


def run(
    command: list[str], folder: Path, gateway: Served | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a program as somebody would who follows the page."""
    at = gateway and {
        "FORKY_URL": gateway.url,
        "OPENAI_API_BASE": gateway.base_url,
        "OPENAI_BASE_URL": gateway.base_url,
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "FORKY_PROBE": "0",
            # Without it LiteLLM asks the network for prices while it is imported.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            **(at or {}),
            **more,
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def run_python(source: str, gateway: Served, folder: Path, *, model: str) -> str:
    """Run an example. Its model is asked through the gateway too, by a token that records nothing."""
    assert '"gpt-4o"' in source
    source = source.replace('"gpt-4o"', f'"{model}"').replace("forky-…", gateway.key)
    asks = gateway.tokens.make("a model", records=False).text
    return run([sys.executable, "-c", source], folder, gateway, OPENAI_API_KEY=asks).stdout


def test_every_example_of_python_is_run_by_a_test() -> None:
    for page in sorted(DOCS.rglob("*.md")):
        if page.name not in ELSEWHERE:
            for mark, language, text in BLOCK.findall(page.read_text("utf-8")):
                assert mark or language not in {"python", "json", "yaml"}, f"{page.name}: {text}"
    marked = {page.name for page in DOCS.rglob("*.md") if "<!-- tested" in page.read_text("utf-8")}
    assert marked - ELSEWHERE == {
        "experiments.md",
        "gateway.md",
        "mergebench.md",
        "observing.md",
        "streamlit.md",
    }


@pytest.mark.skipif(BASH is None, reason="No bash or curl on this machine.")
def test_the_commands_of_the_gateway_ask_an_offline_model(gateway: Served, tmp_path: Path) -> None:
    assert BASH
    exports, ask = blocks("gateway.md", "sh")
    script = f"set -eu\n{exports}\n{ask}\ntest -n $ANTHROPIC_API_KEY\necho\necho $ANTHROPIC_BASE_URL"
    script = script.replace("http://127.0.0.1:8501", gateway.url).replace("forky-…", gateway.key)
    answer, base = run([BASH, "-c", script], tmp_path, gateway).stdout.splitlines()
    words = json.loads(answer)["choices"][0]["message"]["content"]
    assert base == gateway.url
    assert gateway.paths() == [[QUESTION, words]]


def test_the_example_for_litellm_is_recorded_by_a_running_forky(gateway: Served, tmp_path: Path) -> None:
    run_python(block("gateway.md", "python", "token="), gateway, tmp_path, model="openai/offline/quote")
    eventually(lambda: len(gateway.paths()) == 1)
    (path,) = gateway.paths()
    assert path[0] == QUESTION and "fork" in path[1]
    (conversation,) = gateway.forky.conversations()
    (generation,) = gateway.forky.store.generations(conversation.id)
    assert generation.client == "test (litellm)"


def test_the_example_for_litellm_with_a_file_makes_a_tree(gateway: Served, tmp_path: Path) -> None:
    run_python(block("gateway.md", "python", "spool="), gateway, tmp_path, model="openai/offline/quote")
    assert gateway.paths() == []
    with Forky.open(":memory:", models=ScriptedModels()) as forky:
        (made,) = import_file(forky, tmp_path / "calls.jsonl").conversations
        first, second = forky.conversation(made).path()
    assert first.text == QUESTION and "fork" in second.text


def test_the_example_for_langchain_keeps_the_history_on_a_branch(gateway: Served, tmp_path: Path) -> None:
    source = block("gateway.md", "python", "langchain")
    said = run_python(source, gateway, tmp_path, model="offline/quote")
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        (summary,) = forky.conversations()
        texts = [message.text for message in forky.conversation(summary.id, "ann").path()]
    assert texts == [QUESTION, said.removesuffix("\n")]


def test_a_method_of_mergebench_has_the_signature_of_its_manual() -> None:
    (source,) = blocks("mergebench.md", "python")
    found: dict[str, Any] = {}
    exec(compile(f"from __future__ import annotations\n{source}", "mergebench.md", "exec"), found)  # noqa: S102 - that is the point
    told = inspect.signature(found["merge"])
    assert list(told.parameters) == ["trunk", "side", "budget"]
    for method in METHODS.values():
        inspect.signature(method).bind(*told.parameters)


def test_the_commands_of_mergebench_are_understood() -> None:
    lines = [line for text in blocks("mergebench.md", "sh") for line in text.splitlines()]
    assert len(lines) > 8
    for line in lines:
        python, switch, module, *words = shlex.split(line, comments=True)
        assert (python, switch, module) == ("python", "-m", "bench.mergebench")
        _parser().parse_args(words)


@pytest.mark.parametrize("name", ["true-en", "conflicts-en", "model-path"])
def test_a_line_of_data_has_the_fields_of_the_manual(name: str) -> None:
    file = (CHECKOUT / "bench/mergebench/data" / f"{name}.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in file.splitlines()]
    examples = [json.loads(text) for text in blocks("mergebench.md", "json")]
    known = {line["id"]: line for line in lines}
    (example,) = [one for one in examples if one["id"] in known]
    assert set(example) <= {key for line in lines for key in line}
    assert {key: type(value) for key, value in example.items()}.items() <= {
        key: type(value) for line in lines for key, value in line.items()
    }.items()
    assert known[example["id"]]["kind"] == example["kind"]


def test_a_program_sees_the_log_by_two_lines(tmp_path: Path) -> None:
    source = block("observing.md", "python", "logging")
    use = "from forky_core import Forky\nwith Forky.open(':memory:') as forky: forky.create('Names')\n"
    assert "operation.published" not in run([sys.executable, "-c", use], tmp_path).stderr
    told = run([sys.executable, "-c", source + use], tmp_path).stderr
    assert "operation.published conversation=" in told


def test_what_observing_says_of_readiness_is_what_is_checked() -> None:
    (answer,) = map(json.loads, blocks("observing.md", "json"))

    def nothing() -> Any:
        raise AssertionError

    assert list(answer["checks"]) == list(Readiness(nothing)._checks)
    assert answer["ready"] is all(one["ok"] for one in answer["checks"].values())


def test_the_probes_and_the_scrape_ask_where_forky_answers() -> None:
    probes, scrape = map(yaml.safe_load, blocks("observing.md", "yaml"))
    routes = (CHECKOUT / "app.py").read_text("utf-8")
    assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz" and '"/healthz"' in routes
    assert probes["readinessProbe"]["httpGet"]["path"] == READY
    (job,) = scrape["scrape_configs"]
    assert job.get("metrics_path", "/metrics") == METRICS


def test_the_example_of_a_fault_of_streamlit_is_a_page() -> None:
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415 - loads Streamlit

    (source,) = blocks("streamlit.md", "python")
    page = settled(AppTest.from_string(source, default_timeout=HANG).run())
    page.button[0].click().run()
    assert not page.exception and page.session_state["n"] == 1


def test_the_experiments_of_their_page_are_read_and_run(tmp_path: Path) -> None:
    file = tmp_path / "capitals.yaml"
    file.write_text(block("experiments.md", "yaml", "Which model knows capitals"), "utf-8")
    read = read_experiment(file)
    assert [column.label for column in read.columns][-1] == "Brief"
    assert (len(read.rows), read.parallel, read.dollars, read.notes) == (2, 8, 2.5, ())
    (script,) = blocks("experiments.md", "python")
    printed = run([sys.executable, "-c", script], tmp_path).stdout.splitlines()
    assert len(printed) == 3
    assert printed[1].startswith("Digest ")
