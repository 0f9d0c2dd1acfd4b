"""The graph functions against their definitions, and against real Git on random graphs."""

from __future__ import annotations

import itertools
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.model import MessageId
from forky_core.model.graph import (
    ancestors,
    delta,
    first_parent_path,
    is_ancestor,
    merge_bases,
    topological_order,
)

Graph = Mapping[str, Sequence[str]]


def lookup(graph: Graph) -> Callable[[MessageId], Sequence[MessageId]]:
    return lambda message: [MessageId(parent) for parent in graph[message]]


def ids(*names: str) -> tuple[MessageId, ...]:
    return tuple(MessageId(name) for name in names)


#   a ─ b ─ c ─ m ─ d      m merges y into c
#        ╲     ╱
#         x ─ y ─ z
SIDE: Graph = {"a": "", "b": "a", "c": "b", "x": "b", "y": "x", "m": "cy", "d": "m", "z": "y"}


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Messages m0, m1 … each with up to three distinct earlier parents: criss-crosses and octopuses included."""
    graph: dict[str, list[str]] = {}
    for number in range(draw(st.integers(1, 14))):
        earlier = st.sampled_from(sorted(graph)) if graph else st.nothing()
        graph[f"m{number:02}"] = draw(st.lists(earlier, max_size=3, unique=True)) if graph else []
    return graph


def reachable(graph: Graph, tip: str) -> set[str]:
    """The definition, by recursion."""
    return {tip}.union(*(reachable(graph, parent) for parent in graph[tip]))


def test_the_linear_context_follows_parent_zero_only() -> None:
    assert first_parent_path(MessageId("d"), lookup(SIDE)) == ids("a", "b", "c", "m", "d")
    assert first_parent_path(None, lookup(SIDE)) == ()


def test_what_a_merge_brings_is_what_the_target_has_not() -> None:
    assert delta(MessageId("c"), MessageId("y"), lookup(SIDE)) == ids("x", "y")


def test_a_repeated_merge_brings_only_what_is_new() -> None:
    assert delta(MessageId("d"), MessageId("z"), lookup(SIDE)) == ids("z")


def test_an_empty_target_receives_everything_first_parents_first() -> None:
    assert delta(None, MessageId("m"), lookup(SIDE)) == ids("a", "b", "c", "x", "y", "m")


def test_tips_behind_one_that_is_an_ancestor_of_another_are_in_the_order_too() -> None:
    assert topological_order(ids("c", "b", "z"), lookup(SIDE)) == ids("a", "b", "c", "x", "y", "z")


def test_unrelated_histories_have_no_base() -> None:
    assert merge_bases(MessageId("a"), MessageId("q"), lookup({"a": "", "q": ""})) == ()


def test_a_criss_cross_has_two_bases() -> None:
    criss_cross = {"r": "", "a": "r", "b": "r", "m": "ab", "n": "ba"}
    assert merge_bases(MessageId("m"), MessageId("n"), lookup(criss_cross)) == ids("a", "b")


def test_an_unknown_message_is_refused() -> None:
    with pytest.raises(KeyError):
        ancestors(ids("nowhere"), lookup(SIDE))


@given(graphs())
def test_ancestors_are_what_recursion_finds(graph: dict[str, list[str]]) -> None:
    for tip in graph:
        assert ancestors(ids(tip), lookup(graph)) == reachable(graph, tip)
        for other in graph:
            assert is_ancestor(MessageId(other), MessageId(tip), lookup(graph)) == (
                other in reachable(graph, tip)
            )


@given(graphs())
def test_bases_are_the_common_ancestors_no_other_common_ancestor_descends_from(
    graph: dict[str, list[str]],
) -> None:
    for one, other in itertools.combinations_with_replacement(graph, 2):
        common = reachable(graph, one) & reachable(graph, other)
        maximal = {c for c in common if not any(c in reachable(graph, d) for d in common - {c})}
        found = merge_bases(MessageId(one), MessageId(other), lookup(graph))
        assert set(found) == maximal
        assert found == merge_bases(MessageId(other), MessageId(one), lookup(graph))


@given(graphs())
def test_delta_is_the_difference_with_parents_first(graph: dict[str, list[str]]) -> None:
    for target, source in itertools.product(graph, repeat=2):
        order = delta(MessageId(target), MessageId(source), lookup(graph))
        assert set(order) == reachable(graph, source) - reachable(graph, target)
        assert len(order) == len(set(order))
        place = {message: at for at, message in enumerate(order)}
        for message in order:
            assert all(
                place[MessageId(parent)] < place[message] for parent in graph[message] if parent in place
            )


def test_ten_thousand_stacked_diamonds_are_walked_once_each() -> None:
    graph: dict[str, list[str]] = {"0": []}
    for floor in range(10_000):
        below, above = str(floor), str(floor + 1)
        graph |= {f"{floor}l": [below], f"{floor}r": [below], above: [f"{floor}l", f"{floor}r"]}
    looked_up = 0

    def parents_of(message: MessageId) -> Sequence[MessageId]:
        nonlocal looked_up
        looked_up += 1
        return ids(*graph[message])

    tip = MessageId("10000")
    assert len(topological_order((tip,), parents_of)) == len(graph) == looked_up
    assert merge_bases(tip, MessageId("9999l"), parents_of) == ids("9999l")
    assert len(first_parent_path(tip, parents_of)) == 20_001


def random_graph(rng: random.Random, prefix: str) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {}
    for number in range(rng.randint(2, 24)):
        recent = list(graph)[-7:]
        graph[f"{prefix}n{number}"] = rng.sample(recent, min(len(recent), rng.choice((1, 1, 1, 2, 2, 3))))
    return graph


def git_repository(at: Path, graph: Graph) -> dict[str, str]:
    """A bare repository with one commit per message; the commit ids by message."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(at)], check=True)
    marks = {message: number for number, message in enumerate(graph, 1)}
    lines: list[str] = []
    for message, parents in graph.items():
        # One ref for all: a root begins it anew, the others name their parents.
        lines += [] if parents else ["reset refs/heads/all"]
        lines += ["commit refs/heads/all", f"mark :{marks[message]}", "committer A <a@b> 0 +0000"]
        lines += [f"data {len(message)}", message]
        lines += [f"{'merge' if place else 'from'} :{marks[parent]}" for place, parent in enumerate(parents)]
        lines.append("")
    stream = "\n".join(lines).encode()
    marks_file = at / "exported-marks"
    subprocess.run(
        ["git", "-C", str(at), "fast-import", "--quiet", f"--export-marks={marks_file}"],
        input=stream,
        check=True,
    )
    exported = dict(line.split() for line in marks_file.read_text().splitlines())
    return {message: exported[f":{mark}"] for message, mark in marks.items()}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")
