"""The list of links: what each shows, how often it was opened and when last, and the button that revokes it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import ForkyError
from forky_core.people.links.link import AUDIENCE, Link, NewLink
from forky_core.people.links.links import Links
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.person import viewer
from pages.ui.workspace import links_of

FRESH = "link.fresh"
"""The key of the session state that holds the link that was just made, or a sentence about what went wrong."""
_ICONS = {"conversation": "forum", "branch": "account_tree", "message": "chat_bubble", AUDIENCE: "slideshow"}


def draw_links(forky: Workspace, listed: Sequence[Link], *, key: str) -> None:
    """The links that are open, each with a button that revokes it, if the reader may. Keys: `<key>.revoke.<id>`."""
    links, at = links_of(forky), now()
    for link in (one for one in listed if one.is_open(at)):
        with st.container(key=f"row-link-{key}-{link.id}", horizontal=True, vertical_alignment="center"):
            icon = _ICONS.get(link.thing, "link")
            st.markdown(f":material/{icon}: {plain_label(link.title, 90)}", width="stretch")
            st.caption(plain_label(_facts(links, link), 200), width="content")
            if viewer().may("edit", link.conversation):
                quiet_button(
                    "Revoke",
                    f"{key}.revoke.{link.id}",
                    _revoke,
                    links,
                    link.id,
                    icon="block",
                    help="Its address leads nowhere from now on",
                )


def draw_links_that_are_over(listed: Sequence[Link]) -> None:
    """How many links expired or were revoked, if any."""
    over = sum(not link.is_open(now()) for link in listed)
    if over:
        st.caption(f"{count(over, 'link')} of yours expired or {'was' if over == 1 else 'were'} revoked.")


def made_by_me(link: Link, name: str | None) -> bool:
    """Whether the reader made a link; on the server of one person, every link is theirs."""
    who = viewer()
    return who.alone or link.by == who.id or (bool(name) and link.by == name)


def _facts(links: Links, link: Link) -> str:
    who = viewer()
    by: list[str] = []
    if not who.alone and link.by != who.id:
        by = [f"by {who.name_of(link.by)}" if link.by else "by the operator"]
    kind = [link.thing, "live" if link.live and link.thing != AUDIENCE else ""]
    until = "closed while in the trash" if links.is_in_trash(link) else f"until {stamp(link.until)}"
    opened = (
        f"opened {count(link.opened, 'time')}, last {stamp(link.last)}" if link.opened else "not opened yet"
    )
    return ", ".join(filter(None, (*kind, *by, until, opened)))


def _revoke(links: Links, id: str) -> None:
    fresh = st.session_state.get(FRESH)
    try:
        links.revoke(id, by=viewer().id)
    except ForkyError as error:
        st.session_state[FRESH] = str(error)
        return
    if isinstance(fresh, NewLink) and fresh.link.id == id:
        del st.session_state[FRESH]
