from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.views.log import LogPage, log_page, numbers_of
from tests.builders import talk, workspace


def page(chat: Conversation, number: int = 1, entries: int = 25) -> LogPage:
    return log_page(
        chat.operations, chat.timeline, now=0, page=number, total=chat.view.version, entries=entries
    )


def test_the_newest_operation_comes_first_and_is_where_the_conversation_is() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "a", "b")
    entries = page(chat).entries
    assert [entry.operation.number for entry in entries] == [3, 2, 1]
    assert [entry.current for entry in entries] == [True, False, False]


def test_what_was_undone_is_marked_until_it_is_redone() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "a", "b")
    chat.undo()
    assert [entry.operation.number for entry in page(chat).entries if entry.undone] == [3]
    chat.redo()
    assert [entry for entry in page(chat).entries if entry.undone] == []


def test_what_was_undone_stays_marked_when_something_else_was_done_instead() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "a", "b")
    chat.undo()
    chat.say("c", role="assistant")
    assert [entry.operation.number for entry in page(chat).entries if entry.undone] == [3]


def test_a_reply_names_the_question_it_belongs_to() -> None:
    forky, _ = workspace()
    chat = forky.create("Names")
    chat.ask("why?")
    assert [entry.with_ for entry in page(chat).entries] == [2, None, None]


@given(st.integers(1, 10_000), st.integers(-5, 500))
def test_pages_are_whole_rows_of_numbers(total: int, asked: int) -> None:
    shown, first, last = numbers_of(asked, total)
    assert 1 <= first <= last <= total
    newer = numbers_of(shown - 1, total)
    assert last == total if shown == 1 else newer[1] == last + 1


def test_a_page_of_a_long_log_needs_only_its_own_operations() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Names"), *[str(number) for number in range(59)])
    _, first, last = numbers_of(2, 60)
    some = chat.recent_operations(after=first - 1)[: last - first + 1]
    shown = log_page(some, chat.timeline, now=0, page=2, total=60)
    assert [entry.operation.number for entry in shown.entries] == list(range(35, 10, -1))
    assert (shown.pages, shown.total) == (3, 60)
