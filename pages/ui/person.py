"""Who sits at this browser: what they may do, and what they chose for it.

`viewer` is all that pages know of a team; what it answers with is named here, and no other page imports it from the
library. Somebody without a team may give any name, which proves nothing. The browser keeps it in a cookie
(ui/streamlit_patches/browser_fixes.py) and sends it when a tab is opened; it is read once, and looked at like anything
that is typed.
"""

# mypy: implicit-reexport

from __future__ import annotations

from contextlib import suppress
from urllib.parse import unquote

import streamlit as st

from forky_core.forky import Forky
from forky_core.gateway.access.person import SESSION
from forky_core.model.errors import ForkyError
from forky_core.model.room import fit_name
from forky_core.people.account import OWNERS_HOURS
from forky_core.people.administration import Administration
from forky_core.people.allowance_desk import AllowanceDesk, MemberAccount
from forky_core.people.allowances import EVERYBODY, Field, Fields, allowance_text
from forky_core.people.audit import AuditFilter
from forky_core.people.conversation_sharing import GIVEN, ConversationSharing
from forky_core.people.conversation_threads import LONGEST_COMMENT, ConversationThreads, threads_file
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.inbox import Notice
from forky_core.people.invitations import DAYS, MOST_DAYS, MOST_USES, Invitation
from forky_core.people.members import GONE_ISSUERS, Identity, Member
from forky_core.people.mentions import pieces_of
from forky_core.people.news import News
from forky_core.people.review_lists import WaitingRequest
from forky_core.people.roles import IN_CONVERSATION, IN_WORKSPACE, Role, role_named
from forky_core.people.sharing import SharingMark, Whose
from forky_core.people.stored_drafts import StoredDrafts
from forky_core.people.team_sessions import TeamSession
from forky_core.people.threads import Comment, Thread, ThreadCount
from forky_core.people.viewer import Viewer
from pages.ui.sign_in import team
from pages.ui.workspace import workspace

COOKIE = "forky_person"
OPENER = "forky_opener"
"""The cookie with the secret of the browser that opened polls (ui/vote/opener.py)."""
_ALONE = Viewer()


def viewer() -> Viewer:
    """Who looks at this page.

    Raises:
        StoreError: the database of a team's server cannot be opened.
        NotAllowed: nobody is signed in there.
    """
    if names_themselves():
        return _ALONE
    return viewer_of(workspace(), st.context.headers.get(SESSION.decode()) or "")


def viewer_of(forky: Forky, session: str = "") -> Viewer:
    """Whoever sees this workspace (`seen_by`)."""
    return Viewer(forky.store, session) if isinstance(forky.store, GuardedStore) else _ALONE


def names_themselves() -> bool:
    """Whether readers say who they are; those of a team have signed in as themselves."""
    return team() is None


def kept_person() -> str | None:
    """The name this browser kept; None where there is none that fits, or a team signs in."""
    if not names_themselves():
        return None
    with suppress(ForkyError):
        return fit_name(cookie(COOKIE)) or None
    return None


def cookie(name: str) -> str:
    """What this browser kept under the name; "" where it kept nothing."""
    value: object = st.context.cookies.get(name)
    return unquote(value) if isinstance(value, str) else ""
