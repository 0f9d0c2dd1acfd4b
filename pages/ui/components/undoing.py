"""The title bar with undo and redo of one conversation, and the notice below it: the top of every page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.merge.wording import one_line
from forky_core.model import Operation
from forky_core.model.errors import ForkyError, InTheWay
from forky_core.views.plain_words import plain_sentence, plain_summary
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.bar import title_bar
from pages.ui.components.bell import draw_bell
from pages.ui.components.buttons import button
from pages.ui.components.markdown import showable
from pages.ui.components.notice import done, draw_notice
from pages.ui.components.only_reading import is_editor, why_never_writes
from pages.ui.components.reader_menu import draw_reader
from pages.ui.frame import saying
from pages.ui.keeping.component import keep_what_is_typed
from pages.ui.keyboard.component import draw_keyboard
from pages.ui.session import TabSession
from pages.ui.streamlit_patches.browser_fixes import fix_browser

_MOVED_AWAY = "Moved to another workspace"
"""The line of the log of a conversation that an earlier version left in the trash when it moved it."""
_TAB = 80
"""Letters of a page's title in the browser's tab."""


def page_top(
    title: str,
    forky: Workspace,
    tab: TabSession,
    chat: Conversation | None,
    *,
    about: str = "",
    names_it: bool = False,
    offered: Mapping[str, str] | None = None,
    beside: Callable[[], None] | None = None,
) -> str | None:
    """Draw the title bar and return which act of `offered`, whose labels the menu shows, was chosen.

    `chat` is what undo and redo work on; None: a page where no conversation is meant. `names_it`: Undo and Redo say
    which conversation that is, where the page itself does not. `beside` draws what stands beside the title,
    `about` says below it what the page is for.
    """
    _name_tab(title, tab)
    inside = f" – in “{title_or_placeholder(chat.title)}”" if names_it and chat is not None else ""
    fix_browser(tab)
    keep_what_is_typed(tab, chat)
    drawn = chat.view.version if chat is not None else 0
    undoes = chat if chat is None or not why_never_writes(chat) else None
    undo, redo = (undoes.history.next_undo, undoes.history.next_redo) if undoes is not None else ((), ())
    if chat is not None and not is_editor(chat):  # Others' changes are not theirs to take back.
        undo, redo = (_own(forky, gesture) for gesture in (undo, redo))
    chosen = title_bar(
        title,
        undo=_said(undo, inside),
        redo=_said(redo, inside),
        on_undo=lambda: _undo(tab, chat, drawn),
        on_redo=lambda: _redo(tab, chat, drawn),
        offered=offered or {},
        beside=lambda: _draw_beside(forky, tab, chat, beside),
    )
    if about:
        st.caption(about)
    draw_notice(forky, tab)
    if chat is not None and chat.view.trashed:
        _draw_trashed(forky, tab, chat)
    return chosen


def _draw_beside(
    forky: Workspace, tab: TabSession, chat: Conversation | None, beside: Callable[[], None] | None
) -> None:
    if beside is not None:
        beside()
    draw_bell()
    draw_reader()
    draw_keyboard(forky, tab, chat)


def _name_tab(title: str, tab: TabSession) -> None:
    """The shell gives the name at each run; a second time in a run only where it is another, so that none flashes."""
    browser_title = f"{one_line(showable(title), _TAB)} – Forky"
    if browser_title != tab.browser_title:
        tab.browser_title = browser_title
        st.set_page_config(page_title=browser_title)


def _draw_trashed(forky: Workspace, tab: TabSession, chat: Conversation) -> None:
    """Keys: `trashed.back`."""
    moved = forky.store.operations(chat.id, limit=1)[0].summary == _MOVED_AWAY
    why = f"{_MOVED_AWAY}: this is what was left here" if moved else "This conversation is in the trash"
    with st.container(key="trashed", horizontal=True, vertical_alignment="center"):
        st.markdown(f"{why}. It can be read, and nothing can be added.", width="stretch")
        if is_editor(chat):
            _draw_taking_back(tab, chat)


def _draw_taking_back(tab: TabSession, chat: Conversation) -> None:
    button("Take it back", "trashed.back", _take_back, tab, chat, icon="restore_from_trash")


def _take_back(tab: TabSession, chat: Conversation) -> None:
    with saying(tab):
        done(tab, chat.take_back())


def last_shown(forky: Workspace, tab: TabSession) -> Conversation | None:
    """The conversation this tab showed last, for pages that belong to none."""
    if tab.conversation is None:
        return None
    try:
        chat = forky.conversation(tab.conversation)
    except ForkyError:
        return None
    return None if chat.view.trashed else chat


def _said(gesture: tuple[Operation, ...], inside: str) -> str | None:
    return plain_summary(gesture[0].summary) + inside if gesture else None


def _own(forky: Workspace, gesture: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """A gesture, if it is the reader's own; else nothing."""
    own = {forky.actor, forky.name_of(forky.actor)}
    return gesture if all(operation.actor in own for operation in gesture) else ()


def _undo(tab: TabSession, chat: Conversation | None, drawn: int) -> None:
    """`drawn` is the version of the conversation at which the button said what it takes back."""
    if chat is not None:
        with saying(tab):
            _require_as_said(chat, drawn)
            done(tab, chat.undo())
            _stay_where_it_is(chat)


def _redo(tab: TabSession, chat: Conversation | None, drawn: int) -> None:
    if chat is not None:
        with saying(tab):
            _require_as_said(chat, drawn)
            done(tab, chat.redo())
            _stay_where_it_is(chat)


def _require_as_said(chat: Conversation, drawn: int) -> None:
    others = chat.history.by_others(drawn)
    if others:
        raise InTheWay(
            f"Somebody else was first: {plain_sentence(others[-1])}",
            "Look at what the button takes back now.",
        )


def _stay_where_it_is(chat: Conversation) -> None:
    """A message that undo took out of sight can be no place to be at."""
    asked = st.query_params.get("m")
    if asked and not any(id.removeprefix("b2:").startswith(asked) for id in chat.visible.messages):
        del st.query_params["m"]
