"""The whole tree: a row for every branch, with what became of it."""

from __future__ import annotations

from types import MappingProxyType

from forky_core.model import Message, MessageId, View
from forky_core.model.parts import Part, RevertPart, TextPart
from forky_core.views.layout.shape import shape_of
from forky_core.views.overview import Overview, build_overview


def overview_of(
    spec: dict[str, str],
    heads: dict[str, str],
    *,
    entries: dict[str, object] | None = None,
    reverts: str = "",
) -> Overview:
    """`{"c": "a b"}`: c continues a and merges b. A user's and an assistant's message take turns."""
    messages: dict[MessageId, Message] = {}
    for number, (name, above) in enumerate(spec.items()):
        parents = tuple(MessageId(parent) for parent in above.split())
        asked = bool(parents) and messages[parents[0]].role == "user"
        part: Part = (
            RevertPart((reverts,)) if reverts and number == len(spec) - 1 else TextPart(f"says {name}")
        )
        messages[MessageId(name)] = Message(
            MessageId(name), parents, "assistant" if asked else "user", (part,), created=number
        )
    view = View(
        MappingProxyType({f"heads/{n}": {"at": at} for n, at in heads.items()} | (entries or {})),
        1,
    )
    return build_overview(messages, view, shape_of(messages, view), current=MessageId(heads["main"]))


TREE = {"a": "", "b": "a", "c": "b", "d": "c", "e": "b", "f": "e", "g": "d", "h": "g f", "i": "d", "j": "i"}


def read(overview: Overview) -> list[tuple[str, str, str, int]]:
    rows = zip(overview.graph.rows, overview.outcomes, overview.said, strict=True)
    return [(", ".join(row.branches), outcome, said, row.folded) for row, outcome, said in rows]


def test_what_left_a_branch_last_stands_right_below_it_and_says_what_became_of_it() -> None:
    overview = overview_of(TREE, {"main": "h", "early": "f", "late": "j"})
    assert read(overview) == [
        ("main", "open", "", 6),
        ("late", "open", "open", 2),
        ("early", "back", "brought back into “main”", 2),
    ]
    assert overview.summary == "3 branches, 10 messages: 1 brought back, 1 open"


def test_a_branch_that_goes_on_after_it_was_brought_back_is_open_and_one_left_out_again_is_dropped() -> None:
    spec = TREE | {"k": "f", "l": "k"}
    went_on = overview_of(spec, {"main": "h", "early": "l", "late": "j"})
    assert read(went_on)[2] == ("early", "open", "brought back into “main”, 2 messages since", 4)
    left_out = overview_of(TREE | {"k": "h"}, {"main": "k", "early": "f", "late": "j"}, reverts="h")
    assert read(left_out)[2] == ("early", "dropped", "brought back into “main”, then left out again", 2)


def test_what_nobody_answered_what_was_put_aside_and_what_has_no_name_is_dropped() -> None:
    spec = {"a": "", "b": "a", "c": "b", "d": "b", "e": "d", "f": "a", "g": "b", "h": "g"}
    aside = {"stash/1": {"note": "for later", "created": 1, "messages": ["d", "e"]}, "kept/f": True}
    overview = overview_of(spec, {"main": "h", "asked": "c"}, entries=aside)
    assert sorted(said for said in overview.said if said) == [
        "no answer",
        "not continued",
        "put aside: for later",
    ]
    assert set(overview.outcomes[1:]) == {"dropped"}


def test_a_branch_that_another_one_continues_has_a_row_and_messages_of_its_own() -> None:
    overview = overview_of({"a": "", "b": "a", "c": "b", "d": "c"}, {"main": "b", "on": "d"})
    assert read(overview) == [("main", "open", "", 2), ("on", "open", "open", 2)]
    assert overview.graph.rows[0].current
    assert [(one.row, one.above, one.members) for one in overview.stretches][:2] == [
        (0, -1, ("a",)),
        (0, 0, ("b",)),
    ]
    assert overview.words[MessageId("d")] == "says d"
