"""Graphs as rows with their lanes, top to bottom."""

from __future__ import annotations

import json
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from forky_core.model import Message, MessageId, View
from forky_core.model.parts import AttachmentPart, TextPart
from forky_core.views.graph import GraphView, build_graph, line_of_text, toggled
from forky_core.views.layout.colors import branch_colors
from pages.ui.chat.rows import drawn
from pages.ui.components.palette import LIGHT


def graph_of(spec: dict[str, str], heads: dict[str, str], **looks: object) -> GraphView:
    """`{"c": "a b"}`: c continues a and merges b. Roles alternate down every line."""
    messages: dict[MessageId, Message] = {}
    for number, (name, above) in enumerate(spec.items()):
        parents = tuple(MessageId(parent) for parent in above.split())
        asked = bool(parents) and messages[parents[0]].role == "user"
        messages[MessageId(name)] = Message(
            MessageId(name), parents, "assistant" if asked else "user", (TextPart(name),), created=number
        )
    view = View(MappingProxyType({f"heads/{n}": {"at": at} for n, at in heads.items()}), 1)
    return build_graph(messages, view, **looks)  # type: ignore[arg-type]


def chain(count: int) -> dict[str, str]:
    return {f"m{n}": f"m{n - 1}" if n else "" for n in range(count)}


def test_a_side_line_is_drawn_below_the_message_it_left_and_a_merge_comes_back() -> None:
    spec = {"a": "", "b": "a", "c": "b", "d": "b", "e": "d", "f": "c", "g": "f e", "h": "g"}
    graph = graph_of(spec, {"main": "h", "debug": "e"}, current="h")
    assert [f"{'| ' * row.lane}{row.id}" for row in graph.rows] == [
        "a",
        "b",
        "| d",
        "| e",
        "c",
        "f",
        "g",
        "h",
    ]
    ways = {(graph.rows[edge.source].id, graph.rows[edge.target].id, edge.kind) for edge in graph.edges}
    lines = {("a", "b"), ("b", "d"), ("d", "e"), ("b", "c"), ("c", "f"), ("f", "g"), ("g", "h")}
    assert ways == {(*line, "line") for line in lines} | {("e", "g", "merge")}
    assert [row.id for row in graph.rows if not row.on_path] == ["d", "e"]
    assert [(row.branches, row.merge) for row in graph.rows if row.branches or row.merge] == [
        (("debug",), False),
        ((), True),
        (("main",), False),
    ]


def test_a_branch_is_aside_from_its_first_message_on_though_what_it_left_has_not_gone_on() -> None:
    spec = {"a": "", "b": "a", "c": "b", "d": "c", "e": "b", "f": "d"}
    heads = {"main": "b", "debug": "d", "upload": "e", "deeper": "f"}
    graph = graph_of(spec, heads)
    assert [f"{'| ' * row.lane}{row.id}" for row in graph.rows] == ["a", "b", "| c", "| d", "| | f", "| e"]
    colors = branch_colors(sorted(heads))
    assert [row.color for row in graph.rows] == [
        colors[name] for name in ("main", "main", "debug", "debug", "deeper", "upload")
    ]


def test_a_branch_on_which_nothing_was_said_ends_no_line() -> None:
    graph = graph_of(chain(4), {"main": "m3", "idea": "m1"})
    assert {(row.lane, row.color) for row in graph.rows} == {(0, 0)}


def test_a_long_run_is_folded_and_opens_and_closes() -> None:
    closed = graph_of(chain(40), {"main": "m39"})
    assert [row.kind for row in closed.rows] == ["message", "message", "fold", "message", "message"]
    fold = closed.rows[2].id
    assert closed.rows[2].folded == 36
    opened = graph_of(chain(40), {"main": "m39"}, open_folds=toggled(frozenset(), fold))
    assert len(opened.rows) == 41
    closing = next(row for row in opened.rows if row.kind == "fold")
    assert toggled(toggled(frozenset(), fold), str(closing.fold)) == frozenset()


