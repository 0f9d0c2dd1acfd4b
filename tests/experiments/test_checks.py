from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.experiments.checks import json_checks, text_checks
from forky_core.experiments.checks.likeness import _distance, likeness
from forky_core.experiments.checks.registry import KINDS, judged, title
from forky_core.experiments.checks.verdict import AnswerFacts
from forky_core.experiments.intervals import Draws, wilson
from forky_core.experiments.templates import commands_in, missing, rendered
from forky_core.model import Generation, GenerationId, Usage
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json

PERSON = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "pattern": "^A"}}}


@pytest.mark.parametrize(
    ("kind", "value", "answer", "passed"),
    [
        ("contains", "Paris", "It is Paris.", True),
        ("contains", "paris", "It is Paris.", False),
        ("contains", "{{city}}", "It is Rome.", True),
        ("icontains", "PARIS", "It is Paris.", True),
        ("contains-all", ["a", "b"], "a and b", True),
        ("contains-all", ["a", "z"], "a and b", False),
        ("contains-any", ["a", "z"], "a and b", True),
        ("icontains-any", ["x", "Z"], "a and b", False),
        ("equals", "Yes", " Yes\n", True),
        ("equals", "Yes", "yes", False),
        ("iequals", "Yes", "yes", True),
        ("equals", {"a": [1]}, '{"a": [1]}', True),
        ("equals", {"a": [1]}, "no", False),
        ("equals", "", "Rome", True),
        ("starts-with", "It", "  It is", True),
        ("regex", r"\d{4}", "in 1999", True),
        ("regex", r"^\d", "in 1999", False),
        ("is-json", "", '{"a": 1}', True),
        ("is-json", "", "{", False),
        ("is-json", PERSON, '{"name": "Ada"}', True),
        ("is-json", PERSON, '{"name": "Bob"}', False),
        ("is-json", PERSON, "{}", False),
        ("contains-json", PERSON, 'Here: {"x": 1} and {"name": "Ada"}!', True),
        ("contains-json", "", "none here", False),
        ("similar", "the cat sat", "The cat sat down", True),
        ("similar", "", "Rome", True),
        ("similar", "東京は首都です", "首都は東京です", True),
        ("rouge-n", "one two", "two, one, three", True),
        ("levenshtein", "kitten", "sitting", True),
        ("levenshtein", "kitten", "a whole sentence", False),
        ("length", {"max": 3, "unit": "words"}, "one two three", True),
        ("length", {"min": 4, "unit": "words"}, "one two three", False),
        ("length", 5, "123456", False),
        ("word-count", 3, "one two three", True),
    ],
)
def test_each_kind_says_whether_the_answer_passes(kind: str, value: Json, answer: str, passed: bool) -> None:
    facts = AnswerFacts(answer, "Rome", {"city": "Rome"})
    verdict = judged(RowCheck(kind, value), facts)
    assert verdict.passed is passed and verdict.reason
    assert judged(RowCheck(kind, value, negated=True), facts).passed is not passed


SLOW = r"(a|aa)+$"
LONG = "a" * 200 + "!b"


@pytest.mark.parametrize(
    ("check", "answer", "says"),
    [
        (RowCheck("regex", "("), "", "no regular expression"),
        (RowCheck("regex", SLOW), LONG, "takes too long"),
        (RowCheck("is-json", {"type": 7}), "1", "no JSON schema"),
        (RowCheck("is-json", '{"$ref": "https://example.com/schema.json"}'), "1", "Nothing is fetched"),
        (RowCheck("is-json", {"pattern": SLOW}), f'"{LONG}"', "takes too long"),
        (RowCheck("is-json", {"patternProperties": {SLOW: True}}), f'{{"{LONG}": 1}}', "takes too long"),
        (RowCheck("is-json", "{"), "1", "The schema is no JSON"),
        (RowCheck("contains", ""), "", "nothing to look for"),
        (RowCheck("similar", ""), "", "nothing to compare with"),
        (RowCheck("levenshtein", "x" * 5_000), "", "Edits are counted"),
        (RowCheck("length"), "", "needs a bound"),
        (RowCheck("length", {"max": 1, "unit": "parsecs"}), "", "parsecs"),
        (RowCheck("latency"), "", "no bound"),
        (RowCheck("javascript", "true"), "", "not checked here"),
    ],
)
def test_what_is_wrong_with_a_check_is_said_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, check: RowCheck, answer: str, says: str
) -> None:
    monkeypatch.setattr(text_checks, "LONGEST_SEARCH", 0.05)
    monkeypatch.setattr(json_checks, "LONGEST_SEARCH", 0.05)
    verdict = judged(check, AnswerFacts(answer))
    assert verdict.passed is None and says in verdict.reason


