"""People: who takes part, who is invited, oneself, spending, and the audit log. Only a team's server has this page.

The frame is the workspace and what the tab holds, the view model is what the viewer may see of the team's people, and
pages/ui/people draws it.
"""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from pages.ui.components.lists import apply_list_style
from pages.ui.components.undoing import last_shown, page_top
from pages.ui.page import Page
from pages.ui.people.audit import draw_audit
from pages.ui.people.invitations import draw_invitations
from pages.ui.people.members import draw_members
from pages.ui.people.myself import draw_myself
from pages.ui.people.no_longer_used import draw_no_longer_used
from pages.ui.people.spending import draw_spending
from pages.ui.people.style import apply_people_style
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

PAGE = Page(title="People", icon="group", order=75, section="You", about_conversation=False, of_team=True)

_TABS = {
    "members": "Members",
    "invitations": "Invitations",
    "me": "You",
    "spending": "Spending",
    "audit": "Audit log",
}
_OWNERS_TABS = {"invitations", "audit"}
ABOUT = "Who works here and what each may do, what was spent, and your own account."


def main() -> None:
    who = viewer()
    forky, tab = workspace(), session()
    people = who.administration
    apply_list_style()
    apply_people_style()
    page_top("People", forky, tab, last_shown(forky, tab), names_it=True, about=ABOUT)
    hidden = set() if people.owns else _OWNERS_TABS
    with st.container(key="column-people", gap="small"):
        draw_no_longer_used()
        match _tab(hidden):
            case "invitations":
                draw_invitations(people, tab)
            case "me":
                draw_myself(people, who.session, tab)
            case "spending":
                draw_spending(who.spending(forky.book), tab)
            case "audit":
                draw_audit(people, forky)
            case _:
                draw_members(people, tab)


def _tab(hidden: Collection[str]) -> str:
    """Keys: `people.tab`. The address names the tab, so that a link leads to it."""
    shown = [name for name in _TABS if name not in hidden]
    named = st.query_params.get("tab", "")
    if st.session_state.get("people.tab") not in shown:
        st.session_state["people.tab"] = named if named in shown else "members"
    chosen = st.segmented_control(
        "Part of the page",
        shown,
        key="people.tab",
        required=True,
        format_func=_TABS.__getitem__,
        label_visibility="collapsed",
    )
    return str(chosen)


main()
