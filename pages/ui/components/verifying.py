"""The button that re-derives every id and replays the log, and what it found, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.model.errors import LONGEST_SENTENCE, ForkyError
from forky_core.store.contract import Finding, Verification
from forky_core.views.captions import last_change
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label

_LISTED = 20
"""MergeFindings drawn; the command line prints all of them."""


def verify_button(key: str, help: str) -> bool:
    return st.button("Verify", key=key, icon=":material/verified_user:", help=help)


def draw_verification(verify: Callable[[], Verification], titles: Mapping[str, str] | None = None) -> None:
    """Carry it out and say what it found, until something else is done.

    `titles` are those of the conversations by their ids, where more than one is looked at.
    """
    named = titles or {}
    try:
        with st.spinner("Re-deriving every id and replaying the log …"):
            result = verify()
    except ForkyError as error:
        st.error(plain_label(str(error)))
        return
    if result.clean:
        told = f"Nothing is wrong. {summary_of(result)}"
        st.success(f"{told} {last_change(result)}".strip(), icon=":material/verified_user:")
        _draw_remarks(result, named)
        return
    found = "\n".join(f"- {_sentence(finding, named)}" for finding in result.findings[:_LISTED])
    more = len(result.findings) - _LISTED
    rest = f"\n- … and {more:,} more; `forky verify` lists all" if more > 0 else ""
    st.error(
        f"{count(len(result.findings), 'finding')}. {summary_of(result)} {last_change(result)} "
        f"Keep a copy of the file before anything else.\n\n{found}{rest}",
        icon=":material/gpp_bad:",
    )
    _draw_remarks(result, named)


def _draw_remarks(result: Verification, titles: Mapping[str, str]) -> None:
    if result.remarks:
        st.info("\n\n".join(_sentence(remark, titles) for remark in result.remarks[:_LISTED]))


def _sentence(found: Finding, titles: Mapping[str, str]) -> str:
    title = titles.get(found.conversation or "")
    return plain_label(f"“{title}”: {found.what}" if title else found.what, LONGEST_SENTENCE)


def summary_of(result: Verification) -> str:
    """What was checked, as a sentence."""
    parts = [count(result.messages, "message"), count(result.operations, "operation")]
    if result.conversations != 1:
        parts.insert(0, count(result.conversations, "conversation"))
    if result.blobs:
        parts.append(count(result.blobs, "attachment"))
    return f"Checked: {', '.join(parts[:-1])} and {parts[-1]}."
