"""The part of Settings about the database: where it is, how large, a backup, a check."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.forky import Forky
from forky_core.model.errors import ForkyError
from forky_core.process.settings import Settings
from forky_core.views import captions
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.markdown import plain_label
from pages.ui.components.verifying import draw_verification, verify_button
from pages.ui.person import viewer
from pages.ui.settings.analysing import draw_analysis_copy
from pages.ui.workspace import back_up_server


def draw_storage(forky: Forky, whole: Forky) -> None:
    """Draw it; `forky` is the reader's part of `whole`, the workspace. Keys: `settings.backup`, `settings.verify`."""
    st.markdown("## Your data")
    place, who = whole.location, viewer()
    if whole.server is not None:
        st.caption(
            f"Everything is in {plain_label(whole.server, 200).removeprefix('The ')}. Its operator backs it up."
        )
    elif place is None:
        st.caption(
            "Kept in this server's memory only: it is gone when Forky stops. Set FORKY_DATABASE to keep it."
        )
    else:
        people = None if who.alone else who.administration.file_beside(place)
        beside = ", and the people in another beside it" if people is not None else ""
        st.caption(f"Everything is in one file, {size(place)}{beside}:")
        st.code("\n".join(map(str, filter(None, (place, people)))), language=None, wrap_lines=True)
    database = Settings.from_environment().database
    others = None if who.alone else who.administration.former_workspaces(database)
    if others is not None:
        sentence, _, commands = others.partition("\n")
        st.caption(plain_label(sentence, 1_000))
        st.code(commands, language=None, wrap_lines=True)
    with st.container(horizontal=True):
        copies = place is not None and st.button(
            "Back up now",
            key="settings.backup",
            icon=":material/save:",
            help="A whole copy beside the file, made while Forky runs",
        )
        if place is not None or whole.server is not None:
            draw_analysis_copy(forky, whole)
        checks = verify_button("settings.verify", "Check every conversation and attachment of the database")
    if copies:
        _back_up(whole)
    if checks:
        draw_verification(forky.verify, _titles(forky))
    if reused := captions.reused(forky.reuse()):
        st.caption(reused)
    if place is not None and not who.alone:
        st.caption("To go back to a backup: stop Forky, then `forky admin restore` with its folder.")
    elif place is not None:
        st.caption("To go back to a backup: stop Forky, put the copy in the place of the file, start Forky.")


def _titles(forky: Forky) -> dict[str, str]:
    """Return the titles of all conversations by their ids; empty if they cannot be read."""
    try:
        everything = (*forky.conversations(), *forky.conversations(trashed=True))
    except ForkyError:
        return {}
    return {line.id: title_or_placeholder(line.title) for line in everything}


def _back_up(forky: Forky) -> None:
    place, who = forky.location, viewer()
    try:
        with st.spinner("Copying …"):
            if not who.alone and place is not None:
                folder = back_up_server(place.parent, by=who.id)
                st.success(f"Copied everything to {plain_label(str(folder), 400)}.", icon=":material/save:")
                return
            copy = forky.backup()
    except ForkyError as error:
        st.error(plain_label(str(error), 400))
        return
    st.success(f"Copied to {plain_label(str(copy), 400)} ({size(copy)}).", icon=":material/save:")


def size(path: Path) -> str:
    """Return the size of a database file with its log, in words."""
    log = path.with_name(f"{path.name}.wal")
    total = sum(file.stat().st_size for file in (path, log) if file.exists())
    return f"{total / 1e6:.1f} MB" if total >= 100_000 else f"{total / 1e3:.0f} kB"
