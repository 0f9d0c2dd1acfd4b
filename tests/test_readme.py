"""The Python of the README runs as it stands."""

from __future__ import annotations

import re
from argparse import _SubParsersAction
from pathlib import Path

import pytest

from forky_core.cli.parser import parser

README = Path(__file__).parents[1] / "README.md"
SETTINGS = README.parent / "forky_core" / "settings.py"
EXAMPLES = re.findall(r"<!-- tested -->\n```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_readme_has_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_of_the_readme_runs(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(source, str(README), "exec"), {})  # noqa: S102 - that is the point
    out = capsys.readouterr().out
    assert out.strip() and ("[Merged " in out) == ("merge" in source)


def test_every_variable_of_the_settings_is_in_the_readme() -> None:
    text = README.read_text()
    for name in re.findall(r"FORKY_[A-Z_]+", SETTINGS.read_text()):
        assert f"`{name}`" in text, name


def test_every_command_is_in_the_readme() -> None:
    text = README.read_text()
    (commands,) = (one for one in parser()._actions if isinstance(one, _SubParsersAction))
    for name in commands.choices:
        assert f"`{name}`" in text or f"`{name} " in text, name
