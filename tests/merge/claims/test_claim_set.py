"""The laws of merging claims: what two people who merge in any order, twice, or the other way round may rely on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from forky_core.merge.claims.claim_set import Claim, ClaimSet, ClaimType, Correction, Polarity, StoredClaims
from forky_core.model import MessageId
from forky_core.model.hashing import message_id
from forky_core.model.parts import MergePart, part_from_stored

TYPES: list[ClaimType] = ["decision", "fact", "open_question"]
POLARITIES: list[Polarity] = ["affirmed", "affirmed", "negated"]
KEYS = ["", "port", "Port ", "name of the tool", "database"]
MESSAGES = [MessageId(f"b2:{n:032x}") for n in range(4)]


CASES = 30
"""Of each drawn seed: the laws below are each checked on 3,000 triples of branches."""

seeds = st.integers(0, 2**32)


def history(chance: random.Random) -> list[Claim]:
    """Claims as they come about: a later one may supersede earlier ones."""
    made: list[Claim] = []
    for _ in range(chance.randrange(9)):
        earlier = chance.sample(made, min(len(made), chance.randrange(4)))
        made.append(
            Claim(
                chance.choice(TYPES),
                chance.choice(["It is 8080.", "It is 9090.", "It is “forky”."]),
                (chance.choice(MESSAGES),),
                chance.choice(KEYS),
                chance.choice(["", "8080", "9090"]),
                chance.choice(POLARITIES),
                supersedes=tuple(claim.id for claim in earlier),
            )
        )
    return made


def triples(seed: int) -> Iterator[tuple[ClaimSet, ClaimSet, ClaimSet]]:
    """Three branches of one history, each of which has heard a part of it."""
    chance = random.Random(seed)
    for _ in range(CASES):
        said = history(chance)
        heard = [ClaimSet.of(chance.sample(said, chance.randrange(len(said) + 1))) for _ in range(3)]
        yield heard[0], heard[1], heard[2]


@given(seeds)
def test_merging_is_commutative_and_swapping_the_sides_finds_the_same_conflicts(seed: int) -> None:
    for a, b, _ in triples(seed):
        here, there = a.join(b), b.join(a)
        assert here == there
        assert here.conflicts == there.conflicts
        assert [one.hash for one in here.conflicts] == [one.hash for one in there.conflicts]


@given(seeds)
def test_merging_is_associative(seed: int) -> None:
    for a, b, c in triples(seed):
        assert a.join(b).join(c) == a.join(b.join(c))


@given(seeds)
def test_merging_again_changes_nothing(seed: int) -> None:
    for a, b, _ in triples(seed):
        assert a.join(a) == a
        assert a.join(b).join(b) == a.join(b)


@given(seeds)
def test_merging_a_branch_that_only_continued_is_a_fast_forward(seed: int) -> None:
    for base, more, _ in triples(seed):
        ahead = base.join(more)
        assert base.join(ahead) == ahead == ahead.join(base)


@given(seeds)
def test_a_claim_that_supersedes_a_conflict_ends_it_in_every_later_merge(seed: int) -> None:
    for a, b, _ in triples(seed):
        merged = a.join(b)
        for conflict in merged.conflicts:
            over = tuple(claim.id for claim in conflict.claims)
            word = Claim("decision", "Settled.", (MESSAGES[0],), conflict.key, "settled", supersedes=over)
            settled = merged.join(ClaimSet.of([word]))
            for later in (settled, settled.join(a), settled.join(b), b.join(a).join(settled)):
                assert not set(conflict.claims) & later.claims


@given(seeds)
def test_no_live_claim_is_superseded_and_none_is_invented(seed: int) -> None:
    for a, b, _ in triples(seed):
        merged = a.join(b)
        assert merged.claims <= a.claims | b.claims
        assert not {claim.id for claim in merged.claims} & merged.superseded_ids
        assert a.join(merged.without(a)) == merged


@given(seeds)
def test_a_set_frozen_into_a_payload_is_read_back_whole(seed: int) -> None:
    for a, _, _ in triples(seed):
        frozen = StoredClaims(a, (Correction(MESSAGES[0], "Port 1.", "Port 2.", MESSAGES[1]),))
        assert StoredClaims.from_json(frozen.to_json()) == frozen
        part = MergePart("three-way", "debug", (), "text", claims=frozen.to_json())
        assert part_from_stored(part.stored()) == part


def claim(value: str, key: str = "port", **more: str) -> Claim:
    made = Claim("decision", f"The {key} is {value}.", (MESSAGES[0],), key, value)
    return replace(made, **more)  # type: ignore[arg-type]


def test_two_values_for_one_key_are_a_conflict_and_the_same_value_twice_is_agreement() -> None:
    one, same, other = claim("8080"), claim("8080", text="Port 8080 it is."), claim("9090", key="PORT")
    assert ClaimSet.of([one, same]).conflicts == ()
    (conflict,) = ClaimSet.of([one, same, other]).conflicts
    assert [value.says for value in conflict.values] == ["8080", "9090"]
    assert len(conflict.values[0].claims) == 2


def test_a_value_affirmed_and_denied_is_a_conflict_and_the_denial_of_another_is_none() -> None:
    yes, no, other = claim("8080"), claim("8080", polarity="negated"), claim("9090", polarity="negated")
    assert len(ClaimSet.of([yes, no]).conflicts) == 1
    assert ClaimSet.of([yes, other]).conflicts == ()


def test_questions_and_failed_attempts_contradict_nothing() -> None:
    asked, tried = claim("?", type="open_question"), claim("9090", type="failed_attempt")
    assert ClaimSet.of([claim("8080"), asked, tried]).conflicts == ()


def test_claims_without_a_key_compete_with_nothing() -> None:
    assert ClaimSet.of([claim("a", key=""), claim("b", key="")]).conflicts == ()


def test_the_hash_of_a_conflict_does_not_depend_on_who_said_what() -> None:
    here = ClaimSet.of([claim("8080"), claim("9090", text="Nine.")])
    there = ClaimSet.of([claim("9090"), claim("8080", key="Port", text="Eight.")])
    assert here.conflicts[0].hash == there.conflicts[0].hash


def test_a_payload_without_claims_hashes_as_before_there_were_any() -> None:
    part = MergePart("squash", "debug", ("b2:1",), "text", (), "")
    assert "claims" not in part.stored()
    with_claims = replace(part, claims=StoredClaims(ClaimSet.of([claim("8080")])).to_json())
    assert message_id((), "user", (part,)) != message_id((), "user", (with_claims,))


def test_claims_that_are_none_are_read_as_none() -> None:
    for text in (
        "",
        "[]",
        "null",
        '{"claims": 5}',
        '{"claims": [{"type": "rumour", "text": "x", "cites": []}]}',
    ):
        assert not StoredClaims.from_json(text)
