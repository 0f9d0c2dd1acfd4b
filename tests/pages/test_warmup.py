from __future__ import annotations

from pages.ui.streamlit_patches.warmup import PATIENCE, QUIET, quiet_in
from tests.hangs import HANG
from tests.pages.apptest import by_itself
from tests.programs import CHECKOUT

FIRST_PAGE = f"""
import importlib, sys
from streamlit.testing.v1 import AppTest
import pages.ui.streamlit_patches.warmup as warmup
warmup._begun = True
warmup._prepare()
before = set(sys.modules)
test = AppTest.from_file({str(CHECKOUT / "pages" / "shell.py")!r}, default_timeout={HANG}).run()
assert not test.exception, test.exception
print(sorted(name for name in set(sys.modules) - before if name.startswith(("forky_core", "pages", "streamlit_agraph"))))
print("litellm" in before)
"""


def test_the_first_page_finds_everything_imported_and_litellm_is_not() -> None:
    done = by_itself(FIRST_PAGE)
    assert done.stdout.splitlines() == ["[]", "False"], done.stderr[-1000:]


def test_the_slow_imports_wait_for_browsers_to_fall_silent_but_not_for_ever() -> None:
    assert quiet_in(100.0, 100.0, 0.0) <= 0
    assert quiet_in(100.5, 100.0, 100.25) == QUIET - 0.25
    assert quiet_in(100.0 + PATIENCE, 100.0, 100.0 + PATIENCE) == 0


WARM_TWICE = """
import sys
from pages.ui.streamlit_patches import warmup
from pages.ui.workspace import workspace
forky = workspace()
warmup._warm_up()
print("litellm" in sys.modules)
forky.models.set_key("openai", "sk-0123456789")
warmup._begun = False
warmup._warm_up()
print("litellm" in sys.modules)
"""


def test_litellm_is_imported_only_where_a_model_needs_it() -> None:
    done = by_itself(WARM_TWICE)
    assert done.stdout.splitlines() == ["False", "True"], done.stderr[-1000:]


WARM_AND_END = """
import threading
import forky_core.forky
from forky_core.llm import loading
from pages.ui.streamlit_patches import warmup
loading._thread = threading.Thread()
loading._loaded.set()
warmup._warm_up()
"""


def test_what_is_frozen_is_collected_before_the_interpreter_ends() -> None:
    done = by_itself(WARM_AND_END)
    assert done.returncode == 0, done.stderr[-1000:]
    assert "leaked" not in done.stderr
