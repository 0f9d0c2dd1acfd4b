"""Ways to show others something: links to a presentation and a replay, and the button that gives one thing away."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.presenting import PREFIX
from forky_core.model import MessageId
from pages.ui.frame import place


def present_link(
    chat: Conversation, at: MessageId | None = None, *, key: str, sides: Sequence[str] = ()
) -> None:
    """A link to the presentation of the branch, at a message of it; `sides` are compared at its end."""
    asked: dict[str, str | list[str]] = {
        name: value for name, value in place(chat, at).items() if name != "c"
    }
    if at is not None:
        asked["m"] = at.removeprefix("b2:")
    if sides:
        asked["with"] = list(sides)
    st.link_button(
        "Present",
        f"{PREFIX}/{chat.id}?{urlencode(asked, doseq=True)}",
        key=key,
        type="tertiary",
        icon=":material/slideshow:",
        help="Show this branch step by step, in a tab of its own",
    )


@st.dialog("Present", icon=":material/slideshow:")
def present(chat: Conversation, at: MessageId | None) -> None:
    """Keys: `chat.present`."""
    st.caption("This branch step by step, in a tab of its own. Others can follow on their own screens.")
    present_link(chat, at, key="chat.present")


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
    label: str = "Give away",
) -> None:
    """A button that opens the dialog in which a comparison, a poll, a merge or a replay is given away. Key: `<key>`."""
    if st.button(
        label,
        key=key,
        type="tertiary",
        icon=":material/ios_share:",
        help="As a page or Markdown; or at an address that you can revoke",
    ):
        from pages.ui.components.giving import open_giving  # noqa: PLC0415 - every form's writer: a page needs none

        open_giving(forky, chat, thing, which)
