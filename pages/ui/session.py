"""What one tab holds beside the URL: drafts, marks and choices. Never a copy of the conversation.

It lives under one key and survives switching pages; a reload starts it anew, so nothing in it may be the only copy
of something a person would miss. What is typed is therefore kept by the browser (ui/keeping).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import streamlit as st

from forky_core.model import ConversationId, MessageId
from pages.ui.person import kept_person

if TYPE_CHECKING:  # Every page holds a session; what one page does with it is that page's to load.
    from forky_core.documents.intake import Intake
    from forky_core.formats.importing.file_batch import FileBatch
    from forky_core.llm.probing import ServerProposal
    from forky_core.views.graph_filter import GraphFilter
    from pages.ui.chat.arrival import Arrival
    from pages.ui.merge.planning import Planning

_KEY = "session"


@dataclass(slots=True)
class TabSession:
    """One tab."""

    id: str = field(default_factory=lambda: uuid4().hex)
    """Another one after a reload, and after a restart of the server."""
    browser_title: str = "Forky"
    """What the browser calls this tab."""
    page: str = "other"
    """The page that this tab shows, by the name of its file without the ending."""
    conversation: ConversationId | None = None
    """The one shown last, for pages that are opened without naming one."""
    branch: str | None = None
    head: MessageId | None = None
    """Of that branch, when it was last shown."""
    draft_follows: bool = False
    """The branch went away or was renamed under what is being typed, which goes along to where one is now."""
    person: str | None = None
    """Who this tab's reader is, in conversations of several people; None: nobody said."""
    cookies: dict[str, str] = field(default_factory=dict)
    """What this tab's browser is to remember, by the name of the cookie; "" forgets it
    (ui/streamlit_patches/browser_fixes.py).
    """
    mark_a: MessageId | None = None
    mark_b: MessageId | None = None
    open_folds: frozenset[str] = frozenset()
    """Ids of the graph's folded runs that are shown whole."""
    window: int = 0
    """Cells asked for beyond the first window of the notebook …"""
    window_of: str = ""
    """… at this place of it (chat/window.py)."""
    switches: int = 0
    """How often an arrow led to another version of a message."""
    cells: int = 0
    """Of the notebook's window, as the run before drew it."""
    graph_filter: GraphFilter | None = None
    """What the graph is filtered by; None while the fields for it are closed."""
    picks: tuple[MessageId, ...] = ()
    """Messages ticked on the Chat page, for a cherry-pick on the Merge page."""
    acting: tuple[str, MessageId] | None = None
    """The act that is open, such as a form below a cell, and on which message."""
    card: tuple[MessageId, str] | None = None
    """The message whose dot in the graph was clicked, and the branch one came from: its card is open."""
    chosen: int = 0
    """The last choice in the branch box that was heard: it waits for the answer (ui/chat/branchbox.py)."""
    race: tuple[str, str, MessageId | None] | None = None
    """The place of a question that was not sent since somebody else moved the branch first, why, and the head that its
    author had read.
    """
    heard: dict[str, dict[str, str]] = field(default_factory=dict)
    """What became of the questions that this tab's browser handed over, by their ids (ui/keeping/posting.py)."""
    filled: tuple[str, str, str] = ("", "", "")
    """The last text that the server wrote into the composer by itself: an id of its own, the place, the text."""
    drawn: bool = False
    """Whether this tab has drawn a page."""
    away: str = ""
    """Why the page cannot be drawn now, while what was drawn before stays (ui/components/error_boundary.py)."""
    arrival: Arrival | None = None
    """How this tab came to the conversation that it shows, on a team's server (ui/chat/news.py)."""
    copied: tuple[int, str] = (0, "")
    """A counter and the text that the browser is to put on its clipboard when the counter rises."""
    notice: str = ""
    """One sentence to show at the next run: what was just done, or why not."""
    undoable: tuple[ConversationId, int] | None = None
    """The operation that the notice is about, where Undo belongs beside it: its conversation and number."""
    shown_notice: str = ""
    shown_at: float = 0.0
    """When it was first drawn (ui/components/notice.py)."""
    planning: Planning | None = None
    """The merge being previewed."""
    fusing: Planning | None = None
    """The fusion being previewed, on the Compare page."""
    incoming: FileBatch | None = None
    """The files that are being imported (ui/library/importing.py)."""
    intake: Intake | None = None
    """The documents that are being read in, or were and not yet closed (ui/documents)."""
    proposed_server: ServerProposal | None = None
    """The model server that is to be added and has not been agreed to yet (ui/settings/providers.py)."""
    choices: dict[str, str] = field(default_factory=dict)
    """Small settled choices of pages, by `page.thing`."""
    visit: dict[str, str] = field(default_factory=dict)
    """The same, for as long as one page is shown."""

    def say(self, sentence: str, undoable: tuple[ConversationId, int] | None = None) -> None:
        """Have a sentence drawn at the next run, with an Undo of that operation beside it."""
        self.notice, self.undoable, self.shown_notice = sentence, undoable, ""


def session() -> TabSession:
    """This tab's."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = TabSession(person=kept_person())
    held = st.session_state[_KEY]
    assert isinstance(held, TabSession)
    return held


def stop_acting() -> None:
    """Close the dialog or the form of an act: what a dialog does that is dismissed."""
    session().acting = None


def shown_page() -> str:
    """The page that this tab shows; "other" before its first page was chosen. Makes no session."""
    held = st.session_state.get(_KEY)
    return held.page if isinstance(held, TabSession) else "other"
