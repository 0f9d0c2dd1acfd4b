"""Links from one page to a place in another: real ones, so that they can be opened beside, copied and tabbed to."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forky_core.documents.searching import split_address
from forky_core.model import ConversationId, MessageId
from forky_core.model.document import ADDRESS
from pages.ui.components.markdown import plain_label
from pages.ui.made_pages import linked

_USUAL = "http://127.0.0.1:8501"


def page_link(
    script: str,
    label: str,
    query: Mapping[str, str | list[str]] | None = None,
    *,
    icon: str = "",
    **named: Any,
) -> None:
    """Draw a link to the place that `query` names of a page, given by its file; `icon` names a Material symbol."""
    sign = f":material/{icon}:" if icon else ""
    st.page_link(linked(script), label=label, icon=sign, query_params=query, **named)


def chat_link(
    label: str, conversation: ConversationId, branch: str | None = None, message: MessageId | None = None
) -> None:
    """To a conversation, or a message of it; `label` is plain text."""
    to = chat_place(conversation, branch, message)
    page_link("chat.py", plain_label(label) or "New chat", to, width="stretch")


def chat_place(
    conversation: ConversationId, branch: str | None = None, message: MessageId | None = None
) -> dict[str, str]:
    """The query parameters that lead there."""
    params = {"c": str(conversation)}
    if branch:
        params["b"] = branch
    if message is not None:
        params["m"] = message.removeprefix("b2:")
    return params


def citation_link(conversation: ConversationId, address: str) -> str:
    """The address of what an answer cites: a passage on the Documents page, or a message of another branch."""
    if address.startswith(ADDRESS):
        return f"./documents?{urlencode(passage_place(conversation, address))}"
    return f"./?{urlencode(chat_place(conversation, None, MessageId(address)))}"


def passage_link(conversation: ConversationId, number: str, address: str, *, beside: bool = False) -> str:
    """HTML of a number that opens what it cites, in a tab of its own where it stands `beside` something to keep."""
    place = escape(citation_link(conversation, address))
    tab = ' target="_blank" rel="noopener"' if beside else ""
    return f'<a class="fk-number" href="{place}"{tab} title="Open what it cites">{number}</a>'


def passage_place(conversation: ConversationId, address: str) -> dict[str, str]:
    """The query parameters that open what an answer cites. Raises ValueError if `address` is no address."""
    document, number = split_address(address)
    return {"d": document, "n": str(number), "of": str(conversation)}


def follow_a_link_opened_beside() -> None:
    """Go to the page that a link meant. Streamlit writes links to the default page as `?c=…`, which a new tab reads as
    this page.
    """
    if "c" in st.query_params:
        st.switch_page("chat.py", query_params=st.query_params.to_dict())


def server_address() -> str:
    """Where this browser reaches Forky."""
    place = urlsplit(st.context.url or _USUAL)
    return f"{place.scheme}://{place.netloc}" if place.netloc else _USUAL
