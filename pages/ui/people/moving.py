"""The part of “Who sees this” that moves a conversation to another workspace."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model import ConversationId
from forky_core.team.roles import Role
from pages.ui.components.markdown import showable
from pages.ui.frame import saying
from pages.ui.people.workspaces import desk_of
from pages.ui.session import Session
from pages.ui.workspace import Reader, whole, whole_here

_MOVED = "sees.moved"


def draw_moving(reader: Reader, held: Session, chat: Conversation) -> None:
    """Draw nothing where the reader may begin conversations in no other workspace.

    Keys: `sees.workspace`, `sees.move`.
    """
    desk = desk_of(reader)
    if st.session_state.pop(_MOVED, False):
        st.rerun()  # The dialog closes: what it is about is elsewhere.
    if desk is None or chat.view.trashed:
        return
    here = reader.team.workspace
    others = {one.id: one for one, role in desk.mine if one.id != here and role >= Role.COMMENTER}
    if not others:
        return
    with st.expander("Move it to another workspace", icon=":material/drive_file_move:"):
        st.caption(
            "It goes with its files, documents, threads and whole history, and belongs to you there; nobody else sees it "
            "until you share it. Links that were given away end. Here it is in the trash."
        )
        to = st.selectbox(
            "Workspace",
            list(others),
            key="sees.workspace",
            index=None,
            placeholder="Choose a workspace",
            format_func=lambda id: showable(others[id].title)[:60],
            label_visibility="collapsed",
        )
        if st.button(
            "Move",
            key="sees.move",
            disabled=to is None,
            on_click=lambda: _move(reader, held, chat.id, str(to), others[str(to)].title),
        ):
            st.rerun()


def _move(reader: Reader, held: Session, chat: ConversationId, to: str, title: str) -> None:
    from forky_core.workspaces.moving import move_conversation  # noqa: PLC0415 - it loads what reads and writes files

    with saying(held):
        move_conversation(chat, reader.access.id, whole_here(), reader.team, whole(to), reader.team.of(to))
        held.say(f"It is in “{title}” now, with all its ids.")
        st.session_state[_MOVED] = True
