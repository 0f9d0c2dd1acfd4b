"""A dictionary that several people fill: nobody pushes the others out."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from forky_core.gateway.fair_dict import FairDict


def test_whoever_has_most_loses_what_they_put_or_touched_longest_ago() -> None:
    kept: FairDict[str, int] = FairDict(4)
    assert kept.put("mine", 0, "ada") is None
    for number in range(3):
        kept.put(f"theirs {number}", number, "eve")
    kept.touch("theirs 0")
    assert kept.put("theirs 3", 3, "eve") == ("theirs 1", 1)
    assert kept.put("another", 9, "bob") == ("theirs 2", 2)
    assert sorted(kept) == ["another", "mine", "theirs 0", "theirs 3"]


def test_among_equals_the_oldest_goes() -> None:
    kept: FairDict[int, int] = FairDict(3)
    dropped = [kept.put(number, number, f"address {number}") for number in range(5)]
    assert dropped == [None, None, None, (0, 0), (1, 1)]


def test_a_value_that_is_put_again_takes_no_second_place() -> None:
    kept: FairDict[str, int] = FairDict(2)
    for number in range(5):
        assert kept.put("same", number, "ada") is None
    assert (kept.get("same"), len(kept), kept.pop("same"), kept.get("same")) == (4, 1, 4, None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.booleans()), max_size=200))
def test_it_is_never_too_full_and_only_who_has_most_loses(calls: list[tuple[int, int, bool]]) -> None:
    kept: FairDict[tuple[int, int], int] = FairDict(6)
    for owner, number, leaves in calls:
        if leaves:
            kept.pop((owner, number))
            continue
        before = Counter(key[0] for key in {*kept, (owner, number)})
        dropped = kept.put((owner, number), number, str(owner))
        assert len(kept) <= 6 and (owner, number) in set(kept) | ({dropped[0]} if dropped else set())
        if dropped is not None:
            assert before[dropped[0][0]] == max(before.values())
