"""The one workspace of the pages, in memory and empty, and one of its pages, for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
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


def open_page(file: str, **params: str) -> AppTest:
    """A page as the first request of a browser tab."""
    test = AppTest.from_file(str(SHELL), default_timeout=HANG)
    for name, value in params.items():
        test.query_params[name] = value
    test.switch_page(file)
    return test.run()
