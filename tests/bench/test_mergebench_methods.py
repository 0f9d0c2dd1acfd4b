from __future__ import annotations

import json
from itertools import pairwise

import pytest

from bench.mergebench import lexrank, ours, rarity
from bench.mergebench.case import Case, Turn, folded, lines_of, turns_of
from bench.mergebench.methods import METHODS, OURS, SIMPLE, NoSuchMethod, available, language_of, named
from forky_core.llm.tokens import estimate_tokens
from forky_core.model.parts import ToolCallPart, ToolResultPart

TRUNK = (Turn("user", "We plan the trip to Oslo."), Turn("assistant", "What is left to settle?"))
SIDE = (
    Turn("user", "Which ferry shall we take? The night ferry sounds nice."),
    Turn("assistant", "The night ferry leaves Kiel at 14:00 and costs 189 euros.\nIt arrives at ten in the morning."),
    Turn("tool", "14:00 departure, 10:00 arrival", "timetable", json.dumps({"from": "Kiel", "to": "Oslo"})),
    Turn("user", "Fine. And the hotel?"),
    Turn("assistant", "The Grand is full. The Perminalen has two rooms left for 1,450 kroner a night, breakfast included."),
    Turn("user", "Book the Perminalen, two nights."),
    Turn("assistant", "Done: the Perminalen is booked for two nights under the name of Lind."),
)  # fmt: skip
CASE = Case("trip", "trip", "en", "development", TRUNK, SIDE)


def runs_here() -> list[str]:
    return [name for name in available()[0] if name != "full text"]


@pytest.mark.parametrize("share", [0.1, 0.2, 0.6])
def test_no_method_but_the_full_text_takes_more_than_its_budget(share: float) -> None:
    budget = CASE.budget(share, least=40)
    for name in runs_here():
        assert estimate_tokens(METHODS[name](TRUNK, SIDE, budget)) <= budget, name


def test_every_method_writes_the_same_twice() -> None:
    for name in runs_here():
        assert METHODS[name](TRUNK, SIDE, 60) == METHODS[name](TRUNK, SIDE, 60), name


def test_the_simple_methods_say_nothing_that_does_not_stand_in_the_side() -> None:
    lines = set(lines_of(SIDE))
    for name in set(SIMPLE) & set(runs_here()):
        assert set(METHODS[name](TRUNK, SIDE, 60).splitlines()) <= lines, name


def test_the_last_answer_is_the_end_of_what_the_assistant_said_in_its_order() -> None:
    assert METHODS["last answer"](TRUNK, SIDE, 40).splitlines() == [
        "The Perminalen has two rooms left for 1,450 kroner a night, breakfast included.",
        "Done: the Perminalen is booked for two nights under the name of Lind.",
    ]


def test_random_lines_differ_from_side_to_side() -> None:
    lines = [Turn("assistant", f"Statement number {at}.") for at in range(30)]
    first = METHODS["random lines"]((), lines, 60).splitlines()
    assert first != [turn.text for turn in lines][: len(first)]
    assert first != METHODS["random lines"]((), lines[1:], 60).splitlines()


def test_lexrank_ranks_as_sumy_does() -> None:
    # What sumy 0.13 makes of these lines, with the same terms.
    lines = (
        "Bring bread.",
        "The hotel has a garden.",
        "We could take the night ferry to Oslo.",
        "The ferry to Oslo leaves at eight.",
        "My sister likes the garden of the hotel in Oslo.",
        "The hotel in Oslo is full, so the ferry waits.",
        "Nobody knows.",
    )
    assert [lines.index(line) for line in lexrank.ranked(lines)] == [5, 0, 6, 1, 2, 3, 4]


def test_rarity_takes_a_rare_word_before_common_ones_and_no_word_twice() -> None:
    pytest.importorskip("wordfreq")
    lines = ["We all went home together after that.", "The Perminalen.", "Perminalen, the Perminalen!"]
    assert rarity.covering(lines, 5, "en") == ["The Perminalen."]
    assert rarity.covering(lines, 100, "en") == lines[:2]


