from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.formats import tree
from forky_core.formats.contract import Node
from forky_core.formats.tree import ImportedTree, build_tree
from tests.formats.sources import found, node


def said(tree: ImportedTree) -> list[str]:
    """The words on the way to what is checked out."""
    by_id = {message.id: message for message in tree.messages}
    at, words = tree.head, []
    while at is not None:
        words.append(by_id[at].text)
        at = by_id[at].parent
    return words[::-1]


def test_every_branch_is_kept_and_the_live_one_is_main() -> None:
    tree = build_tree(
        found(
            node("q", None, "question"),
            node("a1", "q", "first answer", "assistant"),
            node("a2", "q", "second answer", "assistant"),
            node("e", "a1", "Tell me about rivers"),
            node("n", "a1", "next"),
            current="n",
        )
    )
    assert said(tree) == ["question", "first answer", "next"]
    assert list(tree.branches) == ["rivers"]
    assert len(tree.kept) == 1, "the other answer is kept beside the one that was chosen"


def test_a_node_without_a_message_leaves_its_children_to_its_parent() -> None:
    imported = build_tree(
        found(node("r", None, None), node("q", "r", "a"), node("s", "q", ""), node("t", "s", "b"))
    )
    assert said(imported) == ["a", "b"]
    assert dict(imported.account.skipped) == {tree.STRUCTURE: 1, tree.EMPTY: 1}
    assert imported.account.adds_up


def test_a_missing_parent_and_several_roots_are_kept_and_told() -> None:
    imported = build_tree(found(node("a", "gone", "one"), node("b", None, "two"), current="a"))
    assert said(imported) == ["one"]
    assert len(imported.messages) == 2
    assert imported.account.notes[tree.NO_PARENT] == 1


def test_a_circle_is_cut_where_the_file_names_it_first() -> None:
    imported = build_tree(
        found(node("a", "c", "one"), node("b", "a", "two"), node("c", "b", "three"), node("d", "d", "self"))
    )
    assert [message.text for message in imported.messages if message.parent is None] == ["one", "self"]
    assert imported.account.notes[tree.CYCLE] == 2
    assert len(imported.messages) == 4


def test_the_same_words_at_the_same_place_are_one_message_with_both_ids() -> None:
    tree = build_tree(
        found(node("q", None, "q"), node("a", "q", "yes", "assistant"), node("b", "q", "yes", "assistant"))
    )
    assert (tree.account.seen, tree.account.imported, tree.account.collapsed) == (3, 2, 1)
    assert [origin.node.id for origin in tree.origins] == ["q", "a", "b"]


def test_an_id_that_occurs_twice_names_two_messages() -> None:
    imported = build_tree(found(node("a", None, "one"), node("a", None, "other")))
    assert len(imported.messages) == 2
    assert imported.account.notes[tree.TWICE] == 1


def test_without_a_live_end_the_newest_one_is_checked_out() -> None:
    imported = build_tree(
        found(
            node("q", None, "q", created=1),
            node("new", "q", "newer", "assistant", created=9),
            node("old", "q", "older", "assistant", created=5),
            current="lost",
        )
    )
    assert said(imported) == ["q", "newer"]
    assert imported.account.notes[tree.NO_CURRENT] == 1


def test_a_chain_of_a_hundred_thousand_needs_no_recursion() -> None:
    nodes = [node("0", None, "0")] + [node(str(n), str(n - 1), str(n)) for n in range(1, 100_000)]
    tree = build_tree(found(*reversed(nodes), current="99999"))
    assert len(tree.messages) == 100_000
    assert tree.account.adds_up


def test_a_hundred_thousand_siblings_are_bounded_and_counted() -> None:
    nodes = [node(str(n), "q", f"answer {n}", "assistant") for n in range(100_000)]
    imported = build_tree(found(node("q", None, "q"), *nodes, current="99999"))
    assert said(imported) == ["q", "answer 99999"], "what was checked out is never left out"
    assert len(imported.kept) == tree.MOST_TIPS
    assert imported.account.skipped[tree.TOO_MANY] == 100_000 - tree.MOST_TIPS - 1
    assert imported.account.adds_up


def test_names_of_the_source_become_branches() -> None:
    tree = build_tree(
        found(
            node("q", None, "q"),
            node("a", "q", "a"),
            node("b", "q", "b"),
            current="a",
            names={"Plan B\n": "b", "main": "b"},
        )
    )
    assert set(tree.branches) == {"Plan B", "main-2"}


IDS = st.sampled_from("abcdefgh")


@given(
    st.lists(
        st.builds(
            node,
            IDS,
            st.none() | IDS,
            st.none() | st.sampled_from(["", "x", "y"]),
            st.sampled_from(["user", "assistant"]),
            created=st.integers(0, 5),
        ),
        max_size=14,
    ),
    st.none() | IDS,
)
def test_any_nodes_make_a_tree_whose_account_adds_up(nodes: list[Node], current: str | None) -> None:
    tree = build_tree(found(*nodes, current=current))
    account = tree.account
    assert account.adds_up
    assert account.seen == len(nodes)
    seen: set[str] = set()
    for message in tree.messages:
        assert seen.issuperset(message.parents)
        seen.add(message.id)
    assert len(seen) == len(tree.messages)
    tips = {tree.head, *tree.branches.values(), *tree.kept} - {None}
    leaves = seen - {message.parent for message in tree.messages}
    assert leaves <= tips <= seen, "every end can be reached"
    assert (tree.head is None) == (not tree.messages)
