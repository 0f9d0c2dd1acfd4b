"""CONTRIBUTING.md names what is there, and what runs before a commit and on a server is what `make` runs here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.programs import CHECKOUT

yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with mkdocs and LiteLLM, is not installed.")
TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")
TOPS = ("forky_core/", "pages/", "tests/", "bench/", "docs/", ".ci/", ".github/")
FORMS = sorted(
    path for path in (CHECKOUT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
)


def loaded(path: str | Path) -> Any:
    return yaml.safe_load((CHECKOUT / path).read_text("utf-8"))


def test_every_place_that_the_page_names_is_there() -> None:
    named = {word for words in re.findall(r"[`(]([^`()\n]+)[`)]", TEXT) for word in re.split(r'[\s"]', words)}
    places = {word for word in named if word.startswith(TOPS) and "NAME" not in word}
    assert len(places) > 20
    assert [place for place in sorted(places) if not (CHECKOUT / place).exists()] == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("forky_core/model/payload_kinds.py", "PayloadKind"),
        ("forky_core/merge/strategies.py", "STRATEGIES"),
        ("forky_core/merge/branch_merge.py", "plan_branch_merge"),
        ("forky_core/merge/branch_merge.py", "plan_of_lines"),
        ("forky_core/formats/registry.py", "_NARROW"),
        ("forky_core/formats/registry.py", "WIDE"),
        ("forky_core/formats/leftovers.py", "leftovers"),
        ("tests/formats/seeds.py", "messages"),
        ("tests/formats/seeds.py", "signs"),
        ("pages/ui/page.py", "class Page"),
        ("pages/ui/page.py", "shown"),
        ("pages/ui/page.py", "about_conversation"),
        ("pages/ui/frame.py", "locate"),
        ("pages/ui/components/undoing.py", "page_top"),
        ("forky_core/store/duckdb/file/schemas.py", "STEPS"),
        ("forky_core/store/postgresql/migrations.py", "MIGRATIONS"),
        ("forky_core/store/postgresql/migrations.py", "usable_from"),
        ("forky_core/process/deprecations.py", "RETIRED"),
        ("forky_core/process/deprecations.py", "deprecated"),
        ("tests/pages/workspaces.py", "open_page"),
        ("tests/pages/workspaces.py", "empty_workspace"),
        ("tests/pages/apptest.py", "open_page"),
        ("tests/builders.py", "def talk"),
        ("tests/store/talk.py", "full_generation"),
        ("forky_core/merge/strategy.py", "plan_side"),
        ("forky_core/merge/strategy.py", "caption_of_several"),
        ("forky_core/model/payload_kinds.py", "headings"),
        ("bench/mergebench/methods.py", "METHODS"),
        ("bench/mergebench/__main__.py", "COLUMNS"),
        ("bench/mergebench/__main__.py", "makers"),
    ],
)
def test_every_name_in_its_steps_is_where_it_says(file: str, name: str) -> None:
    assert name.removeprefix("class ").removeprefix("def ") in TEXT
    assert name in (CHECKOUT / file).read_text("utf-8")


def test_the_workflow_runs_the_gate_and_may_write_nothing() -> None:
    workflow = loaded(".github/workflows/ci.yml")
    assert workflow["jobs"]["check"]["steps"][-1]["run"].endswith(".ci/run")
    assert workflow["permissions"] == {"contents": "read"}


def test_the_workflow_tries_the_newest_streamlit_and_does_not_fail_by_it() -> None:
    job = loaded(".github/workflows/ci.yml")["jobs"]["next"]
    assert job["steps"][-1]["run"].endswith("make next") and job["continue-on-error"] is True


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_something_that_must_be_answered(path: Path) -> None:
    form = loaded(path)
    assert form["name"] and form["description"].endswith(".")
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
    assert all(field["attributes"]["label"] for field in fields)
