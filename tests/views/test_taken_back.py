"""What graph and notebook say of messages that were taken back, of corrected merges and of open conflicts."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.merge.conflicts.conflict import Choice
from forky_core.model.parts import RevertPart, ToolCallPart, ToolResultPart
from forky_core.views.graph import GraphView, build_graph
from forky_core.views.notebook import Notebook, notebook
from tests.builders import retuned, talk, workspace
from tests.conversation.adding import add


def graph(chat: Conversation) -> GraphView:
    keys = frozenset(one.hash for one in chat.merges.unresolved)
    return build_graph(chat.visible.messages, chat.view, current=chat.branch.head, open_conflicts=keys)


def book(chat: Conversation) -> Notebook:
    return notebook(chat.path(), chat.visible, chat.view, chat.calls.origins)


def trip() -> Conversation:
    forky, _ = workspace()
    return talk(forky.create("Trip"), "Where to?", "Norway.", "By boat?", "No boat goes there.")


def torn() -> Conversation:
    """A merge that left the port open."""
    forky, _ = workspace()
    chat = talk(forky.create("Ports"), "Where does it listen?", "Let us see.")
    talk(chat.fork("debug"), "And?", "Decision: the port is 9090.")
    talk(chat, "So?", "Decision: the port is 8080.")
    chat.merge(chat.plan_merge("debug", strategy="three-way"))
    return chat


def test_what_a_revert_takes_back_is_shown_as_such_and_nothing_else() -> None:
    chat = trip()
    target = chat.path()[3].id
    revert = chat.revert(chat.plan_revert(target))
    assert [row.id for row in graph(chat).rows if row.reverted] == [target]
    assert [(cell.message.id, cell.reverted) for cell in book(chat).cells if cell.reverted] == [
        (target, revert.id)
    ]


def test_a_tool_result_that_goes_along_with_its_call_is_marked_too() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Files"), "List them")
    call = add(chat, "assistant", ToolCallPart("ls", "{}", "a"))
    result = add(chat, "tool", ToolResultPart("ls", "one.txt", "a"))
    talk(chat, "One file.")
    revert = add(chat, "user", RevertPart((call,)))
    marked = {cell.message.id: cell.reverted for cell in book(chat).cells if cell.reverted}
    assert marked == {call: revert, result: revert}
    assert {row.id for row in graph(chat).rows if row.reverted} == {call, result}


def test_a_revert_that_is_reverted_shows_them_again() -> None:
    chat = trip()
    target = chat.path()[3].id
    revert = chat.revert(chat.plan_revert(target))
    chat.revert(chat.plan_revert(revert.id))
    assert [row.id for row in graph(chat).rows if row.reverted] == [revert.id]
    assert target not in {cell.message.id for cell in book(chat).cells if cell.reverted}


def test_a_branch_that_parts_before_the_revert_still_has_them() -> None:
    chat = trip()
    other = chat.fork("other")
    chat.revert(chat.plan_revert(chat.path()[3].id))
    assert not any(row.reverted for row in graph(other).rows)


def test_a_merge_with_an_open_conflict_is_marked_until_it_is_settled() -> None:
    chat = torn()
    head = chat.branch.head
    assert {row.id: row.unresolved for row in graph(chat).rows if row.unresolved} == {head: 1}
    (clash,) = chat.merges.unresolved
    chat.merge(chat.merges.plan_resolution({clash.about: Choice("text", "The port is 8080.")}))
    assert not any(row.unresolved for row in graph(chat).rows)


def test_a_line_that_a_later_merge_corrects_is_marked_on_the_earlier_one() -> None:
    chat = retuned(workspace()[0])
    first, second = (message.id for message in chat.path() if message.merges)
    marked = {cell.message.id: cell.corrected for cell in book(chat).cells if cell.corrected}
    assert {merge: [(one.line, one.now, one.by) for one in lines] for merge, lines in marked.items()} == {
        first: [("Decision: the prefetch is 50.", "No, the prefetch is 20.", second)]
    }
    assert {row.id: row.corrected for row in graph(chat).rows if row.corrected} == {first: 1}


def test_before_the_later_merge_and_once_it_is_reverted_the_line_stands() -> None:
    chat = retuned(workspace()[0])
    second = next(message for message in reversed(chat.path()) if message.merges)
    path = chat.path(second.parents[0])
    earlier = notebook(path, chat.visible, chat.view, chat.calls.origins)
    assert not any(cell.corrected for cell in earlier.cells)
    chat.revert(chat.plan_revert(second.id))
    assert not any(cell.corrected for cell in book(chat).cells)
    assert not any(row.corrected for row in graph(chat).rows)
