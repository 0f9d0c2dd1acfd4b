"""Keeps two runs of one tab from changing its state at the same moment.

When a request interrupts a run, Streamlit begins the next one in another thread while the first is still ending. Each
has its own lock around the same state: the end of one iterates over what the other is changing, and fails. With this
patch all runs of a tab share one lock.
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
"""The lock of each state that is in use, by the state's `id`, because a state has no room for one. Two states that have
the same `id` one after the other may share a lock, which only makes them wait."""
_locks_lock = Lock()


def apply() -> None:
    """Have every `SafeSessionState` of one `SessionState` use the lock of the first."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    begin = state_class.__init__

    @wraps(begin)
    def begin_with_one_lock(safe: SafeSessionState, state: SessionState, yield_callback: Any) -> None:
        begin(safe, state, yield_callback)
        # `SafeSessionState.__setattr__` would write into the state of the page.
        with _locks_lock:
            object.__setattr__(safe, "_lock", _locks.setdefault(id(state), safe._lock))

    state_class.__init__ = begin_with_one_lock
