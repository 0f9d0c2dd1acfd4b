"""`POST /v1/messages/count_tokens`: the length of a request, which Anthropic's clients ask for before they send it.

Anthropic counts for its own models; for any other model the tokens are those that Forky's pages show. Nothing is
recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from forky_core.gateway.v1.admission import AdmittedCall, admit
from forky_core.gateway.v1.asking import parsed
from forky_core.gateway.v1.forwarding import Forwarder
from forky_core.gateway.v1.recording import Caller
from forky_core.gateway.v1.renaming import renamed
from forky_core.llm.contract import Model
from forky_core.llm.tokens import prompt_tokens
from forky_core.llm.upstream import Upstream
from forky_core.model.parts import canonical_json
from forky_core.wire.anthropic import MESSAGES

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.wire.contract import ClientRequest

PATH = "messages/count_tokens"


class CountResponse(NamedTuple):
    """The response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def to_count(forky: Workspace, caller: Caller, body: bytes) -> AdmittedCall:
    """Admit a request whose tokens are to be counted: a request of messages without its limit. Raises ApiError, as
    `admit`.
    """
    return admit(forky, caller, MESSAGES, {**parsed(body), "max_tokens": 1})


def count_tokens(model: Model, call: ClientRequest) -> CountResponse:
    """Count by the model's own tokenizer, or by an estimate of it."""
    tools = call.parameters.get("tools")
    tokens = prompt_tokens(call.messages, model.count_tokens)
    tokens += model.count_tokens(canonical_json(tools)) if tools else 0
    body = json.dumps({"input_tokens": tokens}).encode()
    return CountResponse(200, {"content-type": "application/json"}, body)


async def ask_upstream(
    forwarder: Forwarder, upstream: Upstream, caller: Caller, call: ClientRequest, body: bytes
) -> CountResponse:
    """Ask the model's own server. Raises ApiError if it does not answer."""
    if upstream.model != call.model:
        body = renamed(body, upstream.model)
    async with forwarder.send(upstream, PATH, caller.headers, body) as answer:
        return CountResponse(
            answer.status, answer.headers, b"".join([piece async for piece in answer.pieces()])
        )
