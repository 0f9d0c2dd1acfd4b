from __future__ import annotations

import subprocess
import sys

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
