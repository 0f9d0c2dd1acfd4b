from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.conversation.visible import Visible
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, View
from forky_core.views.findings import FoundConversation, group_hits, marked
from tests.builders import debugged, talk


def search(forky: Workspace, words: str) -> tuple[FoundConversation, ...]:
    def look(id: ConversationId) -> tuple[View, Visible]:
        chat = forky.conversation(id)
        return chat.view, chat.visible

    return group_hits(forky.search(words), words, look)


def test_hits_are_grouped_by_conversation_with_every_branch_they_lie_on(forky: Workspace) -> None:
    chat = talk(forky.create("Backups"), "the trunk needle", "an answer")
    fork = chat.fork("debug")
    talk(fork, "a needle on the branch")
    talk(forky.create(""), "another needle")
    groups = {group.title: group for group in search(forky, "needle")}
    assert set(groups) == {"Backups", "another needle"}
    lying = {one.hit.snippet: one.branches for one in groups["Backups"].messages}
    assert lying == {"the trunk needle": ("debug", "main"), "a needle on the branch": ("debug",)}


def test_a_hit_lands_on_a_branch_that_contains_it(forky: Workspace) -> None:
    chat = talk(forky.create("Backups"), "trunk", "answer")
    talk(chat.fork("debug"), "needle")
    (group,) = search(forky, "needle")
    (message,) = group.messages
    assert message.landing == "debug"
    path = forky.conversation(group.id, message.landing).path(message.hit.message)
    assert path[-1].text == "needle"


def test_what_only_a_kept_tip_reaches_is_found_without_a_branch(forky: Workspace) -> None:
    chat = talk(forky.create("Backups"), "trunk", "needle")
    chat.branches.promote(chat.path()[0].id)
    (group,) = search(forky, "needle")
    (message,) = group.messages
    assert (message.branches, message.landing) == ((), None)
    assert forky.conversation(group.id).path(message.hit.message)[-1].text == "needle"


def test_every_word_is_marked_in_any_case_and_phrases_as_one() -> None:
    pieces = marked("Needle in a hay stack, needle", 'needle "hay stack"')
    assert [(piece.text, piece.marked) for piece in pieces] == [
        ("Needle", True),
        (" in a ", False),
        ("hay stack", True),
        (", ", False),
        ("needle", True),
    ]


@given(st.text(), st.text())
def test_the_pieces_are_the_text_whatever_is_asked(text: str, words: str) -> None:
    assert "".join(piece.text for piece in marked(text, words)) == text


def test_an_enormous_query_is_answered() -> None:
    assert marked("abc", "x " * 500_000 + "abc")[0].text == "abc"


def test_a_merge_is_found_as_a_merge_that_nobody_said(forky: Workspace) -> None:
    chat = debugged(forky)
    chat.merge(chat.plan_merge("debug"))
    (group,) = search(forky, "lazily")
    assert [one.hit.message for one in group.messages if one.merges] == [chat.branch.head]
