"""The part of Settings that gives a copy of the tables for analysis."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from forky_core.forky import Forky
from forky_core.gateway.downloading import Download
from pages.ui.components.downloads import download_link
from pages.ui.person import viewer

_FORMS = {"duckdb": "One DuckDB file", "parquet": "Parquet files"}


def draw_analysis_copy(forky: Forky, whole: Forky) -> None:
    """Draw the form for a copy; `forky` is the reader's part of `whole`, the workspace. Keys: `settings.analysis.…`."""
    with st.popover("Copy for analysis", icon=":material/table_view:", key="settings.analysis"):
        # Imported only when the form is opened, so that the page is shown sooner.
        from forky_core.formats.exporting.analysis_copies import AnalysisCopy, copy_pieces, readable  # noqa: PLC0415

        st.caption(
            "Conversations, branches, messages, calls, merges and the log as plain tables, for SQL or a notebook. It is "
            "made as of one moment while Forky goes on."
        )
        form = st.radio(
            "As", list(_FORMS), format_func=_FORMS.__getitem__, key="settings.analysis.form", horizontal=True
        )
        who = viewer()
        chosen = None if who.alone else readable(forky)
        wanted = AnalysisCopy("parquet" if form == "parquet" else "duckdb", chosen)

        def pieces() -> Iterator[bytes]:
            who.note_tables(wanted.form)
            return copy_pieces(whole.store, wanted)

        download_link(
            Download(f"forky-tables{wanted.suffix}", wanted.media_type, pieces),
            key="settings.analysis.download",
        )
