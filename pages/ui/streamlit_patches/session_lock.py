"""Two runs of one tab do not change its state at the same moment.

Where a request interrupts a run, Streamlit begins the next one in another thread while the first still ends. Each has a
lock of its own around the same state: the end of the one walks through what the other is changing, and fails. Here all
runs of a tab have one lock.
"""

from __future__ import annotations

from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState, SessionState

_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The lock of each state that is in use, by the state's `id`: it can carry none itself. Two states that had the same
`id` one after the other may share one, which only makes them wait."""
_taking = Lock()


def apply() -> None:
    """Have every `SafeSessionState` of one `SessionState` take the lock of the first."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    begin = state_class.__init__

    @wraps(begin)
    def begin_with_one_lock(safe: SafeSessionState, state: SessionState, yield_callback: Any) -> None:
        begin(safe, state, yield_callback)
        # Its own __setattr__ would write into the state of the page.
        with _taking:
            object.__setattr__(safe, "_lock", _locks.setdefault(id(state), safe._lock))

    state_class.__init__ = begin_with_one_lock
