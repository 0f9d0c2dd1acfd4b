"""What a package needs that adds a protocol of `/v1` (docs/extending.md).

A protocol is a `ProtocolAdapter`, which an entry point of the group `forky.protocols` names. Its requests are read into
a `ClientRequest` in OpenAI's chat form, and a `Call` of `forky_core` says where they belong in a tree. Its answers are
written from the events of a model, which `forky_core` offers: `TextDelta`, `ReasoningDelta`, `ToolCallDone`, `Done` and
`Failed`. tests/gateway/telegraph.py is a whole one.
"""

from __future__ import annotations

from forky_core.llm.contract import ModelEvent, ProviderMessage
from forky_core.wire.contract import (
    ClientRequest,
    EventParser,
    Indexed,
    ProtocolAdapter,
    Response,
    ResponseWriter,
    flag,
    one_of,
    text_field,
)
from forky_core.wire.errors import ApiError, OnlyTheirs, malformed, only_theirs

__all__ = [
    "ApiError",
    "ClientRequest",
    "EventParser",
    "Indexed",
    "ModelEvent",
    "OnlyTheirs",
    "ProtocolAdapter",
    "ProviderMessage",
    "Response",
    "ResponseWriter",
    "flag",
    "malformed",
    "one_of",
    "only_theirs",
    "text_field",
]
