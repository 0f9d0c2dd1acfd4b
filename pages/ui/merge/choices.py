"""What a merge is to be: source, target, strategy and their settings, all of it in the URL.

`?c=…&b=main&source=debug&with=idea&graft=<conversation>&strategy=squash&focus=…&budget=…&by=model&picks=3f2a91,…
&policy=newest&force=1&again=1&request=3`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.examining import default_writer
from forky_core.forky import Forky
from forky_core.llm.contract import OFFLINE
from forky_core.merge.conflicts.conflict import Policy
from forky_core.merge.strategies import find_strategy, strategies, strategy_named
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.payload_kinds import CHERRY_PICK, FULL, SQUASH
from forky_core.views.graph import line_of_text
from forky_core.views.merging import bound_together, default_source
from forky_core.views.shelf import count
from forky_core.views.sides import nearest_side
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.merge.planning import MergeAddress
from pages.ui.wording import who_said

POLICIES: dict[Policy, str] = {
    "ask": "I decide each",
    "mine": "Keep what the target says",
    "theirs": "Take what the branch says",
    "newest": "Take what was said last",
}
_PICKED = 8
"""Hex digits of a pick in the URL."""
_LISTED = 60
"""Messages listed to tick before a person asks for more."""
_HOME = "main"
"""Where every conversation begins."""


def homeward(frame: Frame) -> Frame:
    """Who comes here from a side branch wants it in main, as long as the URL does not say otherwise."""
    chat = frame.chat
    said = {"source", "graft", "request"} & set(st.query_params)
    if said or chat.branch_name == _HOME or _HOME not in chat.branches:
        return frame
    home = chat.checkout(_HOME)
    return replace(frame, chat=home, at=home.branch.head)


def read_options(frame: Frame) -> MergeAddress | None:
    """The merge options in the URL; None if there is no other branch to merge."""
    chat, params = frame.chat, st.query_params
    source, graft = _source(frame)
    if not source:
        return None
    others = (
        ()
        if graft
        else tuple(
            name
            for name in params.get_all("with")
            if name in chat.branches and name not in (source, chat.branch_name)
        )
    )
    strategy = strategy_of(frame, offered(several=bool(others), graft=graft is not None))
    budget = params.get("budget", "")
    way = strategy_named(strategy)
    told = way.condenses
    writer = _writer(frame, params.get("by", "")) if way.model else None
    policy = params.get("policy", "ask")
    return MergeAddress(
        chat.id,
        chat.branch_name,
        source,
        strategy,
        focus=params.get("focus", "") if told else "",
        budget=int(budget) if told and budget.isdecimal() else None,
        writer=writer,
        picks=ticked_picks(frame) if way.takes_picks else (),
        force="force" in way.takes and params.get("force") == "1",
        others=others,
        graft=graft,
        again=params.get("again") == "1",
        policy=next((known for known in POLICIES if known == policy), "ask")
        if "policy" in way.takes
        else "ask",
        request=int(number) if (number := params.get("request", "")).isdecimal() else None,
    )


def _writer(frame: Frame, asked: str) -> str | None:
    """The model that may write it: the one that is asked for, the one that answers, any other; None: there is none."""
    infos = [info.name for info in frame.forky.models.models() if info.provider != OFFLINE]
    return asked or default_writer(frame.forky.models, frame.chat.rules.current) or next(iter(infos), None)


def _source(frame: Frame) -> tuple[str, ConversationId | None]:
    """The branch to be merged, and its conversation where that is another one; "" where there is none."""
    chat, params = frame.chat, st.query_params
    source = params.get("source", "")
    if params.get("graft"):
        try:
            other = frame.forky.conversation(params["graft"], source or None)
        except ForkyError:
            want(graft=None, source=None)
        else:
            return other.branch_name, other.id
    if source in chat.branches:
        return source, None
    left = frame.session.branch
    if left is not None and left in chat.branches and left != chat.branch_name:
        return left, None
    return default_source(chat.view, chat.visible, chat.branch_name) or "", None


def offered(*, several: bool, graft: bool) -> tuple[str, ...]:
    """The strategies that can do it."""
    if graft:
        return tuple(one.name for one in strategies() if one.grafted)
    if several:
        return tuple(one.name for one in strategies() if one.takes_several)
    return tuple(one.name for one in strategies())


def strategy_of(frame: Frame, among: Sequence[str]) -> str:
    """The strategy of the URL, or the usual one."""
    asked = st.query_params.get("strategy", "")
    if asked in among:
        return asked
    return CHERRY_PICK.name if frame.session.picks and not asked else SQUASH.name


def give_way(frame: Frame) -> None:
    """Where the URL names one branch as both, the source keeps it and another becomes the target."""
    chat, params = frame.chat, st.query_params
    if "graft" in params or params.get("source") != chat.branch_name or len(chat.branches) < 2:
        return
    nearest = nearest_side(chat.view, chat.visible, chat.branch_name)
    others = [name for name in chat.branches if name != chat.branch_name]
    want(b=_HOME if _HOME in others else nearest.key if nearest else others[0], m=None)
    st.rerun()


def ticked_picks(frame: Frame) -> tuple[MessageId, ...]:
    """The messages that are ticked: in the URL, or since before in this tab."""
    if "picks" not in st.query_params:
        return frame.session.picks
    home, found = frame.chat, list[MessageId]()
    if graft := st.query_params.get("graft"):
        with suppress(ForkyError):
            home = frame.forky.conversation(graft)
    for digits in st.query_params["picks"].split(","):
        with suppress(ForkyError):
            found.append(home.message(digits).id)
    return tuple(found)


def authors(frame: Frame) -> Callable[[MessageId], str]:
    """Who said a message, here or in the conversation of which a branch is to be merged, as `author_of` says it."""
    here = frame.chat
    if graft := st.query_params.get("graft"):
        with suppress(ForkyError):
            there, known = frame.forky.conversation(graft).people, here.visible.messages
            return lambda id: (here.people if id in known else there).author_of(id)
    return here.people.author_of


def want(**changes: str | None) -> None:
    """Change what the URL asks for; None removes."""
    for key, value in changes.items():
        if value:
            st.query_params[key] = value
        else:
            st.query_params.pop(key, None)


def label_of_strategy(name: str) -> str:
    """The label of a strategy; for a name that is none, the name."""
    found = find_strategy(name)
    return found.label if found is not None else name.capitalize()


def draw_picks(frame: Frame, options: MergeAddress) -> None:
    """The source's new messages, to be ticked. Keys: `merge.pick.<id>`, `merge.all`, `merge.none`, `merge.more`."""
    messages, gone = candidates(frame.forky, frame.chat, options)
    if not messages:
        st.caption("There is nothing to choose: every message of this branch is there already.")
        return
    ticked = set(options.picks)
    bound = bound_together(messages)
    shown = messages[: int(st.session_state.setdefault("merge.listed", _LISTED))]
    with st.container(key="merge-picks", border=True):
        with st.container(key="line-merge-ticks", horizontal=True, vertical_alignment="center"):
            chosen = sum(message.id in ticked for message in messages)
            st.caption(f"{chosen} of {count(len(messages), 'message')} ticked", width="stretch")
            everything = tuple(message.id for message in messages)
            quiet_button("All", "merge.all", tick, frame, everything)
            quiet_button("None", "merge.none", tick, frame, ())
        author = authors(frame)
        for message in shown:
            _draw_pick(frame, message, messages, ticked, author)
        if len(messages) > len(shown):
            quiet_button("Show more", "merge.more", _list_more)
        if bound:
            st.caption(
                ":material/link: Tool calls and their results move together: ticking one brings the others along."
            )
        if gone:
            st.caption(f"{count(gone, 'message')} of the branch not listed: they are there already.")


