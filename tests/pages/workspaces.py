"""The one workspace of the pages, in memory and empty, and one of its pages, for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import ModelInfo
from forky_core.llm.scripted import ScriptedModel
from pages.ui.workspace import whole_workspace
from tests.hangs import HANG
from tests.pages.apptest import SHELL


@contextmanager
def empty_workspace(patch: pytest.MonkeyPatch, **environment: str) -> Iterator[Forky]:
    """What `workspace()` hands to every page until the block ends."""
    for name, value in {"FORKY_DATABASE": ":memory:", "FORKY_PROBE": "0", **environment}.items():
        patch.setenv(name, value)
    whole_workspace.clear()
    forky = whole_workspace()
    for summary in forky.conversations():
        forky.conversation(summary.id).trash()
        forky.purge(summary.id)
    try:
        yield forky
    finally:
        forky.close()
        whole_workspace.clear()


@contextmanager
def workspace_with_a_writer(patch: pytest.MonkeyPatch) -> Iterator[tuple[Forky, ScriptedModel]]:
    """An empty workspace that offers, beside the offline models, which answer by default, one that says what a test
    enqueues.
    """
    info = ModelInfo("scripted/writer", "The writer", "Scripted", input_price=1e-5, output_price=1e-5)
    writer = ScriptedModel("scripted/writer", info=info)
    with empty_workspace(patch) as opened:
        assert isinstance(opened.models, Catalogue)
        opened.models.add(writer)
        opened.models.choose_default("offline/quote")
        yield opened, writer


def open_page(file: str, **params: str) -> AppTest:
    """A page as the first request of a browser tab."""
    test = AppTest.from_file(str(SHELL), default_timeout=HANG)
    for name, value in params.items():
        test.query_params[name] = value
    test.switch_page(file)
    return test.run()
