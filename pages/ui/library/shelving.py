"""The lines of the Library with their actions: open, rename, export, move to the trash, restore, delete for good."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationSummary
from forky_core.views.shelf import Shelf, ShelfLine, count, shelf, title_or_placeholder
from pages.ui.components.buttons import quiet_button, submit_button
from pages.ui.components.choices import confirm
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.frame import saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.library.sharing import share
from pages.ui.people.who_sees import mark_button, who_sees
from pages.ui.person import Viewer, viewer
from pages.ui.session import TabSession


def draw_lines(forky: Workspace, tab: TabSession, listed: Shelf, *, key: str = "library-lines") -> None:
    """Draw a page of the list, in a container of the key `key`. Keys: `library.` with `sees.<id>`, `rename.<id>`,
    `export.<id>`, `delete.<id>`, `page`.
    """
    who = viewer()
    news = who.news_in([(line.summary.id, line.summary.updated) for line in listed.lines])
    with st.container(key=key, gap=None):
        for line in listed.lines:
            _draw_line(forky, tab, who, line, news.get(line.summary.id))
    if listed.pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.pagination(listed.pages, key="library.page")
            st.caption(count(listed.fitting, "conversation"), width="content")


def _draw_line(forky: Workspace, tab: TabSession, who: Viewer, line: ShelfLine, news: int | None) -> None:
    id = line.summary.id
    with st.container(key=f"row-{id}", horizontal=True, vertical_alignment="center"):
        chat_link(line.title, id, line.summary.branch)
        if news is not None:
            st.html(f'<span class="fk-new">{f"{news} new" if news else "New"}</span>', width="content")
        if line.summary.program:
            st.caption(plain_label(line.summary.program, 40), width="content")
        st.caption(f"{line.counts} · {line.when}", width="content")
        mark = who.mark(id)
        if mark is not None and mark_button(mark, key=f"library.sees.{id}"):
            who_sees(who, tab, forky.conversation(id))
        changes = who.may("edit", id)
        if changes and quiet_button("Rename", f"library.rename.{id}", icon="edit", help="Rename"):
            _rename(forky, tab, line.summary)
        if quiet_button("Export or share", f"library.export.{id}", icon="ios_share", help="Export or share"):
            share(forky, forky.conversation(id))
        if changes:
            quiet_button(
                "Move to the trash",
                f"library.delete.{id}",
                _trash,
                forky,
                tab,
                line.summary,
                icon="delete",
                help="Move to the trash",
            )


def _trash(forky: Workspace, tab: TabSession, summary: ConversationSummary) -> None:
    with saying(tab):
        operation = forky.conversation(summary.id).trash()
        tab.say(
            f"Moved “{title_or_placeholder(summary.title)}” to the trash.", (summary.id, operation.number)
        )


@st.dialog("Rename", icon=":material/edit:")
def _rename(forky: Workspace, tab: TabSession, summary: ConversationSummary) -> None:
    with kept_fields("title", summary.id), st.form("rename", border=False):
        st.text_input("Title", summary.title, key="rename.title", max_chars=200)
        if submit_button("Rename", "rename.save", _save_title, forky, tab, summary):
            st.rerun()


def _save_title(forky: Workspace, tab: TabSession, summary: ConversationSummary) -> None:
    with saying(tab):
        done(tab, forky.conversation(summary.id).rename(st.session_state["rename.title"] or ""))


def draw_trash(forky: Workspace, tab: TabSession, trashed: Sequence[ConversationSummary]) -> None:
    """Keys: `trash.back.<id>`, `trash.purge.<id>`, `trash.page`."""
    if not trashed:
        st.caption("The trash is empty. What is deleted in the Library waits here to be taken back.")
        return
    listed = shelf(trashed, now=now(), page=int(st.session_state.get("trash.page", 1)))
    with st.container(key="library-lines-trash", gap=None):
        for line in listed.lines:
            _draw_trashed(forky, tab, line)
    if listed.pages > 1:
        st.pagination(listed.pages, key="trash.page")


def _draw_trashed(forky: Workspace, tab: TabSession, line: ShelfLine) -> None:
    id = line.summary.id
    with st.container(key=f"row-{id}", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(line.title), width="stretch")
        st.caption(f"{line.counts} · deleted {line.when}", width="content")
        who = viewer()
        if who.may("edit", id):
            st.button(
                "Take back",
                key=f"trash.back.{id}",
                icon=":material/restore_from_trash:",
                on_click=_take_back,
                args=(forky, tab, line.summary),
            )
        if who.may("own", id) and quiet_button(
            "Delete for good", f"trash.purge.{id}", icon="delete_forever", help="Delete for good"
        ):
            _purge(forky, tab, line)


def _take_back(forky: Workspace, tab: TabSession, summary: ConversationSummary) -> None:
    with saying(tab):
        forky.conversation(summary.id).take_back()
        tab.say(f"“{title_or_placeholder(summary.title)}” is back in the Library.")


@st.dialog("Delete for good", icon=":material/delete_forever:")
def _purge(forky: Workspace, tab: TabSession, line: ShelfLine) -> None:
    st.markdown(f"**{plain_label(line.title)}** – {line.counts}")
    st.caption("Its messages, branches and history leave the database. Nothing brings them back.")
    keep = ("Keep it", "purge.keep")
    confirm("Delete for good", "purge.yes", _delete, forky, tab, line, keep=keep)


def _delete(forky: Workspace, tab: TabSession, line: ShelfLine) -> None:
    with saying(tab):
        forky.purge(line.summary.id)
        tab.say(f"“{line.title}” was deleted for good.")