def test_a_message_one_is_at_is_never_folded_away() -> None:
    graph = graph_of(chain(40), {"main": "m39"}, current="m20", mark_a="m10")
    assert [row.id for row in graph.rows if row.current] == ["m20"]
    assert [row.mark for row in graph.rows if row.id == "m10"] == ["A"]
    assert all(row.on_path for row in graph.rows[: [row.id for row in graph.rows].index("m20") + 1])


def test_looking_at_a_folded_message_opens_a_row_for_it_and_moves_no_other() -> None:
    closed = [row.id for row in graph_of(chain(40), {"main": "m39"}, current="m39").rows]
    graph = graph_of(chain(40), {"main": "m39"}, current="m20")
    assert [row.id for row in graph.rows] == [*closed[:3], "m20", "fold:m21", *closed[3:]]
    assert [row.folded for row in graph.rows if row.kind == "fold"] == [18, 17]
    assert [row.id for row in graph_of(chain(40), {"main": "m39"}, current="m1").rows] == closed


def test_the_window_holds_still_while_somebody_moves_within_it() -> None:
    spec, heads = chain(200), {f"b{n}": f"m{n}" for n in range(200)}
    starts = [graph_of(spec, heads, current=f"m{n}", limit=40).earlier for n in range(200)]
    assert sorted(set(starts)) == [0, 20, 40, 60, 80, 100, 120, 140, 160]
    assert starts == sorted(starts)
    assert all(start + 10 <= n < start + 30 for n, start in enumerate(starts) if 20 <= n < 170)


def test_ends_that_nothing_names_are_named_by_their_version() -> None:
    messages = {
        MessageId("q"): Message(MessageId("q"), (), "user", (TextPart("q"),), created=0),
        **{
            MessageId(id): Message(MessageId(id), (MessageId("q"),), "assistant", (TextPart(id),), created=n)
            for n, id in enumerate(("one", "two", "three"), 1)
        },
    }
    entries = {"heads/main": {"at": "three"}, "kept/one": True, "kept/two": True}
    graph = build_graph(messages, View(MappingProxyType(entries), 1))
    names = {"q": "", "one": "version 1/3", "two": "version 2/3", "three": ""}
    assert {row.id: row.unnamed for row in graph.rows} == names


def test_a_fold_says_how_many_of_its_messages_were_found_and_nothing_moves() -> None:
    plain = graph_of(chain(40), {"main": "m39"})
    graph = graph_of(chain(40), {"main": "m39"}, found={"m0", "m5", "m6"})
    assert graph.filtered and [row.id for row in graph.rows] == [row.id for row in plain.rows]
    assert [row.found for row in graph.rows] == [1, 0, 2, 0, 0]


def test_a_message_that_is_being_answered_says_so() -> None:
    graph = graph_of(chain(3), {"main": "m2"}, answering={"m2"})
    assert [row.id for row in graph.rows if row.answering] == ["m2"]


def test_a_row_previews_its_message_and_a_fold_its_ends() -> None:
    long = "word " * 200
    id = MessageId("a")
    message = Message(id, (), "user", (TextPart(long),), created=0)
    (row,) = build_graph({id: message}, View(MappingProxyType({"heads/main": {"at": "a"}}), 1)).rows
    assert row.preview.startswith("word word") and 250 < len(row.preview) <= 280
    assert graph_of(chain(40), {"main": "m39"}).rows[2].preview == "m2\n…\nm37"


def test_rows_and_edges_have_the_colour_of_their_branch() -> None:
    spec = {"a": "", "b": "a", "c": "a"}
    graph = graph_of(spec, {"main": "b", "debug": "c"})
    colors = branch_colors(["main", "debug"])
    assert {row.id: row.color for row in graph.rows} == {"a": 0, "b": 0, "c": colors["debug"]}
    assert {(graph.rows[edge.target].id, edge.color) for edge in graph.edges} == {
        ("b", 0),
        ("c", colors["debug"]),
    }


