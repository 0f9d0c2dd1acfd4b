from __future__ import annotations

import subprocess
import sys

from pages.ui.warmup import PATIENCE, QUIET, quiet_in

EARLY = """
import importlib, sys
from pages.ui.warmup import BEFORE_THE_FIRST_PAGE
for name in BEFORE_THE_FIRST_PAGE:
    importlib.import_module(name)
print("streamlit_agraph" in sys.modules, "litellm" in sys.modules)
"""


def test_what_is_imported_early_declares_no_component_and_does_not_load_litellm() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "False"], done.stderr[-1000:]


def test_the_slow_imports_wait_for_browsers_to_fall_silent_but_not_for_ever() -> None:
    assert quiet_in(100.0, 100.0, 0.0) <= 0
    assert quiet_in(100.5, 100.0, 100.25) == QUIET - 0.25
    assert quiet_in(100.0 + PATIENCE, 100.0, 100.0 + PATIENCE) == 0


WARM_AND_END = """
import threading
import forky_core.forky
from forky_core.llm import loading
from pages.ui import warmup
loading._thread = threading.Thread()
loading._loaded.set()
warmup._warm_up()
"""


def test_what_is_frozen_is_collected_before_the_interpreter_ends() -> None:
    done = subprocess.run([sys.executable, "-c", WARM_AND_END], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    assert "leaked" not in done.stderr
