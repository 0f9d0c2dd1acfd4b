"""A retired name works, warns whoever uses it, and cannot outlive the version that its warning names."""

from __future__ import annotations

import ast
import inspect
import re
import warnings

import pytest

import forky_core
from forky_core.model import Message
from forky_core.process.deprecations import RETIRED, Retired, deprecated
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


def test_a_retired_name_of_the_package_is_the_new_one_and_warns_whoever_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(RETIRED, "Statement", Retired("Message", gone_in="9.4"))
    with pytest.warns(DeprecationWarning, match=r"^`Statement` is now `Message`;") as told:
        assert forky_core.Statement is forky_core.Message
    assert str(told[0].message) == "`Statement` is now `Message`; it goes away in Forky 9.4."
    assert [one.filename for one in told] == [__file__]
    with pytest.warns(DeprecationWarning, match="goes away in Forky 9.4") as told:
        from forky_core import Statement  # noqa: PLC0415 - the import is what is tested
    assert Statement is forky_core.Message
    assert {one.filename for one in told} == {__file__}
    assert "Statement" not in forky_core.__all__


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
    for old, retired in RETIRED.items():
        assert not is_wrong(retired.sentence(old)), old
        assert retired.new in forky_core.__all__ and old not in forky_core.__all__, old
