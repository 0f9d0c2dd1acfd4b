"""The part of the People page that is the audit log: a sentence for each entry, and files of all of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from html import escape
from typing import Literal

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.downloading import Download
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import midnight, stamp
from pages.ui.components.downloads import download_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.people.choosing import named
from pages.ui.person import Administration, AuditFilter

_LINES = 40
_FORMS: Mapping[Literal["csv", "jsonl"], str] = {"csv": "Table (CSV)", "jsonl": "JSON Lines"}


def draw_audit(people: Administration, forky: Workspace) -> None:
    """Keys: `people.audit.page`, `people.audit.csv`, `people.audit.jsonl`, and those of the filter."""
    st.caption(
        "Who signed in or was refused, who was invited, shared what with whom, changed which role, exported or erased "
        "something; never what anybody said. Each entry holds the hash of the one before it."
    )
    try:
        wanted = _filter(people)
        total = people.events(wanted)
        pages = max(1, -(-total // _LINES))
        page = min(int(st.session_state.get("people.audit.page", 1)), pages)
        entries = people.page_of_audit(page, _LINES, wanted)
    except ForkyError as error:
        st.info(plain_label(str(error), 300))
        return
    if not entries:
        st.info("No entry is like that. Choose another person, kind or day.")
    titles = _titles(forky)
    lines = []
    for entry in entries:
        said = people.sentence(entry, lambda id: titles.get(id, "a conversation that you do not see"))
        lines.append(
            f'<div class="fk-event"><time>{escape(stamp(entry.at))}</time><span>{escape(showable(said))}</span></div>'
        )
    st.html("".join(lines))
    with st.container(horizontal=True, vertical_alignment="center"):
        if pages > 1:
            st.pagination(pages, key="people.audit.page")
        st.caption(count(total, "entry").replace("entrys", "entries"), width="stretch")
        for form, label in _FORMS.items():
            kind = "text/csv" if form == "csv" else "application/jsonl"
            download_link(
                Download(f"forky-audit-log.{form}", kind, partial(people.export_audit, form)),
                key=f"people.audit.{form}",
                label=label,
                main=False,
            )


def _filter(people: Administration) -> AuditFilter:
    """Keys: `people.audit.person`, `people.audit.kind`, `people.audit.days`."""
    members = {member.id: named(member) for member in people.members()}
    kinds = people.kinds_of_events()
    with st.container(key="line-audit-filter", horizontal=True, vertical_alignment="bottom"):
        person = st.selectbox(
            "Person",
            ["", *members],
            key="people.audit.person",
            format_func=lambda id: members.get(id, "Everybody"),
        )
        kind = st.selectbox(
            "Kind", ["", *kinds], key="people.audit.kind", format_func=lambda kind: kind or "Everything"
        )
        days = st.date_input("Days", [], key="people.audit.days", format="YYYY-MM-DD")
    chosen = sorted(days)
    since, until = (midnight(chosen[0]), midnight(chosen[-1] + timedelta(days=1))) if chosen else (0, 0)
    return AuditFilter(person or "", kinds.get(kind or "", ()), since, until)


def _titles(forky: Workspace) -> dict[str, str]:
    """Of the conversations that the reader sees, by their ids."""
    everything = (*forky.conversations(), *forky.conversations(trashed=True))
    return {line.id: f"“{title_or_placeholder(line.title)}”" for line in everything}
