"""The app whose imports stand still at the fortieth conversation until they are stopped, and write few at a time."""

from __future__ import annotations

from threading import Event
from weakref import WeakKeyDictionary

import streamlit as st

from app import MIDDLEWARE, ROUTES, lifespan
from forky_core.formats.importing import batches
from forky_core.formats.importing.running_import import RunningImport
from tests.browser.apps import SHELL

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
app = st.App(SHELL, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
