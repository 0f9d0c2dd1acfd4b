"""Values of one size are equal however they are written, and values of another size are not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.merge.claims.quantities import quantities
from forky_core.merge.claims.quantity import Quantity

SAME = (
    ("60 seconds", "one minute"),
    ("90 minutes", "an hour and a half"),
    ("90 Minuten", "anderthalb Stunden"),
    ("250,000 euros", "a quarter of a million euros"),
    ("1.500.000", "un million et demi"),
    ("twenty-five cents", "0.25 €"),
    ("8 GiB", "8192 MiB"),
    ("1,5 kg", "1500 g"),
    ("60 litres a minute", "3.6 cubic metres per hour"),
    ("1 April 2026", "01/04/2026"),
    ("le premier avril", "2026-04-01"),
    ("14th of May", "May 14"),
    ("3 de noviembre", "3. November"),
    ("5月3日", "3 May"),
    ("五月三日", "3 May"),
    ("in May", "on 3 May"),
    ("en mars", "im März"),
    ("Q3", "the third quarter"),
    ("下午三点半", "15:30"),
    ("$4,000", "4k USD"),
    ("八万元", "80000元"),
    ("两个小时", "120分钟"),
    ("weekly", "once a week"),
    ("at 10.15", "10:15"),
    ("7 pm", "19 Uhr"),
    ("v3.2", "version 3.2.1"),
    ("achthundert", "800"),
    ("quatre-vingt-douze", "92"),
    ("treinta y cinco", "35"),
    ("75 °F", "23.888888889 °C"),
)
DIFFERENT = (
    ("30 days", "six weeks"),
    ("port 8080", "port 9090"),
    ("9 euros", "11 euros"),
    ("3 May", "13 May"),
    ("version 3", "version 4"),
    ("2 %", "2.4 %"),
    ("daily", "weekly"),
    ("4 °C", "7 °C"),
    ("三天", "四天"),
)


def only(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_a_value_are_one(one: str, other: str) -> None:
    assert only(one).comparable(only(other))
    assert only(one).same(only(other)) and only(other).same(only(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_values_are_two(one: str, other: str) -> None:
    assert only(one).comparable(only(other))
    assert not only(one).same(only(other))


def test_a_limit_holds_what_keeps_it() -> None:
    assert only("`>=0.27`").same(only("`==0.28.1`"))
    assert not only("`>=0.27`").same(only("`==0.26.1`"))
    assert not only("at least 5 days").same(only("at least 7 days"))


def test_a_noun_tells_what_is_counted() -> None:
    assert [one.noun for one in quantities("two residents in room 12")] == ["reside", "room"]


@pytest.mark.parametrize("text", ["a dog", "item_12", "abc123", "一", "since 2014", "the year", ""])
def test_what_counts_nothing_is_no_value(text: str) -> None:
    assert quantities(text) == ()


@given(st.text(max_size=80))
def test_values_stand_where_they_say_and_apart(text: str) -> None:
    found = quantities(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert all(one.same(one) for one in found)


@given(st.integers(13, 10**6))
def test_a_number_is_equal_to_itself_with_signs_for_thousands(number: int) -> None:
    plain, english, german = (
        only(form) for form in (f"{number}", f"{number:,}", f"{number:,}".replace(",", "."))
    )
    assert plain.same(english) and plain.same(german)


def test_a_second_of_a_kind_is_no_time() -> None:
    assert quantities("It needs a second machine, though.") == ()
    assert [one.dimension for one in quantities("Wait a second, then try again.")] == ["time"]
