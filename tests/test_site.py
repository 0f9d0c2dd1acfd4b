"""The documentation builds as one site, with every warning an error, and its reference has all that is offered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.hangs import HANG
from tests.test_public_api import OFFERING, typed

CHECKOUT = Path(__file__).parents[1]


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    built = subprocess.run(
        [
            sys.executable,
            *["-m", "mkdocs", "build", "--strict", "-f", "docs/site/mkdocs.yml", "-d"],
            str(tmp_path),
        ],
        cwd=CHECKOUT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=HANG,
    )
    assert built.returncode == 0, built.stderr[-2_000:]
    pages = {page.relative_to(tmp_path).as_posix() for page in tmp_path.rglob("*.html")}
    assert {"index.html", "reference.html", "guide/fork.html", "design/index.html"} <= pages
    reference = (tmp_path / "reference.html").read_text("utf-8")
    for name in ("Forky", "MergePlan", "extending.Strategy", "protocols.ProtocolAdapter"):
        assert f'id="forky_core.{name}"' in reference


@pytest.mark.parametrize("module", OFFERING)
def test_the_reference_has_all_that_is_offered(module: ModuleType) -> None:
    reference = (CHECKOUT / "docs" / "reference.md").read_text("utf-8")
    listed = re.findall(rf"^::: {module.__name__}\.(\w+)$", reference, re.MULTILINE)
    assert sorted(listed) == sorted(typed(module))


def test_every_page_of_the_documentation_is_in_the_navigation() -> None:
    navigation = (CHECKOUT / "docs" / "site" / "mkdocs.yml").read_text("utf-8")
    pages = {page.name for page in (CHECKOUT / "docs").glob("*.md")}
    assert {page for page in pages if page not in navigation} == set()
