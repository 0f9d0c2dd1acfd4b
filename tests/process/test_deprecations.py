"""A retired name works, warns whoever uses it, and cannot outlive the version that its warning names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import warnings
from typing import Any

import pytest

import forky_core
from forky_core import sharing
from forky_core.model import Message
from forky_core.process.deprecations import FORMER_MODULES, RETIRED, deprecated, sentence
from tests.programs import CHECKOUT

SENTENCE = re.compile(r"`[\w.]+` is now `[\w.]+(?:\(.*\))?`; it goes away in Forky (\d+)\.(\d+)\.")
NOW = tuple(int(number) for number in forky_core.__version__.split(".")[:2])


class Kennel:
    def dogs(self, *, most: int) -> int:
        """The dogs there are."""
        return most

    @deprecated("`Kennel.hounds` is now `Kennel.dogs`; it goes away in Forky 9.4.")
    def hounds(self, *, most: int) -> int:
        """The dogs there are, by their old name."""
        return self.dogs(most=most)


def wrongs(source: str) -> list[str]:
    """The messages of a file's retired functions that have another form, or name a version that has come."""
    found = []
    for item in ast.walk(ast.parse(source)):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id == "deprecated":
            (message,) = item.args
            if not isinstance(message, ast.Constant) or is_wrong(str(message.value)):
                found.append(ast.unparse(message))
    return found


def is_wrong(sentence: str) -> bool:
    told = SENTENCE.fullmatch(sentence)
    return told is None or (int(told[1]), int(told[2])) <= NOW


@pytest.mark.parametrize("old", RETIRED)
def test_a_name_that_has_another_place_is_found_there_and_warns_whoever_asks(old: str) -> None:
    (module, name), (home, same) = old.rsplit(".", 1), RETIRED[old].rsplit(".", 1)
    with pytest.warns(DeprecationWarning, match=re.escape(f"`{old}` is now `{RETIRED[old]}`;")) as told:
        assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(home), same)
    assert [one.filename for one in told] == [__file__]
    assert name == same and name not in dir(forky_core)
    assert not is_wrong(sentence(old, RETIRED[old]))


def test_an_import_of_a_name_that_has_another_place_warns_the_file_that_imports() -> None:
    found: dict[str, Any] = {}
    with pytest.warns(DeprecationWarning, match="forky_core.sharing.Tally") as told:
        exec(compile("from forky_core import Tally", "program.py", "exec"), found)  # noqa: S102 - it is what is tested
    assert found["Tally"] is sharing.Tally
    assert {one.filename for one in told} == {"program.py"}


@pytest.mark.parametrize("old", FORMER_MODULES)
def test_a_module_that_was_named_in_the_documentation_is_found_where_it_is_now(old: str) -> None:
    new = importlib.import_module(FORMER_MODULES[old])
    name = next(iter(getattr(new, "__all__", ())), None) or next(
        name for name, value in vars(new).items() if getattr(value, "__module__", "") == new.__name__
    )
    found: dict[str, Any] = {}
    with pytest.warns(
        DeprecationWarning, match=re.escape(f"`{old}` is now `{FORMER_MODULES[old]}`;")
    ) as told:
        exec(compile(f"from {old} import {name}", "program.py", "exec"), found)  # noqa: S102 - as above
    assert found[name] is getattr(new, name)
    assert {one.filename for one in told} == {"program.py"}
    assert not is_wrong(sentence(old, FORMER_MODULES[old])) and not hasattr(sys.modules[old], "__file__")


def test_a_retired_method_does_what_it_did_and_warns_its_caller() -> None:
    with pytest.warns(DeprecationWarning, match=r"^`Kennel.hounds` is now `Kennel.dogs`;") as told:
        assert Kennel().hounds(most=3) == 3
    assert [one.filename for one in told] == [__file__]
    assert inspect.getdoc(Kennel.hounds) == "The dogs there are, by their old name."
    assert list(inspect.signature(Kennel.hounds).parameters) == ["self", "most"]


def test_the_new_name_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Kennel().dogs(most=2) == 2 and forky_core.Message is Message


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ('"`old` is now `new`; it goes away in Forky 9.4."', False),
        ('"`Forky.old` is now `Forky.new(again=True)`; it goes away in Forky 9.4."', False),
        ('"`old` is now `new`; it goes away in Forky 0.1."', True),
        ('"`old` is now `new`; it goes away soon."', True),
        ('"Please do not use it."', True),
        ("MESSAGE", True),
    ],
)
def test_a_message_without_a_new_word_and_a_version_to_come_is_found(message: str, *, wrong: bool) -> None:
    assert bool(wrongs(f"@deprecated({message})\ndef old(): ...\n")) is wrong


def test_every_retired_name_says_what_to_use_and_is_gone_when_it_said() -> None:
    for path in sorted((CHECKOUT / "forky_core").rglob("*.py")):
        source = path.read_text("utf-8")
        assert "deprecated" not in source or wrongs(source) == [], path
