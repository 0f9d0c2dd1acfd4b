"""What `from forky_core import …` offers, and that nothing that is shown to people needs more."""

from __future__ import annotations

import ast
import inspect
import py_compile
import re
import subprocess
import sys
import typing
from importlib.machinery import SourcelessFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from zipfile import ZipFile
from zipimport import zipimporter

import pytest

import forky_core
from forky_core import protocols

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


def typed() -> set[str]:
    """The names that a type checker sees."""
    tree = ast.parse(SOURCE.read_text("utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}


INTEGRATIONS = {"ForkyChatMessageHistory", "ForkyLogger"}
"""Names that need a package which a plain installation need not have, or which takes seconds to import."""


def test_what_is_offered_is_what_a_type_checker_sees() -> None:
    assert set(forky_core.__all__) | INTEGRATIONS == typed() and len(forky_core.__all__) > 100
    assert list(forky_core.__all__) == sorted(set(forky_core.__all__), key=forky_core.__all__.index)


def test_its_names_are_read_from_a_zip_file_too(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "forky.zip", "w") as archive:
        archive.write(SOURCE, "forky_core/__init__.py")
    spec = zipimporter(str(tmp_path / "forky.zip")).find_spec("forky_core")
    assert spec and spec.loader
    packed = module_from_spec(spec)
    spec.loader.exec_module(packed)
    assert packed.__all__ == forky_core.__all__


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
    for module in (forky_core, protocols):
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
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = forky_core.Nonsense


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_example_reaches_deeper(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        assert not re.search(r"(?:from|import) forky_core\.(?!protocols )", block), page.name


@pytest.mark.parametrize("file", MADE_UP)
def test_what_somebodys_package_adds_is_made_of_public_names(file: str) -> None:
    for item in ast.walk(ast.parse((CHECKOUT / file).read_text("utf-8"))):
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith("forky_core"):
            offered = {"forky_core": forky_core, "forky_core.protocols": protocols}.get(item.module or "")
            assert offered, item.module
            assert {alias.name for alias in item.names} <= set(offered.__all__)
