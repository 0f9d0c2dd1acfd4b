"""Which cells a page draws, and in which pages it was asked for them."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.conversation.message_origins import MessageOrigins, call_index
from forky_core.conversation.visible import Visible
from forky_core.model import Message, MessageId, View
from forky_core.model.parts import TextPart
from forky_core.views.notebook import MORE, Notebook, notebook, window_start


def path_of(*texts: str) -> tuple[Message, ...]:
    return tuple(
        Message(
            MessageId(f"m{at}"),
            (MessageId(f"m{at - 1}"),) if at else (),
            "assistant" if at % 2 else "user",
            (TextPart(text),),
            created=at,
        )
        for at, text in enumerate(texts)
    )


def book_of(path: tuple[Message, ...], more: int = 0, keep: MessageId | None = None) -> Notebook:
    head = {"heads/main": {"at": path[-1].id}} if path else {}
    view = View(MappingProxyType(head), 1)
    visible = Visible(
        1, {message.id: message for message in path}, {message.parent: (message.id,) for message in path}
    )
    return notebook(path, visible, view, MessageOrigins(call_index(())), more=more, keep=keep)


def test_a_window_of_short_messages_holds_more_of_them_than_one_of_long_ones() -> None:
    short, long = path_of(*["hello"] * 100), path_of(*["word " * 400] * 100)
    assert 100 - window_start(short) > 2 * (100 - window_start(long)) > 0


def test_the_window_begins_at_the_same_message_when_an_answer_is_added() -> None:
    path = path_of(*(f"message {at}" for at in range(99)))
    starts = [window_start(path[:end]) for end in range(80, 99)]
    assert len(set(starts)) <= 6


def test_a_megabyte_fills_a_window_alone() -> None:
    path = path_of(*["hi"] * 40, "word " * 200_000)
    assert len(path) - window_start(path) <= 4


@pytest.mark.parametrize("more", [0, MORE])
def test_a_message_that_is_kept_stays_drawn_wherever_the_end_moves(more: int) -> None:
    path = path_of(*(f"message {at}" for at in range(200)))
    keep = path[90].id
    for end in range(91, 200):
        plain, book = book_of(path[:end], more), book_of(path[:end], more, keep)
        assert any(cell.message.id == keep for cell in book.cells)
        if any(cell.message.id == keep for cell in plain.cells):
            assert book == plain
        else:
            assert book.earlier == 88, "as many as a window that begins near it, and none below is left out"
        assert book.window == (plain.window if more else len(book.cells))
        assert [cell for page in book.pages() for cell in page] == list(book.cells)


def test_a_message_that_is_not_on_the_path_keeps_nothing() -> None:
    path = path_of(*(f"message {at}" for at in range(99)))
    assert book_of(path, keep=MessageId("elsewhere")) == book_of(path)


@given(st.lists(st.sampled_from(["hi", "word " * 60, "line\n" * 30]), max_size=120), st.integers(0, 6))
def test_pages_together_are_the_cells_and_their_last_is_the_window(texts: list[str], asked: int) -> None:
    path = path_of(*texts)
    book = book_of(path, asked * MORE)
    pages = book.pages()
    assert [cell for page in pages for cell in page] == list(book.cells)
    assert book.earlier + len(book.cells) == len(path) == book.total
    if book.earlier:
        assert pages[-1] == book_of(path).cells
    assert all(len(page) <= MORE for page in pages)
