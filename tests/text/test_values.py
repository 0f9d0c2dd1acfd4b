"""Values of one size are equal however they are written, and values of another size are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.values import Amount, amounts, ordinal

SAME = (
    ("60 seconds", "one minute"),
    ("250,000 euros", "250 thousand euros"),
    ("1.500.000", "1,500,000"),
    ("two hundred thousand", "200,000"),
    ("twenty-five cents", "0.25 €"),
    ("eighteen people", "18 people"),
    ("8 GiB", "8192 MiB"),
    ("1,5 kg", "1500 g"),
    ("$4,000", "4k USD"),
    ("八万元", "80000元"),
    ("两个小时", "120分钟"),
    ("achthundert", "800"),
    ("quatre-vingt-douze", "92"),
    ("treinta y cinco", "35"),
    ("75 °F", "23.888888889 °C"),
)
DIFFERENT = (
    ("30 days", "six weeks"),
    ("port 8080", "port 9090"),
    ("9 euros", "11 euros"),
    ("2 %", "2.4 %"),
    ("4 °C", "7 °C"),
    ("三天", "四天"),
    ("30 seconds", "30 minutes"),
)


def only(text: str) -> Amount:
    (found,) = amounts(text)
    return found


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_a_value_are_one(one: str, other: str) -> None:
    assert only(one).same(only(other)) and only(other).same(only(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_values_are_two(one: str, other: str) -> None:
    assert only(one).dimension == only(other).dimension
    assert not only(one).same(only(other))


@pytest.mark.parametrize("text", ["a dog", "item_12", "abc123", "一", "step 3", "test.py:772", "v3.2", ""])
def test_what_counts_nothing_is_no_value(text: str) -> None:
    assert amounts(text) == ()


@given(st.text(max_size=80))
def test_values_stand_where_they_say(text: str) -> None:
    found = amounts(text)
    assert all(0 <= one.start < one.end <= len(text) and one.same(one) for one in found)


@given(st.integers(13, 10**6))
def test_a_number_is_equal_to_itself_with_signs_for_thousands(number: int) -> None:
    plain, english, german = (
        only(form) for form in (f"{number}", f"{number:,}", f"{number:,}".replace(",", "."))
    )
    assert plain.same(english) and plain.same(german)


def test_a_second_of_a_kind_is_no_time() -> None:
    assert amounts("It needs a second machine, though.") == ()
    assert [one.dimension for one in amounts("Wait a second, then try again.")] == ["time"]


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("300 requests a minute", 60),
        ("60/min", 60),
        ("12 €/h", 3600),
        ("three failed sign-in attempts per hour", 3600),
        ("2 Sicherungen am Tag", 86_400),
        ("50 euros l'heure", 3600),
        ("5 peticiones al día", 86_400),
        ("300次/分钟", 60),
        ("50 km/h", 0),
        ("30 days", 0),
        ("3 tries, a minute", 0),
        ("3 a m", 0),
    ],
)
def test_a_number_that_is_counted_in_a_time_says_in_which(text: str, every: float) -> None:
    one = amounts(text)[0]
    assert one.every == every
    assert bool(text[slice(*one.rate)]) == bool(every)


def test_ordinals_in_words_are_numbers() -> None:
    assert [ordinal(word) for word in ("third", "dritten", "troisième", "tercero", "port")] == [
        3,
        3,
        3,
        3,
        None,
    ]
