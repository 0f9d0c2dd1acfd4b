"""What can be done with a message beside reading on: start a branch, or bring its branch back one way or another.

What a merge costs is known once it is planned, which takes a moment on a long branch. So plans are made when a menu
asks for them, in the background, and kept while the conversation stays as it is; a menu that asks too early asks again.
Planning takes longer the more messages each of the two branches has alone, up to a minute. So very long branches are
planned only when somebody asks for the merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from html import escape
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.merge.strategies import strategies
from forky_core.merge.strategy import Strategy
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.captions import opening_of
from forky_core.views.graph import line_of_text
from forky_core.views.merging import MergeDirection, default_direction
from forky_core.views.places import branch_for
from forky_core.views.shelf import count
from pages.ui.chat.acts import Merges
from pages.ui.chat.branch_owners import branch_facts
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import showable
from pages.ui.components.notice import stay
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame

ACT = "merge-"
"""How an act begins that leads to the Merge page; the name of a strategy follows."""
_AT_ONCE = 0.06
"""Seconds that a menu waits for plans until it has to ask again."""
_MOST = 60
_LONGEST = 2_000
"""Messages that either branch may have alone for plans to be made unasked."""
Costs = Mapping[str, int | None]
"""Tokens by act; None if that act would merge nothing. An act that was not planned has no entry."""
_COSTS = "chat.costs"
_component = st.components.v2.component(
    "forky.costs",
    # acts.js opens the menus.
    js="""export default ({ data, setTriggerValue }) => {
  const state = (window.__forkyActs ??= { copied: 0, n: 0 });
  state.ask = (id) => setTriggerValue("asked", { id, n: Date.now() + state.n++ });
  state.costs = data;
  state.tell?.();
}""",
    html="<div></div>",
)
_planned: dict[tuple[str, int, str, str, str], Future[Costs]] = {}


def way_of(here: Frame, message: MessageId) -> MergeDirection | None:
    """Which branch would be merged into which."""
    tab, chat = here.session, here.chat
    came_from = tab.card[1] if tab.card is not None and tab.card[0] == message else ""
    return default_direction(message, chat.view, chat.visible, chat.branch_name, came_from)


def costs_of(here: Frame, message: MessageId) -> Costs | None:
    """What each way costs; None while that is not known yet."""
    direction = way_of(here, message)
    if direction is None:
        return {}
    key = (here.chat.id, here.chat.view.version, direction.source, direction.target, str(message))
    found = _planned.get(key)
    if found is None:
        while len(_planned) >= _MOST:
            _planned.pop(next(iter(_planned)))
        found = _planned[key] = _planners().submit(
            _plan_all, here.chat.checkout(direction.target), direction, message
        )
    try:
        return found.result(_AT_ONCE)
    except NotYet:
        return None


def _plan_all(chat: Conversation, direction: MergeDirection, message: MessageId) -> Costs:
    source, target = chat.branches[direction.source].head, chat.branches[direction.target].head
    if _is_long(chat, target, source):
        return {}
    long = _is_long(chat, source, target)
    return {
        f"{ACT}{one.name}": _tokens(chat, direction, one, message)
        for one in strategies()
        if one.takes_picks or not long
    }


def _is_long(chat: Conversation, head: MessageId | None, other: MessageId | None) -> bool:
    """Whether the path to `head` has too many messages that the path to `other` lacks."""
    if head is None:
        return False
    path = chat.path(head)
    return len(path) > _LONGEST and not chat.visible.lineage.leads(path[-_LONGEST].id, other)


def _tokens(
    chat: Conversation, direction: MergeDirection, strategy: Strategy, message: MessageId
) -> int | None:
    try:
        picks = [message] if strategy.takes_picks else []
        plan = chat.plan_merge(direction.source, strategy=strategy.name, picks=picks)
    except ForkyError:
        return None
    return plan.tokens if plan.lands else None


def said_costs(costs: Costs) -> dict[str, str]:
    """The costs as a menu shows them."""
    return {act: "nothing new" if tokens is None else count(tokens, "token") for act, tokens in costs.items()}


def merges_of(here: Frame) -> Merges:
    """The entries about merging of every message's menu."""
    several = len(here.chat.branches) > 1
    return tuple((f"{ACT}{one.name}", one.icon, one.entry) for one in strategies()) if several else ()


@st.fragment
@error_boundary
def hear_costs(here: Frame) -> None:
    """Tell a menu that has been opened what its merges cost, once it asks. Key: `chat.costs`."""
    asked: Any = st.session_state.get(_COSTS, {}).get("asked")
    of = asked.get("id") if isinstance(asked, dict) else None
    _component(key=_COSTS, data=_told(here, of), on_asked_change=lambda: stay(here.session), height="content")


def _told(here: Frame, of: object) -> tuple[MessageId, str, Mapping[str, str]] | None:
    """The message, which branch would be merged into which, and the costs by act; None while they are not known."""
    if not isinstance(of, str) or of not in here.chat.visible.messages:
        return None
    id = MessageId(of)
    direction, costs = way_of(here, id), costs_of(here, id)
    if direction is None:
        return id, showable(f"Bring a branch back into “{here.chat.branch_name}”"), {}
    return None if costs is None else (id, showable(_into(direction)), said_costs(costs))


def draw_card(here: Frame) -> None:
    """The card of the message whose dot was clicked, below the graph. Key: `chat-card` (a container)."""
    card = None if why_only_reads(here.chat) else here.session.card
    if card is not None and card[0] == here.at and here.at in here.chat.visible.messages:
        with st.container(key="chat-card"):
            st.html(_card(here, here.chat.visible.messages[here.at]))


def _card(here: Frame, message: Message) -> str:
    """HTML of it; acts.js hears its buttons, and asks what merges cost when its menu opens."""
    direction = way_of(here, message.id)
    who = (
        "Brought back"
        if message.merges
        else opening_of(message, here.chat.people.author_of).partition(":")[0]
    )
    ways = [_button("fork", "call_split", "Start a branch here")]
    if direction is not None:
        way = strategies()[0]  # The page offers the others.
        ways.append(_button(f"{ACT}{way.name}", way.icon, _into(direction)))
    ways.append(_button("more", "more_horiz", "More", " aria-haspopup=menu aria-expanded=false"))
    return (
        '<div class="fk-card" role="group" aria-label="What can be done with this message" '
        f'data-id="{escape(message.id)}"><div class="fk-card-top"><span class="fk-who">{escape(showable(who))}</span>'
        f'<span class="fk-words">{escape(showable(line_of_text(message)))}</span>'
        '<button type="button" class="fk-close fk-icon" data-act="card" aria-label="Close this card">close</button>'
        f'</div>{_whose(here, message)}<div class="fk-ways">{"".join(ways)}</div></div>'
    )


def _whose(here: Frame, message: Message) -> str:
    """HTML of whose the branch is that the message is on, where people sign in."""
    facts = branch_facts(here)
    if facts is None:
        return ""
    branch = branch_for(message.id, here.chat.view, here.chat.visible, here.chat.branch_name)
    said = f"On “{branch}”, {facts(branch)}"
    return f'<div class="fk-card-into">{escape(showable(said))}</div>'


def _into(direction: MergeDirection) -> str:
    return f"Bring “{direction.source}” back into “{direction.target}”"


def _button(act: str, icon: str, name: str, state: str = "") -> str:
    return (
        f'<button type="button" data-act="{act}"{state}>'
        f'<span class="fk-icon" aria-hidden="true">{icon}</span><span>{escape(showable(name))}</span></button>'
    )


@st.cache_resource(show_spinner=False)
def _planners() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="offers")
