"""Chat messages go through the OpenAI client as they are.

Before it sends a request, the client walks every message along its type hints, to rename fields and encode dates and
files. Messages of a chat hold nothing of that, but a conversation of a thousand takes it 160 ms of the processor, with
the interpreter held: more than everything else between Enter and the request. The other fields are still walked.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

_MODULE = "openai.resources.chat.completions.completions"
_NAME = "async_maybe_transform"


def spare_messages() -> None:
    """Once, after the client is imported. A client that does it otherwise is left alone."""
    module: Any = importlib.import_module(_MODULE)
    walk = getattr(module, _NAME, None)
    if walk is None:
        return

    async def spared(data: Mapping[str, Any], expected: object) -> Any:
        messages = data.get("messages")
        if type(messages) is not list or not all(type(message) is dict for message in messages):
            return await walk(data, expected)
        return {**await walk({**data, "messages": []}, expected), "messages": messages}

    setattr(module, _NAME, spared)
