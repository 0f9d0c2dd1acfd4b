"""The garbage collector, while very many objects are made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No run of the collector meanwhile: messages hold no circles, and each full run walks through all that is held.

    Of a thousand messages that is up to half the time of reading them. Where threads overlap, or somebody else has
    turned it off, it may be on again earlier: that costs time and nothing else.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
