from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from bench.mergebench import conflicts
from bench.mergebench.case import LANGUAGES, Language, Split
from bench.mergebench.sources import DATA

KINDS = {
    "port", "name", "decision", "date", "owner", "list", "JSON", "code", "negation", "must/must not", "on/off",
    "number words", "synonyms", "units", "environments", "time", "hypothetical", "version", "money", "duration", "yes/no",
}  # fmt: skip
SPLITS: tuple[Split, ...] = ("development", "test")
LEAST: dict[Language, int] = {"en": 160, "de": 60, "fr": 60, "es": 60, "zh": 60}


def rows(language: Language) -> list[dict[str, Any]]:
    text = (DATA / f"conflicts-{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


EVERY = [(language, row) for language in LANGUAGES for row in rows(language)]


def test_there_are_enough_pairs_and_the_scorer_reads_every_line() -> None:
    read = Counter(
        pair.language
        for language in LANGUAGES
        for split in SPLITS
        for pair in conflicts.load(language, split)
    )
    assert read == Counter(language for language, _ in EVERY)
    assert all(read[language] >= least for language, least in LEAST.items()) and len(EVERY) >= 420


def test_ids_are_unique_and_name_language_and_kind() -> None:
    assert len({row["id"] for _, row in EVERY}) == len(EVERY)
    for language, row in EVERY:
        kind = row["kind"].lower().replace("/", "-").replace(" ", "-")
        assert row["id"].rsplit("-", 1)[0] == f"{language}-{kind}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_has_contradicting_and_harmless_pairs(language: Language) -> None:
    found = {(row["kind"], row["contradicts"]) for row in rows(language)}
    assert found == {(kind, verdict) for kind in KINDS for verdict in (True, False)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_halves_are_about_equal(language: Language) -> None:
    every = rows(language)
    for split in SPLITS:
        half = [row["contradicts"] for row in every if row["split"] == split]
        assert 0.44 <= len(half) / len(every) <= 0.56
        assert 0.5 <= sum(half) / len(half) <= 0.65


def test_no_scenario_is_in_both_halves_in_whatever_language() -> None:
    halves = [{row["scenario"] for _, row in EVERY if row["split"] == split} for split in SPLITS]
    assert all(halves) and not halves[0] & halves[1]


def test_in_english_each_half_has_both_verdicts_of_every_kind() -> None:
    found = Counter((row["split"], row["kind"], row["contradicts"]) for row in rows("en"))
    assert len(found) == 4 * len(KINDS)


def test_a_template_bears_at_most_a_third_of_its_kind() -> None:
    kinds = Counter(row["kind"] for _, row in EVERY)
    for (kind, template), count in Counter((row["kind"], row.get("template")) for _, row in EVERY).items():
        assert template is None or 3 * count <= kinds[kind], (kind, template)


def test_each_side_has_two_to_eight_turns_that_say_something() -> None:
    for _, row in EVERY:
        for turns in (row["main"], row["side"]):
            assert 2 <= len(turns) <= 8, row["id"]
            assert all(turn[1].strip() for turn in turns), row["id"]
            assert any(turn[0] == "user" for turn in turns), row["id"]
        assert not {turn[1] for turn in row["main"] if len(turn[1]) > 20} & {turn[1] for turn in row["side"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_length_of_the_branch_does_not_give_the_verdict_away(language: Language) -> None:
    """The chance that a contradicting branch is longer than a harmless one; .5 tells nothing."""
    length = [(row["contradicts"], sum(len(turn[1]) for turn in row["side"])) for row in rows(language)]
    pairs = [
        (ours, other) for verdict, ours in length if verdict for harmless, other in length if not harmless
    ]
    assert 0.33 <= sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs) <= 0.67
