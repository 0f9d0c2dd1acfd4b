"""What the OpenAI client does at great length to chat messages and to the pieces of an answer, and need not.

Before it sends a request, the client walks every message along its type hints, to rename fields and encode dates and
files. Messages of a chat hold nothing of that, but a conversation of a thousand takes it 160 ms of the processor, with
the interpreter held: more than everything else between Enter and the request. The other fields are still walked.

Each piece of an answer that comes in it walks, too, and builds field by field. Pydantic does that in compiled code
wherever the piece is what its type says; one that is not is built as ever.
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


def spare_pieces() -> None:
    """The same of an answer's pieces."""
    client: Any = importlib.import_module("openai._base_client").BaseClient
    piece: Any = importlib.import_module("openai.types.chat").ChatCompletionChunk
    build = getattr(client, "_process_response_data", None)
    if build is None:
        return

    def spared(self: Any, *, data: object, cast_to: Any, response: Any) -> Any:
        if cast_to is piece:
            try:
                return piece.model_validate(data)
            except ValueError:  # Pydantic's own: a field that is missing, or another than was promised.
                pass
        return build(self, data=data, cast_to=cast_to, response=response)

    client._process_response_data = spared
