"""What the filter of the graph finds."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from forky_core.forky import Forky
from forky_core.model import Generation, GenerationId, Message, MessageId, View
from forky_core.model.parts import TextPart
from forky_core.views.graph_filter import Facet, GraphFilter, facets_of, find
from tests.builders import debugged


def said(id: str, above: str, role: str, name: str | None = None) -> Message:
    parents = (MessageId(above),) if above else ()
    return Message(MessageId(id), parents, role, (TextPart(id),), name=name)  # type: ignore[arg-type]


TALK = [
    said("a", "", "user"),
    said("b", "a", "assistant"),
    said("c", "b", "user", "Ann"),
    said("d", "c", "assistant"),
]
MESSAGES = {message.id: message for message in TALK}
VIEW = View(MappingProxyType({"heads/main": {"at": "d"}, "tags/v1": {"at": "b"}}), 1)
CALLS = (
    Generation(GenerationId("1"), "main", MessageId("a"), "big", "done", MessageId("b")),
    Generation(GenerationId("2"), "main", MessageId("c"), "small", "done", MessageId("d"), client="aider"),
)


def found(*facets: Facet, words: str = "") -> list[str]:
    wanted = GraphFilter(frozenset(facets), words)
    hits = [MessageId("c"), MessageId("d")]
    return list(find(wanted, MESSAGES, tuple(MESSAGES), VIEW, CALLS, lambda _words: hits))


def test_everything_that_messages_have_in_common_is_offered() -> None:
    assert facets_of(TALK, VIEW, CALLS) == (
        Facet("author", "you"),
        Facet("author", "Ann"),
        Facet("model", "big"),
        Facet("model", "small"),
        Facet("tag", "v1"),
        Facet("program", "aider"),
    )


@pytest.mark.parametrize(
    ("facets", "ids"),
    [
        ([Facet("author", "you")], "a"),
        ([Facet("author", "you"), Facet("author", "Ann")], "ac"),
        ([Facet("model", "big")], "b"),
        ([Facet("tag", "v1")], "b"),
        ([Facet("program", "aider")], "d"),
        ([Facet("program", "aider"), Facet("model", "big")], ""),
        ([Facet("conflict")], ""),
    ],
)
def test_values_of_a_kind_add_up_and_kinds_narrow(facets: list[Facet], ids: str) -> None:
    assert "".join(found(*facets)) == ids


def test_words_are_searched_for_and_narrow_further() -> None:
    assert found(words="lock") == ["c", "d"]
    assert found(Facet("author", "Ann"), words="lock") == ["c"]
    assert not GraphFilter(words="  ").on


def test_a_merge_of_branches_without_a_contradiction_has_no_conflict() -> None:
    with Forky.open(":memory:") as forky:
        chat = debugged(forky)
        assert Facet("conflict") not in facets_of(
            chat.visible.messages.values(), chat.view, chat.calls.generations
        )
