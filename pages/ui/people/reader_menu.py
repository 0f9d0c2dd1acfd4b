"""Who is signed in, at the end of the title bar of every page of a team's server, with the ways to oneself, to other
workspaces, and out.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.gateway.access.door import OUT
from forky_core.team.team_workspaces import TeamWorkspace, base_path
from forky_core.team.workspace_desk import WorkspaceDesk
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label, showable
from pages.ui.made_pages import linked
from pages.ui.people.workspaces import desk_of
from pages.ui.workspace import Reader, reader


def draw_reader() -> None:
    """Draw nothing on the server of one person. Keys: `bar.workspace`, `bar.reader`."""
    who = reader()
    if who is None:
        return
    desk = desk_of(who)
    if desk is not None and len(desk.mine) > 1:
        _draw_switcher(who, desk)
    me = who.access.member
    with st.popover(
        plain_label(me.name, 30), key="bar.reader", type="tertiary", icon=":material/account_circle:"
    ):
        st.caption(f"Signed in as {plain_label(me.handle, 40)}, {me.role.word} of this workspace")
        st.page_link(
            linked("people.py"),
            label="You and your browsers",
            icon=":material/person:",
            query_params={"tab": "me"},
        )
        st.page_link(linked("people.py"), label="Everybody here", icon=":material/group:")
        if desk is not None:
            st.page_link(
                linked("people.py"),
                label="Workspaces",
                icon=":material/workspaces:",
                query_params={"tab": "workspaces"},
            )
        st.html(f'<a class="fk-leave" href="{OUT}" target="_self">Sign out</a>')


def _draw_switcher(who: Reader, desk: WorkspaceDesk) -> None:
    """The workspace of this page, which opens the list of all that its reader may enter, with what is new in them.

    Each is a link, since the address names the workspace: it can be opened in a tab of its own.
    """
    mine = desk.mine
    here = who.team.workspace
    title = next(one.title for one, _ in mine if one.id == here)
    unread = {one.id: who.team.of(one.id).inbox.unread(who.access.id) for one, _ in mine if one.id != here}
    new = sum(unread.values())
    with st.popover(
        (f":primary-badge[{new}] " if new else "") + plain_label(title, 24),
        key="bar.workspace",
        type="tertiary",
        icon=":material/workspaces:",
        help=f"{count(new, 'notice')} in other workspaces" if new else None,
    ):
        st.caption("Workspaces")
        listed = "".join(_entry(one, here, unread.get(one.id, 0)) for one, _ in mine)
        st.html(f'<nav class="fk-workspaces" aria-label="Workspaces">{listed}</nav>')


def _entry(one: TeamWorkspace, here: str, unread: int) -> str:
    title = escape(showable(one.title))
    if one.id == here:
        return f'<span aria-current="page">{title}</span>'
    page, new = ("inbox", f" <small>{unread} new</small>") if unread else ("", "")
    return f'<a class="fk-leave" href="{base_path(one.id)}/{page}" target="_self">{title}{new}</a>'
