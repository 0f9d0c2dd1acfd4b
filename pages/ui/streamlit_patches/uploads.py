"""Delivers the upload address that a file uploader asked for, even if a run begins at that moment.

When a run begins, Streamlit drops unsent messages, because they belong to the run before, except for messages about
runs themselves. The address for an upload belongs to no run: without it the file waits for ever.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_ADDRESSES = "file_urls_response"


def apply() -> None:
    """Have `ForwardMsgQueue.clear` keep the addresses for uploads."""
    queue_class = part("streamlit.runtime.forward_msg_queue:ForwardMsgQueue")
    clear = queue_class.clear

    @wraps(clear)
    def clear_all_but_addresses(queue: ForwardMsgQueue, **named: Any) -> None:
        waiting = list(queue._queue) if named.get("retain_lifecycle_msgs") else []
        clear(queue, **named)
        for message in waiting:
            if message.WhichOneof("type") == _ADDRESSES and all(message is not one for one in queue._queue):
                queue.enqueue(message)

    queue_class.clear = clear_all_but_addresses
