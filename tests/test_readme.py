"""The Python of the README and of docs/python.md runs as it stands; what there is to know of is told."""

from __future__ import annotations

import re
from argparse import _SubParsersAction
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forky_core.cli.parser import parser
from forky_core.process.settings import GONE

CHECKOUT = Path(__file__).parents[1]
PAGES = (CHECKOUT / "README.md", CHECKOUT / "docs" / "python.md")
SETTINGS = CHECKOUT / "forky_core" / "process" / "settings.py"
EXAMPLES = [
    source
    for page in PAGES
    for source in re.findall(r"<!-- tested -->\n```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]
SCREENS = 150
"""Lines of three screens."""


def test_every_example_is_tested() -> None:
    assert EXAMPLES and sum(page.read_text("utf-8").count("```python") for page in PAGES) == len(EXAMPLES)


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_runs(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    # In a thread of its own: the tests in a browser leave the main one with a running event loop.
    with ThreadPoolExecutor(1) as apart:
        apart.submit(exec, compile(source, "example", "exec"), {}).result()
    out = capsys.readouterr().out
    assert out.strip() and ("[Merged " in out) == ("merge" in source)


def test_the_readme_fits_on_three_screens() -> None:
    assert len(PAGES[0].read_text("utf-8").splitlines()) <= SCREENS


def test_every_variable_of_the_settings_is_told_of() -> None:
    text = (CHECKOUT / "docs" / "operating.md").read_text("utf-8").partition("## Configuration")[2]
    for name in set(re.findall(r"FORKY_[A-Z_]+", SETTINGS.read_text("utf-8"))) - GONE.keys():
        assert f"`{name}`" in text, name


def test_every_command_is_told_of() -> None:
    text = (CHECKOUT / "docs" / "command-line.md").read_text("utf-8")
    (commands,) = (one for one in parser()._actions if isinstance(one, _SubParsersAction))
    for name in commands.choices:
        assert f"`{name}`" in text or f"`{name} " in text, name


def test_no_link_to_a_file_leads_nowhere() -> None:
    """Those between pages of the site are checked where it is built; docs/index.md links to what the site makes."""
    pages = [CHECKOUT / "README.md", CHECKOUT / "CHANGELOG.md", *(CHECKOUT / "docs").rglob("*.md")]
    pages.remove(CHECKOUT / "docs" / "index.md")
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target and not target.startswith("mailto:"):
                assert (page.parent / target).exists(), f"{page.relative_to(CHECKOUT)}: {target}"