def candidates(forky: Forky, chat: Conversation, options: MergeAddress) -> tuple[tuple[Message, ...], int]:
    """What can be ticked, in the order it was said, and how many of the branch's messages cannot."""
    try:
        if options.graft is not None:
            other = forky.conversation(options.graft, options.source)
            plan = chat.merges.plan_graft(other, strategy=FULL.name, again=options.again)
            return tuple(other.message(id) for id in plan.turns), len(plan.omitted)
        plan = chat.plan_merge(options.source, strategy=FULL.name, force=True, again=options.again)
    except ForkyError:
        return (), 0
    return tuple(chat.message(id) for id in plan.turns), len(plan.omitted)


def _draw_pick(
    frame: Frame,
    message: Message,
    messages: Sequence[Message],
    ticked: set[MessageId],
    author: Callable[[MessageId], str],
) -> None:
    key = f"merge.pick.{message.id}"
    st.session_state[key] = message.id in ticked
    who = plain_label(who_said(message, author), 40)
    tool = " :material/link:" if message.id in bound_together((message,)) else ""
    words = plain_label(line_of_text(message), 110)
    st.checkbox(
        f"**{who}**{tool} {words}",
        key=key,
        on_change=_toggle,
        args=(frame, message.id, tuple(m.id for m in messages), frozenset(ticked)),
    )


def _toggle(frame: Frame, id: MessageId, order: tuple[MessageId, ...], ticked: frozenset[MessageId]) -> None:
    now = ticked ^ {id}
    tick(frame, tuple(one for one in order if one in now))


def tick(frame: Frame, picks: tuple[MessageId, ...]) -> None:
    """Ask for these messages alone."""
    frame.session.picks = picks
    want(strategy=CHERRY_PICK.name, picks=written_picks(picks))


def written_picks(picks: Sequence[MessageId]) -> str:
    """As the URL holds them."""
    return ",".join(pick.removeprefix("b2:")[:_PICKED] for pick in picks) or "-"


def _list_more() -> None:
    st.session_state["merge.listed"] += 4 * _LISTED