def test_a_charge_leaves_room_for_fewer_lines() -> None:
    pytest.importorskip("wordfreq")
    lines = [f"Perminalen{at} kroner{at}." for at in range(20)]
    assert len(rarity.covering(lines, 40, "en", charge=10)) < len(rarity.covering(lines, 40, "en"))


def test_ours_pays_for_its_header_and_its_citations() -> None:
    text = METHODS[OURS](TRUNK, SIDE, 80)
    assert text.startswith("[Merged ") and estimate_tokens(text) <= 80
    plain = ours.without_signs(text)
    assert "[Merged" not in plain and "Said:" not in plain and "[" not in plain
    assert "Said:" in ours.without_signs(text, headings=True)


def test_ours_is_given_all_of_the_side_also_a_question_without_an_answer() -> None:
    side = (*SIDE, Turn("user", "Cancel the Perminalen again; my aunt Ingrid has a room for us."))
    assert "my aunt Ingrid" in METHODS[OURS](TRUNK, side, 120)


def test_a_tools_turn_becomes_the_call_and_its_result() -> None:
    path = ours.messages(SIDE)
    call, result = path[2].parts[0], path[3].parts[0]
    assert isinstance(call, ToolCallPart) and json.loads(call.arguments) == {"from": "Kiel", "to": "Oslo"}
    assert isinstance(result, ToolResultPart) and result.tool_call_id == call.tool_call_id
    assert all(after.parents == (before.id,) for before, after in pairwise(path))


def test_a_models_squash_is_what_it_wrote_or_quoted_lines_where_that_is_refused() -> None:
    answer = "The Perminalen is booked for two nights."
    written = ours.write(lambda _asked: answer, "scripted", TRUNK, SIDE, 80)
    assert "The Perminalen is booked for two nights." in written
    refused = ours.write(lambda _asked: "Sure.", "scripted", TRUNK, SIDE, 80)
    assert refused == METHODS[OURS](TRUNK, SIDE, 80)


def test_a_branch_is_known_by_its_language() -> None:
    for language, text in {
        "en": "The deadline is on Friday and that was not clear to us.",
        "de": "Die Frist ist am Freitag und das war uns nicht klar.",
        "fr": "La date limite est vendredi et nous ne le savions pas.",
        "es": "La fecha límite es el viernes y no lo sabíamos.",
        "zh": "截止日期是星期五,我们不清楚。",
    }.items():
        assert language_of([Turn("user", text)]) == language


def test_a_method_of_another_project_is_found_by_its_name() -> None:
    assert named("bench.mergebench.methods:full")((), SIDE[:1], 1) == SIDE[0].text
    for wrong in (
        "bench.mergebench.methods:no_such",
        "no_such_module:merge",
        "bench",
        "bench.mergebench.methods:OURS",
    ):
        with pytest.raises(NoSuchMethod, match=wrong):
            named(wrong)


def test_rows_that_are_no_turns_are_refused() -> None:
    assert turns_of([["tool", "ok", "ls", "{}"]]) == (Turn("tool", "ok", "ls", "{}"),)
    for row in (["user"], ["system", "Be brief."], ["tool", "a", "b", "c", "d"]):
        with pytest.raises(ValueError, match="No turn"):
            turns_of([row])


def test_texts_are_compared_without_emphasis_bullets_and_citations() -> None:
    assert folded("- The **Port**  is `8080` [3f2a91]\n> snake_case _stays_ [3f2a91] [aa13ea]") == (
        "the port is 8080\nsnake_case stays"
    )
    assert folded("5. Mai, –5 °C") == "5. mai, –5 °c"


def test_long_lines_are_cut_into_sentences_and_short_ones_are_not() -> None:
    long = (
        "The night ferry leaves Kiel at two in the afternoon. It arrives at ten in the morning. Bring bread."
    )
    assert (
        lines_of([Turn("user", f"1. {long}")])[0] == "1. The night ferry leaves Kiel at two in the afternoon."
    )
    assert lines_of([Turn("user", f"Yes. No.\n---\n{long}")]) == [
        "Yes. No.",
        "The night ferry leaves Kiel at two in the afternoon.",
        "It arrives at ten in the morning.",
        "Bring bread.",
    ]