def test_what_is_not_shown_costs_a_browser_nothing() -> None:
    def rows(length: int) -> int:
        spec, heads = chain(length), {"main": f"m{length - 1}"}
        for fork in range(20):
            spec[f"s{fork}"] = f"m{fork * length // 20}"
            heads[f"side{fork}"] = f"s{fork}"
        return len(json.dumps(drawn(graph_of(spec, heads, limit=44), LIGHT)))

    assert rows(5_000) < 1.1 * rows(500)


def test_what_no_ref_reaches_is_not_drawn() -> None:
    graph = graph_of({"a": "", "b": "a", "c": "a"}, {"main": "b"})
    assert [row.id for row in graph.rows] == ["a", "b"]


def test_an_empty_conversation_draws_nothing() -> None:
    assert graph_of({}, {}).rows == ()


def test_a_thousand_messages_with_a_hundred_forks_stay_within_the_limit_and_say_what_is_outside() -> None:
    spec, heads = chain(600), {"main": "m599"}
    for fork in range(100):
        spec |= {f"s{fork}.{n}": f"s{fork}.{n - 1}" if n else f"m{fork * 5 + 1}" for n in range(4)}
        heads[f"side{fork}"] = f"s{fork}.3"
    graph = graph_of(spec, heads, current="s50.3")
    assert len(graph.rows) == 150 and graph.total == 1000
    assert graph.earlier + graph.later > 0
    assert any(row.current for row in graph.rows)


@st.composite
def histories(draw_: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    spec: dict[str, str] = {}
    for number in range(draw_(st.integers(1, 40))):
        names = list(spec)
        above = draw_(st.lists(st.sampled_from(names), max_size=3, unique=True)) if names else []
        spec[f"n{number}"] = " ".join(above)
    heads = draw_(st.lists(st.sampled_from(list(spec)), min_size=1, max_size=6))
    return spec, {f"b{number}": at for number, at in enumerate(heads)}


@given(histories(), st.integers(3, 60))
def test_every_drawing_is_whole(history: tuple[dict[str, str], dict[str, str]], limit: int) -> None:
    spec, heads = history
    graph = graph_of(spec, heads, limit=limit)
    assert len(graph.rows) <= limit
    assert len({row.id for row in graph.rows}) == len(graph.rows)
    hidden = sum(row.folded for row in graph.rows)
    shown = sum(row.kind == "message" for row in graph.rows)
    if not graph.earlier and not graph.later:
        assert hidden + shown == graph.total
    for edge in graph.edges:
        assert -1 <= edge.source < edge.target <= len(graph.rows)
        assert 0 <= edge.lane < graph.lanes
    for number, row in enumerate(graph.rows):
        assert all(
            edge.lane != row.lane or (edge.kind == "line" and edge.color == row.lane)
            for edge in graph.edges
            if edge.source < number < edge.target
        ), "an edge runs through a message that it does not concern"
    assert graph == graph_of(spec, heads, limit=limit)


def test_a_message_is_recognised_by_its_words_before_its_files() -> None:
    picture, words = AttachmentPart("0" * 64, "image/png", "pic.png"), TextPart("What is on it?")
    assert line_of_text(Message(MessageId("a"), (), "user", (picture, words), created=0)) == "What is on it?"
    assert line_of_text(Message(MessageId("a"), (), "user", (picture,), created=0)) == "pic.png"


def test_the_lines_of_offline_answers_say_what_each_of_them_answered() -> None:
    answer = Message(
        MessageId("a"),
        (),
        "assistant",
        (TextPart("**Offline model.** It quotes.\n\nFrom the guide: **Forks**"),),
    )
    assert line_of_text(answer) == "From the guide: Forks"
    begun = Message(MessageId("b"), (), "assistant", (TextPart("**Offline model.** It"),))
    assert line_of_text(begun) == "Offline model. It"
