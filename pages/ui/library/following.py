"""The part of the Library that follows folders in which programs of agents keep their sessions."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.formats.importing.folder_follower import FolderFollower
from forky_core.formats.importing.followed_folders import FollowedFolder, known_places
from forky_core.views.times import ago
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.frame import saying
from pages.ui.session import TabSession
from pages.ui.workspace import follower

_ANOTHER = "Another folder …"
_LOOK_EVERY = 5.0
"""Seconds between two updates of what was heard."""


def draw_following(tab: TabSession) -> None:
    """Draw what is followed, and the choice of more. Keys: `follow.` with `where`, `path`, `begin`, `stop.<n>`."""
    follows = follower()
    if follows is None:
        return
    st.markdown("## Sessions of agents")
    st.caption(
        "The sessions that programs keep on this machine come in while they are written, as long as Forky runs."
    )
    folders = follows.folders()
    if folders:
        st.fragment(run_every=_LOOK_EVERY)(_draw_followed)(tab, follows)
    followed = {folder.path for folder in folders}
    places = {
        f"{name} · {path}": str(path)
        for name, path in known_places().items()
        if str(path.resolve()) not in followed
    }
    with st.container(key="line-follow", horizontal=True, vertical_alignment="bottom"):
        where = st.selectbox("Folder", [*places, _ANOTHER], key="follow.where", format_func=showable)
        if where == _ANOTHER:
            st.text_input("Its path", key="follow.path", placeholder=str(Path("~") / "sessions"))
        button("Follow", "follow.begin", _follow, tab, follows, places)


def _draw_followed(tab: TabSession, follows: FolderFollower) -> None:
    for number, folder in enumerate(follows.folders()):
        with st.container(key=f"row-follow-{number}", horizontal=True, vertical_alignment="center"):
            st.markdown(plain_label(folder.path, 200), width="stretch")
            st.caption(plain_label(_state(folder), 300), width="content")
            quiet_button(
                "Stop following",
                f"follow.stop.{number}",
                _stop,
                tab,
                follows,
                folder.path,
                icon="close",
                help="Stop following; what came in stays",
            )


def _state(folder: FollowedFolder) -> str:
    if folder.problem:
        return folder.problem
    return f"last heard {ago(folder.heard, now())}" if folder.heard else "nothing new yet"


def _follow(tab: TabSession, follows: FolderFollower, places: dict[str, str]) -> None:
    where = st.session_state["follow.where"]
    with saying(tab):
        folder = follows.follow(places.get(where) or st.session_state.get("follow.path", ""))
        tab.say(f"What is new in {folder.path} comes in from now on.")


def _stop(tab: TabSession, follows: FolderFollower, path: str) -> None:
    with saying(tab):
        follows.forget(path)
        tab.say("It is followed no more; what came in stays.")
