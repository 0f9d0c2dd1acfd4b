"""The chat page that Streamlit's documentation teaches, over the same conversation in the same store.

It draws every message of the path at every run, as such pages do: st.chat_message, st.markdown, st.write_stream.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import httpx
import streamlit as st

from forky_core.forky import Forky
from forky_core.model import Message


@st.cache_resource
def workspace() -> Forky:
    return Forky.open()


def words(messages: Sequence[Message], question: str) -> Iterator[str]:
    """The answer of the model server, as it comes in."""
    said = [{"role": message.role, "content": message.text} for message in messages]
    said.append({"role": "user", "content": question})
    url = f"{os.environ['FORKY_SERVERS']}/chat/completions"
    request = {"model": "quick", "messages": said, "stream": True}
    with httpx.stream("POST", url, json=request, timeout=60, trust_env=False) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                yield json.loads(line[6:])["choices"][0]["delta"].get("content", "")


def main() -> None:
    st.set_page_config(layout="wide")
    forky = workspace()
    titles = {summary.id: summary.title for summary in forky.conversations()}
    left, middle, right = st.columns(3)
    id = left.selectbox("Conversation", list(titles), format_func=titles.__getitem__, key="conversation")
    branches = list(forky.conversation(id).branches)
    branch = middle.selectbox(
        "Branch", branches, index=branches.index("main"), key=f"branch-{id}", on_change=leave_message
    )
    at = right.text_input("Message", key="message")
    chat = forky.conversation(id, branch)
    path = chat.path(chat.message(at).id if at else None)
    for message in path:
        with st.chat_message(message.role):
            st.markdown(message.text)
    if question := st.chat_input("Ask something"):
        with st.chat_message("user"):
            st.markdown(question)
        with st.chat_message("assistant"):
            answer = st.write_stream(words(path, question))
        chat.say(question)
        chat.say(str(answer), role="assistant")


def leave_message() -> None:
    st.session_state["message"] = ""


main()