def test_seconds_and_dollars() -> None:
    call = Generation(
        GenerationId("1"), "b", None, "m", "done", usage=Usage(cost=0.02), started=0, finished=1_500_000
    )
    facts = AnswerFacts("x", call=call)
    assert judged(RowCheck("latency", threshold=2000), facts).passed
    assert not judged(RowCheck("latency", threshold=1000), facts).passed
    assert judged(RowCheck("cost", threshold=0.02), facts).passed
    assert judged(RowCheck("cost", threshold=0.02), AnswerFacts("x")).passed is None


@pytest.mark.parametrize("kind", KINDS)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9), st.lists, max_leaves=4
    ),
    answer=st.text(),
)
def test_no_value_and_no_answer_is_an_error(kind: str, value: Json, answer: str) -> None:
    check = RowCheck(kind, value)
    assert title(check)
    judged(check, AnswerFacts(answer, answer[:3]))


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= 1 and likeness(one, other) == likeness(other, one)
    assert likeness(one, one) == 1
    assert _distance(one, other) == _distance(other, one) <= max(len(one), len(other))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=40), st.integers(0, 5))
def test_an_interval_holds_its_value_and_is_the_same_each_time(values: list[float | None], seed: int) -> None:
    one, other = Draws(len(values), seed).mean(values), Draws(len(values), seed).mean(values)
    assert one == other
    if one is not None:
        assert 0 <= one.low <= one.value <= one.high <= 1


def test_a_bootstrap_agrees_with_the_textbook() -> None:
    values = [1.0] * 70 + [0.0] * 30
    found = Draws(100, 3).mean(values)
    error = 1.96 * math.sqrt(0.7 * 0.3 / 100)
    assert found is not None
    assert found.low == pytest.approx(0.7 - error, abs=0.025) and found.high == pytest.approx(
        0.7 + error, abs=0.025
    )


def test_all_of_few_rows_is_not_certain() -> None:
    found = Draws(5).mean([1.0] * 5)
    assert found is not None and (found.value, found.high) == (1.0, 1.0)
    assert found.low == wilson(1.0, 5).low < 0.6


def test_columns_are_compared_on_the_same_rows() -> None:
    """Both pass half; one passes exactly where the other does, so that nothing tells them apart but one row."""
    one = [1.0, 0.0] * 50
    other = [*one[:-1], 1.0]
    difference = Draws(100).difference(other, one)
    assert difference is not None and difference.value == pytest.approx(0.01) and difference.high < 0.05


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.text(max_size=20), max_size=4), st.text()
)
def test_what_is_put_in_is_never_read_again(values: dict[str, str], text: str) -> None:
    template = "".join(f"{{{{ {name} }}}}|" for name in values)
    assert rendered(template, values) == "".join(f"{value}|" for value in values.values())
    assert rendered("{{x}}", {"x": text}) == text


def test_variables_have_parts_and_missing_ones_stay() -> None:
    values: dict[str, Json] = {"a": {"b": ["x", "y"]}, "n": 3, "none": None}
    assert rendered("{{a.b.1}} {{ n }} {{none}}{{gone}}", values) == "y 3 {{gone}}"
    assert missing(["{{gone}} {{n}}", "{{a.c}}"], values) == ("gone", "a.c")
    assert commands_in("{% if x %}y{% endif %}") == ("{% if x %}", "{% endif %}")


