"""The app whose imports stand still at the fortieth conversation until they are stopped, and write few at a time."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event
from weakref import WeakKeyDictionary

import streamlit as st

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import MIDDLEWARE, ROUTES, lifespan  # noqa: E402 - the line above makes it importable
from forky_core.formats.importing import batches  # noqa: E402
from forky_core.formats.importing.running_import import RunningImport  # noqa: E402

HALTS_AT = 40
_taken: WeakKeyDictionary[Event, int] = WeakKeyDictionary()
_go_on = RunningImport.go_on_unless


def halting(stop: Event | None) -> None:
    assert stop is not None
    _taken[stop] = _taken.get(stop, 0) + 1
    if _taken[stop] > HALTS_AT:
        stop.wait()
    _go_on(stop)


vars(batches)["MOST_MESSAGES"] = 20
type.__setattr__(RunningImport, "go_on_unless", staticmethod(halting))
app = st.App(CHECKOUT / "pages/shell.py", routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
