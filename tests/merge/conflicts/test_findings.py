"""What a merge records of conflicts is read back, whichever version recorded it."""

from __future__ import annotations

import json

import pytest

from forky_core.merge.conflicts.conflict import Choice, Conflict, Quotation, choose, remembered, told_apart
from forky_core.merge.conflicts.findings import Correction, MergeFindings, settled_and_open, with_sides
from forky_core.model import MessageId
from forky_core.model.errors import BadContent
from forky_core.model.parts import MergePart

ONE, TWO, THREE = (MessageId(f"b2:{digit * 32}") for digit in "abc")
PORT = Conflict("port", (Quotation("main", ONE, "The port is 1."), Quotation("side", TWO, "The port is 2.")))


def merge(*conflicts: Conflict, claims: str = "", source: str = "side") -> MergePart:
    return MergePart("three-way", source, (), "", claims=claims or MergeFindings(conflicts).to_json())


def settled(conflict: Conflict, text: str) -> Conflict:
    return conflict.chosen(Choice("text", text))


def test_conflicts_corrections_and_sources_are_read_back_as_they_were() -> None:
    named = Conflict("host", PORT.says, "some/model")
    found = MergeFindings(
        (PORT, settled(named, "It is up.")), (Correction(ONE, "was", "is", TWO),), ((ONE,), ())
    )
    assert MergeFindings.from_json(found.to_json()) == found
    assert set(found.cites) == {ONE, TWO}


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"conflicts": 1}', '{"claims": [{"type": 1}]}'])
def test_anything_else_records_nothing(text: str) -> None:
    assert MergeFindings.from_json(text) == MergeFindings()


def test_a_payload_that_records_nothing_has_the_hash_that_it_always_had() -> None:
    assert MergeFindings().to_json() == MergeFindings(sources=((), ())).to_json() == ""


def test_an_open_conflict_stays_until_the_same_words_are_settled() -> None:
    assert settled_and_open([merge(PORT)]) == ((), (PORT,))
    over = settled(Conflict("which port", PORT.says[::-1]), "It is 2.")
    done, left = settled_and_open([merge(PORT), merge(over)])
    assert left == () and [one.result for one in done] == ["It is 2."]
    assert settled_and_open([merge(over), merge(PORT)])[1] == (PORT,)


def former(*claims: dict[str, object], gone: tuple[str, ...] = ()) -> str:
    return json.dumps({"claims": claims, **({"gone": list(gone)} if gone else {})}, sort_keys=True)


CLAIM_ONE: dict[str, object] = {
    "type": "fact", "text": "The port is 1.", "cites": [ONE], "key": "port", "value": "1", "quote": "The port is 1."
}  # fmt: skip
CLAIM_TWO: dict[str, object] = {
    "type": "decision", "text": "The port is 2.", "cites": [TWO], "key": "Port", "value": "2"
}  # fmt: skip


def test_claims_of_former_merges_are_the_conflicts_that_they_make() -> None:
    _, (conflict,) = settled_and_open([merge(claims=former(CLAIM_ONE, CLAIM_TWO))])
    assert set(conflict.texts) == {"The port is 1.", "The port is 2."} and set(conflict.cites) == {ONE, TWO}
    same = {**CLAIM_TWO, "value": "1"}
    question = {**CLAIM_TWO, "type": "open_question"}
    for other in (same, question):
        assert settled_and_open([merge(claims=former(CLAIM_ONE, other))])[1] == ()


def test_a_former_claim_settles_others_by_their_ids_and_a_choice_of_today_by_their_words() -> None:
    first = merge(claims=former(CLAIM_ONE, CLAIM_TWO))
    ids = [one.id for one in MergeFindings.from_json(first.claims).claims]
    result: dict[str, object] = {
        "type": "decision", "text": "It is 2.", "cites": [ONE, TWO], "key": "port", "supersedes": ids
    }  # fmt: skip
    done, left = settled_and_open([first, merge(claims=former(result))])
    assert left == () and [one.result for one in done] == ["It is 2."]
    assert settled_and_open([first, merge(settled(PORT, "It is 1."))])[1] == ()
    assert settled_and_open([first, merge(claims=former(gone=tuple(ids)))])[1] == ()


def test_a_stored_resolution_is_found_by_its_words_whatever_its_hash() -> None:
    entry = {"key": "port", "values": ["The port is 1.", "No, the port is 2."], "text": "It is 2."}
    for resolutions in ({PORT.hash: entry}, {"an old hash": entry}):
        known = remembered(PORT, resolutions)
        assert known.result == "It is 2." and known.choice is not None and known.choice.by == "remembered"
    other = {"key": "port", "values": ["The port is 1.", "The port is 3."], "text": "It is 3."}
    assert remembered(PORT, {"x": other, "y": "nothing", "z": {"values": 1}}) == PORT


def test_the_hash_of_a_conflict_depends_on_its_words_alone() -> None:
    assert Conflict("another name", PORT.says[::-1], "some/model").hash == PORT.hash
    assert Conflict("port", (PORT.says[0], Quotation("side", TWO, "The port is 3."))).hash != PORT.hash


def test_two_conflicts_of_one_subject_are_told_apart() -> None:
    other = Conflict("Port", (PORT.says[0], Quotation("side", THREE, "There is no port.")))
    first, second = told_apart((PORT, other))
    assert (first.about, second.about) == ("port", "Port (2)")
    assert choose((first, second), {"port (2)": Choice("both")})[1].choice == Choice("both")


def test_a_branch_that_carries_a_conflict_has_its_own_words_as_mine() -> None:
    carried = with_sides(PORT, "trunk", [ONE])
    assert [one.text for one in carried.mine] == ["The port is 1."] and carried.sources == ("side",)
    assert carried.chosen(Choice("theirs")).result == "The port is 2."
    with pytest.raises(BadContent, match="Nothing is said"):
        PORT.chosen(Choice("mine"))
