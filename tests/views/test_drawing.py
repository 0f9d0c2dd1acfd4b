from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.views.drawing import draw, graph_lines, newest_first
from tests.builders import talk, workspace


def picture(graph: dict[str, list[str]]) -> list[str]:
    return [f"{columns} {id or ''}".rstrip() for columns, id in graph_lines(graph)]


def test_a_line_is_one_column_newest_first() -> None:
    assert picture({"a": [], "b": ["a"], "c": ["b"]}) == ["* c", "* b", "* a"]


def test_a_fork_runs_together_above_what_was_forked() -> None:
    assert picture({"a": [], "b": ["a"], "c": ["a"]}) == ["* c", "| * b", "|/", "* a"]


def test_a_merge_opens_a_column_for_each_parent() -> None:
    graph = {"a": [], "b": ["a"], "c": ["a"], "m": ["b", "c"]}
    assert picture(graph) == ["* m", "|\\", "| * c", "* | b", "|/", "* a"]


def test_columns_in_between_are_crossed() -> None:
    graph = {"r": [], "q": ["r"], "a": ["r"], "t": ["a"], "u": ["q"], "v": ["r"], "w": ["a"]}
    assert picture(graph) == [
        "* w",
        "| * v",
        "| | * u",
        "| | * q",
        "| | | * t",
        "| |_|/",
        "|/| |",
        "* | | a",
        "|/ /",
        "|/",
        "* r",
    ]


def test_separate_roots_stand_one_above_the_other() -> None:
    assert picture({"a": [], "b": []}) == ["* b", "* a"]


@st.composite
def graphs(draw_: st.DrawFn) -> dict[str, list[str]]:
    """Parents first; up to three parents each."""
    graph: dict[str, list[str]] = {}
    for number in range(draw_(st.integers(0, 14))):
        known = list(graph)
        parents = draw_(st.lists(st.sampled_from(known), unique=True, max_size=3)) if known else []
        graph[f"n{number}"] = parents
    return graph


@given(graphs())
def test_every_message_is_drawn_once_and_before_its_parents(graph: dict[str, list[str]]) -> None:
    order = newest_first(graph)
    assert sorted(order) == sorted(graph)
    place = {id: number for number, id in enumerate(order)}
    assert all(place[id] < place[parent] for id, parents in graph.items() for parent in parents)
    assert [id for _, id in graph_lines(graph) if id] == list(order)


@given(graphs())
def test_lines_are_columns_of_bars_and_edges_and_never_grow_apart(graph: dict[str, list[str]]) -> None:
    lines = [columns for columns, _ in graph_lines(graph)]
    assert all(re.fullmatch(r"[*|/\\_ ]+", line) for line in lines)
    assert all(abs(len(above.rstrip()) - len(below.rstrip())) <= 4 for above, below in pairwise(lines))


@pytest.mark.parametrize(
    "graph",
    [
        {"a": [], "b": ["a"], "c": ["b"]},
        {"a": [], "b": ["a"], "c": ["a"], "m": ["b", "c"]},
        {"a": [], "b": ["a"], "c": ["b"], "d": ["c"], "x": ["b"], "m": ["d", "x"], "e": ["m"]},
    ],
)
def test_the_picture_is_the_one_git_draws(graph: dict[str, list[str]], tmp_path: Path) -> None:
    def git(*words: str) -> str:
        ours = ["-c", "user.name=n", "-c", "user.email=n@localhost", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *ours, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.rstrip("\n")

    git("init", "-q")
    tree = git("hash-object", "-t", "tree", "-w", "/dev/null")
    made: dict[str, str] = {}
    for name, parents in graph.items():
        above = [word for parent in parents for word in ("-p", made[parent])]
        made[name] = git("commit-tree", tree, "-m", name, *above)
    tips = set(graph) - {parent for parents in graph.values() for parent in parents}
    said = git("log", "--graph", "--topo-order", "--format=%s", *(made[tip] for tip in tips))
    # Git leaves room beside a merge for the edges below it; we do not.
    assert picture(graph) == [re.sub(r" +(\w)$", r" \1", line).rstrip() for line in said.splitlines()]


def test_a_line_names_branches_tags_and_who_spoke() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "why?", "because")
    chat.fork("debug")
    chat.tags.add("v1")
    top, below = draw(chat.visible.messages, chat.view, checked_out="main")
    assert re.fullmatch(r"\* [0-9a-f]{8} \(HEAD -> main, debug, tag: v1\) assistant: because", top)
    assert re.fullmatch(r"\* [0-9a-f]{8} user: why\?", below)


def test_a_megabyte_is_one_short_line() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "word " * 200_000)
    (line,) = draw(chat.visible.messages, chat.view)
    assert len(line) < 120


def test_a_long_conversation_is_drawn_without_recursion() -> None:
    graph = {f"n{n}": [f"n{n - 1}"] if n else [] for n in range(20_000)}
    assert sum(1 for _ in graph_lines(graph)) == 20_000
