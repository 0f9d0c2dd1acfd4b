"""What `from forky_core import …` offers, and that nothing that is shown to people needs more."""

from __future__ import annotations

import ast
import inspect
import py_compile
import re
import subprocess
import sys
import typing
from collections import Counter
from importlib.machinery import SourcelessFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile
from zipimport import zipimporter

import pytest

import forky_core
from forky_core import experiments, extending, protocols, sharing

OFFERING = [forky_core, experiments, extending, protocols, sharing]
CHECKOUT = Path(__file__).parents[1]
SOURCE = CHECKOUT / "forky_core" / "__init__.py"
MADE_UP = (
    "tests/first_sentences.py",
    "tests/context/questions.py",
    "tests/documents/recipes.py",
    "tests/gateway/telegraph.py",
)
"""What the tests make up as a package of somebody else would."""
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]


def typed(module: ModuleType) -> set[str]:
    """The names that a type checker sees."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}


INTEGRATIONS = {"ForkyChatMessageHistory", "ForkyLogger"}
"""Names that need a package which a plain installation need not have, or which takes seconds to import."""


def test_what_is_offered_is_what_a_type_checker_sees_and_no_more_than_one_remembers() -> None:
    for module in OFFERING:
        more = INTEGRATIONS if module is forky_core else set()
        assert set(module.__all__) | more == typed(module)
        assert len(set(module.__all__)) == len(module.__all__) > 10
        assert set(module.__all__) <= set(dir(module))
    assert len(typed(forky_core)) <= 60
    assert not {
        name for name, times in Counter(n for one in OFFERING for n in typed(one)).items() if times > 1
    }


def test_its_names_are_read_from_a_zip_file_too(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "forky.zip", "w") as archive:
        archive.write(SOURCE, "forky_core/__init__.py")
    spec = zipimporter(str(tmp_path / "forky.zip")).find_spec("forky_core")
    assert spec and spec.loader
    packed = module_from_spec(spec)
    spec.loader.exec_module(packed)
    assert packed.__all__ == vars(forky_core)["__all__"]


def test_without_its_source_it_says_what_is_missing(tmp_path: Path) -> None:
    compiled = str(tmp_path / "__init__.pyc")
    py_compile.compile(str(SOURCE), cfile=compiled, doraise=True)
    spec = spec_from_file_location(
        "forky_core", compiled, loader=SourcelessFileLoader("forky_core", compiled)
    )
    assert spec and spec.loader
    with pytest.raises(ImportError, match="source files"):
        spec.loader.exec_module(module_from_spec(spec))


def test_every_name_is_there_and_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without it LiteLLM asks the network for prices while it is imported.
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for module in OFFERING:
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) or inspect.isfunction(value):
                told = inspect.getdoc(value) or ""
                assert told and not told.startswith(f"{name}("), f"{name} has no docstring"
            else:
                named = isinstance(value, typing.NewType) or typing.get_origin(value) is not None
                assert named, f"{name} is neither a class, a function nor a type"


def test_importing_everything_needs_no_package_of_an_integration() -> None:
    program = (
        "import sys; sys.modules['langchain_core'] = sys.modules['litellm'] = None\n"
        "from forky_core import *\nprint(Forky, FunctionModel)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 and not ran.stderr, ran.stderr


def test_a_name_that_is_not_offered_is_refused() -> None:
    for module in OFFERING:
        with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
            getattr(module, "Nonsense")  # noqa: B009 - a type checker knows that it is not there


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_example_reaches_deeper(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        assert not re.search(
            r"(?:from|import) forky_core\.(?!(?:bots|experiments|extending|protocols|sharing) )", block
        ), page.name


@pytest.mark.parametrize("file", MADE_UP)
def test_what_somebodys_package_adds_is_made_of_public_names(file: str) -> None:
    for item in ast.walk(ast.parse((CHECKOUT / file).read_text("utf-8"))):
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith("forky_core"):
            (offered,) = (module for module in OFFERING if module.__name__ == item.module)
            assert {alias.name for alias in item.names} <= set(offered.__all__)
