"""A database that cannot be used: one sentence in place of the page, and a way on once it is mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.store.duckdb.file.wal import log_of
from forky_core.store.duckdb.store import DuckDBStore
from pages.ui.page import Page
from pages.ui.registry import pages
from pages.ui.workspace import whole_workspace
from tests.builders import ScriptedModels, talk
from tests.pages.apptest import by_key, latest
from tests.pages.workspaces import open_page
from tests.store.by_hand import by_hand


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FORKY_DATABASE", str(tmp_path / "forky.duckdb"))
    monkeypatch.setenv("FORKY_PROBE", "0")
    whole_workspace.clear()
    yield tmp_path / "forky.duckdb"
    whole_workspace.clear()


@pytest.mark.parametrize("page", pages(), ids=lambda one: one.name)
def test_every_page_says_in_a_sentence_that_the_file_is_no_database(path: Path, page: Page) -> None:
    path.write_bytes(b"no database")
    shown = open_page(str(page.script))
    assert not shown.exception
    (said,) = shown.error
    assert "damaged or not a Forky database; nothing was changed" in said.value
    assert path.read_bytes() == b"no database"


def test_a_database_in_use_is_named_and_opens_once_it_is_free(path: Path) -> None:
    holder = DuckDBStore.open(path)
    shown = open_page("library.py")
    assert "already open" in shown.error[0].value and not shown.exception
    holder.close()
    by_key(shown, "shell.again").click().run()
    assert not shown.error and not shown.exception


def test_a_damaged_log_names_the_command_that_repairs_it(path: Path) -> None:
    with Forky.open(path) as forky:
        forky.create("A talk")
        file, log = path.read_bytes(), log_of(path).read_bytes()
    path.write_bytes(file)
    log_of(path).write_bytes(bytes(16) + log[16:])
    shown = open_page("chat.py")
    assert "forky_core repair" in shown.error[0].value.replace("\\", "") and not shown.exception


def test_a_fragment_that_runs_by_itself_says_it_in_a_sentence_too() -> None:
    def page() -> None:
        import streamlit as st  # noqa: PLC0415

        from forky_core.model.errors import StoreError  # noqa: PLC0415
        from pages.ui.components.error_boundary import error_boundary  # noqa: PLC0415

        @st.fragment
        @error_boundary
        def watch() -> None:
            if st.session_state.get("tries", 0) == 0:
                st.session_state["tries"] = 1
                raise StoreError("The disk is full.", "Make room.")
            st.text("fine again")

        watch()

    shown = AppTest.from_function(page).run()
    assert "The disk is full. Make room." in shown.error[0].value.replace("\\", "") and not shown.exception
    by_key(shown, "error_boundary.watch").click().run()
    assert not shown.error and shown.text[0].value == "fine again"


def test_after_a_conversation_could_not_be_read_others_are_shown_and_a_question_is_refused_in_a_sentence(
    path: Path,
) -> None:
    with Forky.open(path, models=ScriptedModels()) as forky:
        sound, lost = talk(forky.create("Sound"), "a", "b"), talk(forky.create("Lost"), "c", "d")
    by_hand(path, "UPDATE messages SET rest = '{' WHERE text = 'c'")
    before = path.read_bytes()
    shown = open_page("chat.py", c=lost.id)
    assert "is damaged" in shown.error[0].value and not shown.exception
    shown = open_page("chat.py", c=sound.id)
    assert not shown.error and not shown.exception
    by_key(shown, "chat.draft").set_value("why?")
    latest(shown, "chat.send").click().run()
    assert not shown.exception
    told = " ".join(str(element.value) for element in shown.markdown).replace("\\", "")
    assert "nothing was saved" in told and "forky_core verify" in told
    shown = open_page("settings.py")
    by_key(shown, "settings.verify").click().run()
    assert "“Lost”: Some of it cannot be read" in shown.error[0].value.replace("\\", "").replace("\u2060", "")
    whole_workspace.clear()
    assert path.read_bytes() == before
