"""Ways to show others something: a demo, the replay of a history, and the button that gives one thing away."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.presenting import PREFIX
from forky_core.model import MessageId
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import page_link
from pages.ui.frame import place


def demo_link(chat: Conversation, key: str, query: dict[str, str | list[str]]) -> None:
    """A link to the presentation of a branch, where its code and its address for others are shown at once."""
    st.link_button(
        "Start the demo",
        f"{PREFIX}/{chat.id}?{urlencode(query | {'demo': '1'}, doseq=True)}",
        key=key,
        type="primary",
        icon=":material/slideshow:",
        help="In a tab of its own, with a code and a link by which others follow and vote",
    )


@st.dialog("Start a demo", icon=":material/slideshow:")
def start_demo(chat: Conversation, at: MessageId | None = None, sides: Sequence[str] = ()) -> None:
    """Open the dialog of a demo of the branch, at a message of it; `sides` are compared at its end.

    Keys: `chat.demo`, `chat.present`, `chat.polls`.
    """
    asked: dict[str, str | list[str]] = {
        name: value for name, value in place(chat, at).items() if name != "c"
    }
    if at is not None:
        asked["m"] = at.removeprefix("b2:")
    if sides:
        asked["with"] = list(sides)
    st.markdown(
        "This branch step by step, in a tab of its own. One code and one link, shown there, are all that others need: "
        "they see your steps on their own screens, and vote there while a vote is open. **N** opens a window for you, "
        "with a timer, your notes and the next step."
    )
    demo_link(chat, "chat.demo", asked)
    with st.container(key="line-demo", horizontal=True):
        st.link_button(
            "Look at it alone first",
            f"{PREFIX}/{chat.id}?{urlencode(asked, doseq=True)}",
            key="chat.present",
            type="tertiary",
            icon=":material/visibility:",
        )
        page_link("vote.py", "Votes, and their results to take home", {"c": str(chat.id)}, icon="how_to_vote")


def present_address(chat: Conversation) -> str:
    """The address of the presentation; with `?m=` and a message's id, of a branch that leads to it, at that message."""
    return f"{PREFIX}/{chat.id}"


def replay_link(chat: Conversation, *, key: str) -> None:
    """A link to the replay of the conversation's history."""
    st.link_button(
        "Replay",
        f"{PREFIX}/{chat.id}/replay",
        key=key,
        type="tertiary",
        icon=":material/play_circle:",
        help="Watch this conversation grow, operation by operation, in a tab of its own",
    )


def give_button(
    forky: Workspace,
    chat: Conversation,
    thing: str,
    which: Sequence[str] = (),
    *,
    key: str,
    label: str = "Share",
) -> None:
    """A button that opens the dialog in which a comparison, a poll, a merge or a replay is given away. Key: `<key>`."""
    if quiet_button(
        label, key, icon="ios_share", help="As a page or Markdown; or at an address that you can revoke"
    ):
        from pages.ui.components.giving import open_giving  # noqa: PLC0415 - every form's writer: a page needs none

        open_giving(forky, chat, thing, which)
