"""An uploader that asks where to put a file hears it, also where a run begins in that moment.

What is still to be sent when a run begins is thrown away, because it is of a former run, but for what tells the browser
of runs themselves. The address that an uploader asked for is of no run: without it the file waits for ever.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_CLEAR = "clear"
_ADDRESSES = "file_urls_response"


def keep_addresses() -> None:
    """Once. A Streamlit that does it otherwise is left alone."""
    clear = getattr(ForwardMsgQueue, _CLEAR, None)
    if clear is None:
        return

    @wraps(clear)
    def clear_but_addresses(queue: ForwardMsgQueue, **named: Any) -> None:
        waiting = list(queue._queue) if named.get("retain_lifecycle_msgs") else []
        clear(queue, **named)
        for message in waiting:
            if message.WhichOneof("type") == _ADDRESSES and all(message is not one for one in queue._queue):
                queue.enqueue(message)

    setattr(ForwardMsgQueue, _CLEAR, clear_but_addresses)
