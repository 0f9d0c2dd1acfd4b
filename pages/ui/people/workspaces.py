"""The part of the People page about workspaces: enter, make, rename, leave, hand over and archive one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.model.errors import ForkyError
from forky_core.settings import Settings
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import WORKSPACE, TeamWorkspace, base_path
from forky_core.team.workspace_desk import WorkspaceDesk
from forky_core.views.times import ago
from pages.ui.components.markdown import plain_label, showable
from pages.ui.frame import saying
from pages.ui.people.choosing import choose_member
from pages.ui.session import Session
from pages.ui.workspace import Reader, other_workspaces

_AWAY = "people.workspace.away"
"""Whether the workspace of the dialog was just archived or left, so that the dialog has nothing to show any more."""
_REFUSED = "people.workspace.refused"


def desk_of(who: Reader) -> WorkspaceDesk | None:
    """What the reader may do about workspaces; None where there is only one."""
    settings = Settings.from_environment()
    if settings.workspaces is None:
        return None
    return WorkspaceDesk(
        who.team,
        who.access.id,
        makes=settings.make_workspaces,
        personal=settings.personal_workspaces,
    )


def draw_workspaces(who: Reader, desk: WorkspaceDesk, held: Session) -> None:
    """Keys: `people.workspace.` with `own`, `title`, `make`, `again.<id>`, and those of `_draw_row`."""
    st.caption(
        "A workspace has conversations, documents, members, models and tokens of its own. Nothing in one is seen in "
        "another, unless somebody moves a conversation."
    )
    with st.container(key="workspaces", gap=None):
        for workspace, role in desk.mine:
            _draw_row(who, desk, held, workspace, role)
    if desk.may_have_own:
        st.button(
            "Begin a workspace of your own",
            key="people.workspace.own",
            icon=":material/person:",
            help="For what nobody else is to see, not even the owners of the other workspaces",
            on_click=_make_own,
            args=(desk, held),
        )
    if desk.may_make:
        _draw_form(desk, held)
    archived = desk.archived
    if archived:
        st.markdown("#### Archived")
        st.caption("Nobody sees these until one of their owners opens them again.")
        with st.container(key="workspaces-archived", gap=None):
            for workspace in archived:
                with st.container(
                    key=f"row-workspace-{workspace.id}", horizontal=True, vertical_alignment="center"
                ):
                    st.html(_named(workspace, f"archived {ago(workspace.archived, now())}"))
                    st.button(
                        "Open again",
                        key=f"people.workspace.again.{workspace.id}",
                        type="tertiary",
                        icon=":material/unarchive:",
                        on_click=_done,
                        args=(
                            held,
                            f"“{workspace.title}” is open again.",
                            partial(desk.open_again, workspace.id),
                        ),
                    )


def _draw_row(who: Reader, desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace, role: Role) -> None:
    """Keys: `people.workspace.change.<id>`."""
    here = workspace.id == who.team.workspace
    with st.container(key=f"row-workspace-{workspace.id}", horizontal=True, vertical_alignment="center"):
        about = "only you" if workspace.personal else f"you are {role.phrase}"
        st.html(_named(workspace, about, tag="Here" if here else "", link=not here))
        if st.button(
            "Change …",
            key=f"people.workspace.change.{workspace.id}",
            type="tertiary",
            icon=":material/tune:",
            help=f"Rename, hand over, leave or archive {plain_label(workspace.title, 60)}"
            if role is Role.OWNER
            else f"Leave {plain_label(workspace.title, 60)}",
        ):
            _change(who, desk, held, workspace, role)


def _named(workspace: TeamWorkspace, about: str, *, tag: str = "", link: bool = False) -> str:
    """HTML of a workspace: a mark, its title, which leads into it, and a quiet line below."""
    title = escape(showable(workspace.title))
    if link:
        title = f'<a href="{base_path(workspace.id)}/" target="_self">{title}</a>'
    marked = f'<span class="fk-tag">{escape(tag)}</span>' if tag else ""
    mark = "○" if workspace.personal else "◎"
    return (
        f'<div class="fk-who"><span class="fk-disc" aria-hidden="true">{mark}</span>'
        f"<div><b>{title}</b>{marked}<small>{escape(about)}</small></div></div>"
    )


def _draw_form(desk: WorkspaceDesk, held: Session) -> None:
    with st.form("people.workspace", border=False):
        st.text_input(
            "A new shared workspace",
            key="people.workspace.title",
            placeholder="What it is for",
            max_chars=80,
            help="You are its first owner, and invite others in it",
        )
        if refused := held.choices.pop(_REFUSED, None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        st.form_submit_button(
            "Make it", key="people.workspace.make", icon=":material/add:", on_click=_make, args=(desk, held)
        )


def _make(desk: WorkspaceDesk, held: Session) -> None:
    """What is refused says so beside the button, and keeps what was entered."""
    try:
        made = desk.make(str(st.session_state["people.workspace.title"] or ""))
    except ForkyError as error:
        held.choices[_REFUSED] = str(error)
        return
    st.session_state["people.workspace.title"] = ""
    held.say(f"“{made.title}” is made. Its title leads into it.")


def _make_own(desk: WorkspaceDesk, held: Session) -> None:
    with saying(held):
        desk.make_own()
        held.say("Your own workspace is there. Its title leads into it.")


@st.dialog("Change a workspace", icon=":material/tune:")
def _change(who: Reader, desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace, role: Role) -> None:
    draw_change(who, desk, held, workspace, role)


def draw_change(
    who: Reader, desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace, role: Role
) -> None:
    """Keys: `workspace.` with `title`, `rename`, `to`, `hand`, `leave`, `archive`."""
    if st.session_state.pop(_AWAY, False):
        st.rerun()
    st.html(_named(workspace, "only you" if workspace.personal else f"you are {role.phrase}"))
    if role is Role.OWNER:
        title = st.text_input("Title", workspace.title, key="workspace.title", max_chars=80)
        rename = partial(_done, held, "It has another title now.", partial(desk.rename, workspace.id, title))
        if st.button("Rename", key="workspace.rename", on_click=rename, disabled=title == workspace.title):
            st.rerun()
    if role is Role.OWNER and not workspace.personal:
        _draw_handing_over(who, desk, held, workspace)
    if not workspace.personal:
        st.caption(
            "Whoever leaves sees nothing of it any more. What they wrote stays, under their name; an invitation brings "
            "them back."
        )
        left = partial(_leave, desk, held, workspace)
        with st.popover("Leave …", icon=":material/door_open:"):
            if st.button(f"Leave “{plain_label(workspace.title, 60)}”", key="workspace.leave", on_click=left):
                st.rerun()
    if role is Role.OWNER and workspace.id != WORKSPACE:
        st.caption("An archived workspace is closed to everybody until one of its owners opens it again.")
        away = partial(_archive, desk, held, workspace)
        if st.button("Archive", key="workspace.archive", icon=":material/archive:", on_click=away):
            st.rerun()


def _draw_handing_over(who: Reader, desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace) -> None:
    members = who.team.of(workspace.id).members.all()
    others = [one for one in members if one.id != who.access.id]
    if not others:
        return
    to = choose_member(
        "Hand it over to",
        others,
        key="workspace.to",
        placeholder="Choose a member",
        help="They become an owner, and you an editor",
    )
    give = partial(_done, held, "It is handed over.", partial(desk.hand_over, workspace.id, to or ""))
    if st.button("Hand over", key="workspace.hand", on_click=give, disabled=to is None):
        st.rerun()


def _leave(desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace) -> None:
    with saying(held):
        desk.leave(workspace.id)
        held.say(f"You left “{workspace.title}”.")
        st.session_state[_AWAY] = True


def _archive(desk: WorkspaceDesk, held: Session, workspace: TeamWorkspace) -> None:
    with saying(held):
        desk.archive(workspace.id)
        others = other_workspaces()
        if others is not None:
            others.drop(workspace.id)
        held.say(f"“{workspace.title}” is archived.")
        st.session_state[_AWAY] = True


def _done(held: Session, sentence: str, change: Callable[[], None]) -> None:
    with saying(held):
        change()
        held.say(sentence)
