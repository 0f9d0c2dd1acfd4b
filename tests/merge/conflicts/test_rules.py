"""Rules name possible conflicts where they are nearly sure, and stay silent otherwise."""

from __future__ import annotations

import pytest

from forky_core.merge.conflicts.conflict import Choice, ComparedSide, Conflict
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.model import Message, Role, seal
from forky_core.model.parts import Draft, TextPart
from tests.merge.conflicts.pairs import FOUND, LEFT_ALONE, MISSED


def said(*texts: str, role: Role = "assistant") -> tuple[Message, ...]:
    path: list[Message] = []
    for text in texts:
        path.append(seal(Draft(role, (TextPart(text),)), (path[-1].id,) if path else ()))
    return tuple(path)


def found(*sides: tuple[str, ...]) -> tuple[Conflict, ...]:
    return possible_conflicts([ComparedSide(f"side {at}", said(*texts)) for at, texts in enumerate(sides)])


@pytest.mark.parametrize(("one", "other"), FOUND)
def test_the_same_words_but_for_a_value_or_a_denial_are_possibly_a_conflict(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        (conflict,) = found((first,), (second,))
        assert conflict.possible
        assert [words.text in text for words, text in zip(conflict.says, (first, second), strict=True)]
        assert [words.side for words in conflict.says] == ["side 0", "side 1"]


@pytest.mark.parametrize(("one", "other"), [*LEFT_ALONE, *MISSED])
def test_what_only_looks_alike_is_left_alone_and_so_is_what_rules_cannot_tell(one: str, other: str) -> None:
    assert found((one,), (other,)) == found((other,), (one,)) == ()


@pytest.mark.parametrize(
    "code", ["```sql\nLIMIT 20;\n```", "LIMIT 20;", "`LIMIT 20`", "limit = 20", "limit: 20", "limit(20)."]
)
@pytest.mark.parametrize("prose", ["The limit is 50.", "Limit 50.", "In this order:"])
def test_code_is_never_set_against_prose(code: str, prose: str) -> None:
    assert found((code,), (prose,)) == ()


def test_of_what_a_side_says_twice_the_last_counts() -> None:
    assert found(("The port is 8080.", "The port is 9090."), ("The port is 9090.",)) == ()
    assert found(("The port is 9090.", "The port is 8080."), ("The port is 9090.",)) != ()


def test_several_sides_are_one_conflict_in_which_each_has_its_words() -> None:
    (conflict,) = found(
        ("The port is 1.",),
        ("The port is 2.",),
        ("The host is up.",),
        ("Port 2 it is.", "The port is now 2."),
    )
    assert conflict.about == "port"
    assert [one.side for one in conflict.chosen(Choice("theirs", source="side 3")).rejected] == ["side 0"]
    assert [(one.side, one.text) for one in conflict.says] == [
        ("side 0", "The port is 1."),
        ("side 1", "The port is 2."),
        ("side 3", "The port is now 2."),
    ]


def test_a_sentence_and_its_clause_are_one_conflict() -> None:
    (conflict,) = found(("Decision: the port is 8080.",), ("Decision: the port is 9090.",))
    assert conflict.about == "port" and conflict.texts[0] == "Decision: the port is 8080."


def test_what_tools_print_is_no_statement() -> None:
    sides = [
        ComparedSide(name, said(text, role="tool")) for name, text in (("a", "It has 3."), ("b", "It has 4."))
    ]
    assert possible_conflicts(sides) == ()