def test_rows_that_all_say_the_same_are_not_certain() -> None:
    found = Draws(2).mean([0.5, 0.5])
    assert found is not None and found.low < 0.2 and found.high > 0.8


@pytest.mark.parametrize("rows", range(1, 6))
def test_fewer_than_six_rows_tell_no_two_columns_apart(rows: int) -> None:
    found = Draws(rows).difference([1.0] * rows, [0.0] * rows)
    assert found is not None and (found.low, found.value) == (0.0, 1.0)
    found = Draws(rows).difference([0.0] * rows, [1.0] * rows)
    assert found is not None and (found.value, found.high) == (-1.0, 0.0)


def test_six_rows_that_agree_tell_two_columns_apart() -> None:
    found = Draws(6).difference([1.0] * 6, [0.0] * 6)
    assert found is not None and found.low > 0
    mixed = Draws(12).difference([1.0] * 6 + [0.0] * 6, [0.0] * 6 + [1.0, 1.0, *[0.0] * 4])
    assert mixed is not None and mixed.low <= 0


def test_equal_columns_are_seldom_told_apart() -> None:
    chance = random.Random(1)
    for rows in (1, 2, 4, 6, 10, 20):
        draws, wrong = Draws(rows), 0
        for _ in range(200):
            one, other = ([float(chance.random() < 0.5) for _ in range(rows)] for _ in range(2))
            found = draws.difference(one, other)
            assert found is not None
            wrong += found.low > 0 or found.high < 0
        assert wrong <= 14


@pytest.mark.parametrize("kind", ["starts-with", "regex"])
def test_a_check_for_nothing_gives_no_verdict(kind: str) -> None:
    verdict = judged(RowCheck(kind, ""), AnswerFacts("Anything."))
    assert verdict.passed is None and "nothing to look for" in verdict.reason


@pytest.mark.parametrize("kind", ["similar", "levenshtein", "rouge-n"])
def test_a_text_of_digits_is_a_reference(kind: str) -> None:
    assert judged(RowCheck(kind, "1984"), AnswerFacts("1984")).passed is True


def test_a_schema_s_patterns_end_also_beside_additional_properties() -> None:
    schema: Json = {"patternProperties": {"^(a|aa)+$": {}}, "additionalProperties": False}
    assert judged(RowCheck("is-json", schema), AnswerFacts('{"aaa": 1}')).passed is True
    found = judged(RowCheck("is-json", schema), AnswerFacts('{"b": 1}'))
    assert found.passed is False and "may not be there" in found.reason
    schema = {"patternProperties": {r"^(\\w+\\s?)*$": {}}, "additionalProperties": {"type": "string"}}
    assert judged(RowCheck("is-json", schema), AnswerFacts('{"!": 1}')).passed is False
    hostile = '{"' + "a" * 60 + '!": 1}'
    schema = {"additionalProperties": False, "patternProperties": {"^(a|a|aa)+$": {}}}
    assert judged(RowCheck("is-json", schema), AnswerFacts(hostile)).passed is not True
    found = judged(RowCheck("is-json", {**schema, "unevaluatedProperties": False}), AnswerFacts(hostile))
    assert found.passed is None and "not checked here" in found.reason


def test_many_items_are_compared_at_once() -> None:
    many = ", ".join(f'{{"number": {number}}}' for number in range(20_000))
    check = RowCheck("is-json", {"uniqueItems": True})
    assert judged(check, AnswerFacts(f"[{many}]")).passed is True
    for twice in ("[1, 1.0]", '[{"a": [1]}, {"a": [1.0]}]', f'[{many}, {{"number": 7}}]'):
        assert judged(check, AnswerFacts(twice)).passed is False
    assert judged(check, AnswerFacts('[1, true, "1", [1]]')).passed is True


def test_a_number_that_is_too_large_for_a_schema_gives_no_verdict() -> None:
    found = judged(RowCheck("is-json", {"multipleOf": 0.5}), AnswerFacts("1" + "0" * 400))
    assert found.passed is None
