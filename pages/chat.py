"""The notebook: one path of the conversation as cells, the graph beside it, the composer below.

The frame is the place that the address names, the view model is the notebook of one path and the graph beside it
(views/notebook.py, views/graph.py), and pages/ui/chat draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from forky_core.conversation.identity import now
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model import Message, MessageId
from forky_core.render.trees import Tree
from forky_core.views.captions import code_of, opening_of
from forky_core.views.layout.colors import branch_colors
from forky_core.views.notebook import Cell
from forky_core.views.places import branch_for, later_on
from forky_core.views.shelf import first_after_fork, forked_from, title_or_placeholder
from forky_core.views.times import ago
from forky_core.views.together import answers_together
from pages.ui.chat.acting import BRANCH, act_on, made_last
from pages.ui.chat.acts import FORKING, READING, hear_acts
from pages.ui.chat.ahead import draw_ahead
from pages.ui.chat.arrival import Arrival
from pages.ui.chat.branchbar import carry_out, draw_branchbar, offered_in_menu
from pages.ui.chat.cells import Look, cell_tree, draw_cell
from pages.ui.chat.composer import draw_composer
from pages.ui.chat.erasing import confirm_erasure
from pages.ui.chat.forms import FORMS, confirm_prune, draw_form
from pages.ui.chat.news import arrive, draw_news, draw_so_far, note_seen
from pages.ui.chat.notebook import draw_cells
from pages.ui.chat.picks import draw_marks, draw_picks
from pages.ui.chat.presence import draw_presence
from pages.ui.chat.reply import draw_elsewhere, draw_tail, draw_unanswered
from pages.ui.chat.reverting import confirm_revert, draw_unresolved, settle
from pages.ui.chat.side import draw_pane, draw_side, draw_whole_map, pane, shows_whole_map
from pages.ui.chat.starters import draw_about_example, draw_nothing_said, draw_nothing_yet
from pages.ui.chat.style import apply_chat_style
from pages.ui.chat.threads import open_named_thread, thread_counts
from pages.ui.chat.together import draw_together
from pages.ui.chat.window import book_of, draw_earlier, draw_later, more_of, window_anchor
from pages.ui.components.live_updates import hear_moves, written
from pages.ui.components.models import label_of
from pages.ui.components.only_reading import draw_only_reads, may_write, why_only_reads
from pages.ui.components.showing import present_address
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, locate
from pages.ui.library.broken_off import draw_broken_off_hint
from pages.ui.page import Page
from pages.ui.person import names_themselves
from pages.ui.session import session
from pages.ui.workspace import workspace

PAGE = Page(title="Chat", icon="account_tree", order=10)


def main() -> None:
    apply_chat_style()
    here = _looked_at(locate())
    if here is None:
        _draw_nothing()
        return
    version, replies = here.chat.view.version, written(here.chat)
    only_reads, writes = bool(why_only_reads(here.chat)), may_write(here.chat, here.chat.branch_name)
    job = here.chat.replies.current if here.at == here.chat.branch.head else None
    open_named_thread(here)
    news = arrive(here)
    # Laid out from the top, filled in the order in which it is waited for: the browser draws what has arrived.
    top = st.container(key="chat-top", horizontal=True, vertical_alignment="center")
    body = st.container(key=f"chat-body-{pane(here)}")
    hear_acts(
        lambda act: act_on(here, act),
        key="chat.acts",
        place=window_anchor(here),
        at=here.at or "",
        end=here.at_head,
        follow=here.at_head,
        copied=here.session.copied,
        form=_open_form(here, BRANCH),
        present=present_address(here.chat),
        offered=READING if only_reads else None if writes else FORKING,
    )
    # A browser opens six connections to a server. Where nobody else is, a tab that a reply is streamed to needs no
    # second one: it is drawn anew when the reply has ended.
    if job is None or not names_themselves() or here.chat.people.room.people:
        hear_moves(here.chat, version=version, replies=replies)
    beside = None
    if shows_whole_map():
        with top:
            _draw_top(here)
            draw_news(here, news)
        with body:
            draw_whole_map(here)
    else:
        beside = _draw_columns(here, top, body, job, news)
    act, of = here.session.acting or ("", None)
    if act == "prune" and of is not None:
        confirm_prune(here, of)
    elif act == "revert" and of is not None:
        confirm_revert(here, of)
    elif act == "erase" and of is not None:
        confirm_erasure(here, of)
    elif act == "settle":
        settle(here)
    elif act == "original":
        from pages.ui.chat.original import show_original  # noqa: PLC0415 - it loads a client for HTTP

        show_original(here)
    if beside is not None:
        draw_ahead(here, *beside)
    note_seen(here, news, version)


def _draw_columns(
    here: Frame, top: DeltaGenerator, body: DeltaGenerator, job: ReplyJob | None, news: Arrival | None
) -> tuple[Sequence[Cell], Look] | None:
    with body:
        left, right = st.columns((1.55, 1), gap="medium")
    with left, st.container(key="chat-cells"):
        # In a container of its own: the composer keeps its place, and with it what is being typed.
        path, composer = st.container(key="chat-path"), st.container(key="chat-ask")
    # First of all: whoever sees another conversation must not send a question from the field of the one before, nor one
    # below an older head whose question is said to be stored.
    with composer:
        if not draw_only_reads(here.chat):
            draw_composer(here, here.chat.branch)
    with path:
        beside = _draw_path(here, job)
        draw_so_far(here, news)
    with top:
        _draw_top(here)
        draw_news(here, news)
    with right, st.container(key="chat-side"):
        draw_side(here)
    return beside


def _draw_top(here: Frame) -> None:
    act = page_top(
        title_or_placeholder(here.chat.title),
        here.forky,
        here.session,
        here.chat,
        offered=offered_in_menu(here),
        beside=lambda: draw_branchbar(here),
    )
    carry_out(here, act)
    draw_presence(here)
    with st.container(key="line-pane", width="content"):
        draw_pane(here)
    draw_broken_off_hint(here.forky, here.session)


def _looked_at(here: Frame | None) -> Frame | None:
    """A link may name a message alone: then it is looked at from a branch that leads there."""
    if here is None or here.at is None or "m" not in st.query_params or "b" in st.query_params:
        return here
    name = branch_for(here.at, here.chat.view, here.chat.visible, here.chat.branch_name)
    here.session.branch = name
    return replace(here, chat=here.chat.checkout(name))


def _draw_nothing() -> None:
    forky, tab = workspace(), session()
    with st.container(key="chat-top", horizontal=True, vertical_alignment="center"):
        page_top("Forky", forky, tab, None)
    draw_broken_off_hint(forky, tab)
    draw_nothing_yet(forky, tab)


def _draw_path(here: Frame, job: ReplyJob | None) -> tuple[Sequence[Cell], Look] | None:
    """Draw everything above the composer and return the cells with their look, if nothing is being written there."""
    drawn = _draw_cells(here, job)
    if job is None:
        draw_about_example(here)
    draw_elsewhere(here)
    draw_marks(here)
    if not why_only_reads(here.chat):
        draw_unresolved(here)
        draw_picks(here)
    return drawn if job is None else None


def _draw_cells(here: Frame, job: ReplyJob | None) -> tuple[Sequence[Cell], Look] | None:
    # First of all, since the path of a long conversation would otherwise be read from the file on its own.
    messages = here.chat.visible.messages
    path = here.chat.path(job.place.parent if job is not None else here.at) if here.at else ()
    if not path:
        draw_nothing_said(here)
        return None
    together = (
        answers_together(path, here.chat.calls.generations, here.listed, here.branch_names())
        if here.at_head
        else ()
    )
    form = _open_form(here)
    book = book_of(here, path, more=more_of(here), keep=None if form is None else form[1])
    look = Look(
        lambda name: label_of(here.forky.models, name),
        here.forky.store.blob,
        here.at,
        here.chat.id,
        here.session.picks,
        (here.session.mark_a, here.session.mark_b),
        lambda id: opening_of(messages.get(id), here.chat.people.author_of),
        lambda id: code_of(messages.get(id)),
        branch_colors(here.chat.view.branches),
        (lambda _id: "") if names_themselves() else here.chat.people.author_of,
        None if names_themselves() else thread_counts(here),
        here.chat.view.erasures.get,
        here.forky.name_of,
        bool(why_only_reads(here.chat)),
        made_last(here),
        may_write(here.chat, here.chat.branch_name),
        _fork(here, path),
    )
    with st.container(key="chat-earlier-slot"):
        draw_earlier(here, book, path[0].id)
    pages = book.pages()
    if together and path[-1].role != "user":
        pages = (*pages[:-1], pages[-1][:-1])
    _draw_pages(here, pages, look)
    if together:
        draw_together(here, together, lambda cell, number: _draw_page(here, [cell], look, number))
    else:
        draw_tail(here, job)
    if job is None:
        draw_unanswered(here, book, may_ask=look.writes)
    if not here.at_head and here.at is not None:
        draw_later(here, later_on(here.at, here.chat.branch.head, here.chat.visible))
    return book.cells, look


def _fork(here: Frame, path: Sequence[Message]) -> tuple[MessageId | None, str]:
    """Of a fork, its first message of its own, and a sentence about where what is above that comes from."""
    view = here.chat.view
    own = first_after_fork(view, [one.id for one in path])
    if own is None:
        return None, ""
    (first,) = here.forky.store.stretch_of_log(here.chat.id, after=0, most=1)
    return own, forked_from(view, ago(first.at, now()))


def _draw_pages(here: Frame, pages: Sequence[Sequence[Cell]], look: Look, *, newest: bool = True) -> None:
    """The newest page beside a container that holds all earlier ones: what comes in above moves nothing below it."""
    with st.container():
        before = st.container()
        drawn = _draw_page(here, pages[-1], look, len(pages))
        if newest:
            _clear_after(here, drawn)
    if len(pages) > 1:
        with before:
            _draw_pages(here, pages[:-1], look, newest=False)


def _draw_page(here: Frame, page: Sequence[Cell], look: Look, number: int) -> int:
    """Draw cells, as many as can be in one element, and return how many elements they are."""
    drawn = 0
    together: list[tuple[MessageId, Tree]] = []

    def flush_cells() -> None:
        nonlocal drawn
        if together:
            draw_cells(together, key=f"chat.cells.{number}.{drawn}", switches=here.session.switches)
            together.clear()
            drawn += 1

    for cell in page:
        tree = cell_tree(cell, look)
        if tree is not None:
            together.append((cell.message.id, tree))
        else:
            flush_cells()
            draw_cell(cell, look)
            drawn += 1
        form = _open_form(here)
        if form is not None and form[1] == cell.message.id:
            flush_cells()
            draw_form(here, form[0], cell.message)
            drawn += 1
    flush_cells()
    return drawn


def _clear_after(here: Frame, elements: int) -> None:
    """Streamlit takes away what an earlier run drew when a run has ended; a longer path's cells should go at once."""
    for _ in range(elements, here.session.cells):
        st.empty()
    here.session.cells = elements


def _open_form(here: Frame, *others: str) -> tuple[str, MessageId] | None:
    """Which form, or which of `others`, on which message."""
    acting = here.session.acting
    return acting if acting is not None and acting[0] in {*FORMS, *others} else None


main()
