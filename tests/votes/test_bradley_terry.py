"""Strengths out of wins: what must hold whatever people voted, and the same fixed point as the MM algorithm."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.votes.bradley_terry import CENTRE, SCALE, Contest, Estimate, estimates

ITEMS = 4
Ballots = list[list[Contest]]


@st.composite
def contests(draw: st.DrawFn) -> Contest:
    one, other = draw(st.permutations(range(ITEMS)))[:2]
    return Contest(one, other, draw(st.sampled_from([0.0, 0.5, 1.0])))


ballots = st.lists(st.lists(contests(), min_size=1, max_size=3), max_size=40)


def ratings(votes: Ballots, items: int = ITEMS, *, resamplings: int = 1) -> list[float]:
    return [one.rating for one in estimates(votes, items, resamplings=resamplings)]


def by_mm(votes: Ballots) -> list[float]:
    """Hunter's MM algorithm with the pseudo games against a reference of strength 1, step by step."""
    strengths = [1.0] * ITEMS
    for _ in range(20_000):
        before = list(strengths)
        for item in range(ITEMS):
            won, expected = 2.0, 4 / (strengths[item] + 1)
            for contest in (one for ballot in votes for one in ballot):
                if item in (contest.one, contest.other):
                    won += contest.share if contest.one == item else 1 - contest.share
                    expected += 1 / (strengths[contest.one] + strengths[contest.other])
            strengths[item] = won / expected
        if all(math.isclose(a, b, rel_tol=1e-10) for a, b in zip(before, strengths, strict=True)):
            break
    return [CENTRE + SCALE * math.log(one) for one in strengths]


@settings(max_examples=15, deadline=None)
@given(ballots)
def test_it_is_the_fixed_point_of_the_mm_algorithm(votes: Ballots) -> None:
    assert ratings(votes) == pytest.approx(by_mm(votes), abs=0.05)


@settings(deadline=None)
@given(ballots, st.permutations(range(ITEMS)))
def test_renaming_the_items_renames_the_ratings(votes: Ballots, names: list[int]) -> None:
    renamed = [[Contest(names[c.one], names[c.other], c.share) for c in ballot] for ballot in votes]
    plain, other = ratings(votes), ratings(renamed)
    assert [other[names[item]] for item in range(ITEMS)] == pytest.approx(plain, abs=1e-3)


@settings(deadline=None)
@given(ballots)
def test_if_every_result_is_turned_round_every_rating_is_mirrored(votes: Ballots) -> None:
    turned = [[Contest(c.one, c.other, 1 - c.share) for c in ballot] for ballot in votes]
    mirrored = [2 * CENTRE - one for one in ratings(votes)]
    assert ratings(turned) == pytest.approx(mirrored, abs=1e-3)


@settings(deadline=None)
@given(ballots, st.randoms())
def test_neither_the_order_of_votes_nor_who_is_named_first_matters(votes: Ballots, random: object) -> None:
    other = [[Contest(c.other, c.one, 1 - c.share) for c in ballot] for ballot in reversed(votes)]
    assert ratings(other) == pytest.approx(ratings(votes), abs=1e-3)


@settings(deadline=None)
@given(ballots)
def test_one_more_win_never_costs_the_winner_anything(votes: Ballots) -> None:
    more = [*votes, [Contest(0, 1, 1.0)]]
    before, after = ratings(votes), ratings(more)
    assert after[0] > before[0] and after[1] < before[1]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)), max_size=30))
def test_nothing_but_ties_leaves_everybody_at_the_centre(met: list[tuple[int, int]]) -> None:
    ties = [[Contest(a, b, 0.5)] for a, b in met if a != b]
    assert ratings(ties) == pytest.approx([CENTRE] * ITEMS, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(ballots)
def test_an_interval_holds_its_rating_and_is_finite(votes: Ballots) -> None:
    for one in estimates(votes, ITEMS, resamplings=50):
        assert one.lower <= one.rating <= one.upper
        assert all(math.isfinite(value) for value in (one.lower, one.rating, one.upper))


def width(one: Estimate) -> float:
    return one.upper - one.lower


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    votes = [[Contest(0, 1, 1.0)]] * 6 + [[Contest(0, 1, 0.0)]] * 3
    assert estimates(votes, 2, seed=7) == estimates(votes, 2, seed=7)
    assert estimates(votes, 2, seed=7) != estimates(votes, 2, seed=8)


def test_without_a_vote_an_interval_is_wide_and_one_vote_says_little() -> None:
    (nothing,) = estimates([], 1)
    assert width(nothing) > 600
    first, second = estimates([[Contest(0, 1, 1.0)]], 2)
    assert width(first) > 400 and width(second) > 400
    assert second.upper > first.lower


@pytest.mark.parametrize(("of", "sure"), [(1, False), (2, False), (3, False), (8, True), (20, True)])
def test_a_difference_is_beyond_doubt_after_several_unanimous_votes(of: int, sure: bool) -> None:
    better, worse = estimates([[Contest(0, 1, 1.0)]] * of, 2)
    assert (better.lower > worse.upper) is sure


def test_many_votes_make_it_narrow_and_right() -> None:
    # 3 : 1 is a difference of 191 points by the model.
    votes = [[Contest(0, 1, 1.0)]] * 750 + [[Contest(0, 1, 0.0)]] * 250
    few = estimates(votes[745:755], 2)
    many = estimates(votes, 2)
    assert many[0].rating - many[1].rating == pytest.approx(191, abs=5)
    assert width(many[0]) < width(few[0]) / 2


def test_groups_that_never_met_are_rated_without_running_away() -> None:
    votes = [[Contest(0, 1, 1.0)]] * 400 + [[Contest(2, 3, 1.0)]] * 400
    found = estimates(votes, 4)
    assert found[0].rating == pytest.approx(found[2].rating, abs=1)
    assert found[0].upper > found[2].lower and found[2].upper > found[0].lower


def test_nobody_to_rate_is_no_error() -> None:
    assert estimates([], 0) == ()
