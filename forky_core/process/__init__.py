"""What the process offers to every room: settings, extras, plug-ins, private files, and what an operator can see.

`events.py` is the vocabulary of the log, and `counters.py` counts each event for /metrics; neither ever contains
conversation text. Other packages call the functions of `events`, and use nothing else of `logging`. `log_setup.py`
prepares the process of the app or the command line. docs/observing.md is the operator's page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.deprecations import retired_names

if not TYPE_CHECKING:
    __getattr__ = retired_names(__name__)
