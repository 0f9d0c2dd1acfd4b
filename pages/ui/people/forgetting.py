"""The dialog by which somebody is forgotten: what goes, what stays, and who gets their conversations."""

from __future__ import annotations

import streamlit as st

from forky_core.gateway.forgetting import forget_person
from forky_core.model.errors import BadContent
from pages.ui.components.choices import confirm
from pages.ui.frame import saying
from pages.ui.people.choosing import named
from pages.ui.people.style import who
from pages.ui.person import Administration, Member
from pages.ui.session import TabSession
from pages.ui.workspace import whole_workspace

_OWNERS = ""


@st.dialog("Forget somebody", icon=":material/person_off:")
def forget(people: Administration, tab: TabSession, member: Member) -> None:
    """Keys: `forget.to`, `forget.typed`, `forget.keep`, `forget.yes`."""
    me = member.id == people.me.id
    st.html(who(member.name, f"{member.handle} · {member.role.word}", tag="You" if me else ""))
    whose = "Your" if me else "Their"
    st.caption(
        f"{whose} name, address, browsers, ways to sign in, tokens and drafts are gone for good, and an invitation brings "
        "none of it back. What was said stays and is by “Somebody who left”; erase a message first whose words should go. "
        "Backups keep all of it."
    )
    others = {one.id: named(one) for one in people.members() if one.id != member.id}
    st.selectbox(
        f"Who gets {whose.lower()} conversations",
        [_OWNERS, *others],
        key="forget.to",
        format_func=lambda id: others.get(id, "The owners of this workspace"),
    )
    st.text_input(f"Type {member.handle} to do it", key="forget.typed", max_chars=60, autocomplete="off")
    keep = ("Keep the name", "forget.keep")
    confirm("Forget", "forget.yes", _forget, people, tab, member, keep=keep)


def _forget(people: Administration, tab: TabSession, member: Member) -> None:
    with saying(tab):
        people.may_forget(member.id)
        if str(st.session_state.get("forget.typed") or "").strip().lower() != member.handle:
            raise BadContent("That is not the handle.", f"Type {member.handle} to do it. Nothing was done.")
        to = str(st.session_state.get("forget.to") or _OWNERS)
        forget_person(people.team, member, by=people.me.id, to=to, whole=whole_workspace())
        tab.say(f"{member.name} is forgotten.")