def test_bases_and_delta_agree_with_git_on_random_graphs(tmp_path: Path) -> None:
    """520 graphs with criss-crosses and octopuses: bases, Δ, and of each fourth what a second source adds."""
    rng = random.Random(20)
    parts = [random_graph(rng, f"g{number}") for number in range(520)]
    graph = {message: parents for part in parts for message, parents in part.items()}
    commits = git_repository(tmp_path / "graphs.git", graph)
    messages = {commit: message for message, commit in commits.items()}

    def git(*arguments: str) -> set[str]:
        command = ["git", "-C", str(tmp_path / "graphs.git"), *arguments]
        # `git merge-base` says "none" by exit status 1.
        answer = subprocess.run(command, check=False, capture_output=True, text=True)
        return {messages[line] for line in answer.stdout.split()}

    several_bases = octopuses = 0
    for number, part in enumerate(parts):
        octopuses += any(len(parents) > 2 for parents in part.values())
        target, source, other = (MessageId(rng.choice(list(part)[-6:])) for _ in "TSO")
        bases = set(merge_bases(target, source, lookup(graph)))
        several_bases += len(bases) > 1
        assert bases == git("merge-base", "--all", commits[target], commits[source])
        first = set(delta(target, source, lookup(graph)))
        assert first == git("rev-list", f"{commits[target]}..{commits[source]}")
        if number % 4:
            continue
        second = set(delta(target, other, lookup(graph))) - first
        assert second == git("rev-list", commits[other], f"^{commits[target]}", f"^{commits[source]}")
    assert several_bases > 20 and octopuses > 200
