"""What Forky passes to LiteLLM with each call, so that no setting of the whole process is needed: an HTTP client, and a
record of the call.

Without a client, LiteLLM creates one by the settings of the process: over aiohttp, whose sessions are closed by the
garbage collector, so that a stopped answer may go on being generated and paid for. The clients of this module are
httpx's, which close a connection with its stream.

OpenAI's own client walks every message of a request along its type hints, and builds every piece of an answer field by
field. With a thousand messages that takes 160 ms of the processor. `_openai_classes` derives a client that passes
messages on unchanged, and lets Pydantic's compiled code build the pieces that match their type.

Before it returns a stream, and again at its end, LiteLLM prices the call. It counts what the provider has not counted
(yet), with a vocabulary of 56 MB that it reads first, or with one that it downloads for the name of a model. Forky uses
the provider's own counts and no others. So each call has its own record of itself (LiteLLM's `litellm_logging_obj`),
which prices nothing, and reports nothing as long as the program has no callbacks.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from forky_core.llm import loading

if TYPE_CHECKING:
    import httpx

BY_OPENAI_CLIENT = frozenset({"openai", "moonshot", "perplexity", "cerebras"})
"""Ids of the providers that LiteLLM calls through OpenAI's client; a test checks them."""
BY_HANDLER = frozenset(
    {"anthropic", "gemini", "mistral", "deepseek", "groq", "xai", "openrouter", "together_ai", "fireworks_ai"}
)
"""Ids of the providers that LiteLLM calls through its own handler of HTTP clients; a test checks them."""


def openai_client(
    key: str, base_url: str | None, http: httpx.AsyncClient, organization: str | None = None
) -> Any:
    """Return an `openai.AsyncOpenAI` that sends requests by `http` and does not walk their messages."""
    return _openai_classes()(
        api_key=key, base_url=base_url, http_client=http, max_retries=0, organization=organization
    )


def provider_client(model: str, key: str, base_url: str | None) -> Any | None:
    """Return the `client` argument of LiteLLM's calls to a provider's own model; call it on the loop of the models.

    Returns None for a provider without a line in the Settings: LiteLLM then creates a client by the settings of the
    process.
    """
    _, provider, _, default_url = loading.litellm().get_llm_provider(model, api_base=base_url)
    if provider in BY_OPENAI_CLIENT:
        # The variable is LiteLLM's own; the client reads OPENAI_ORG_ID by itself.
        organization = os.environ.get("OPENAI_ORGANIZATION") if provider == "openai" else None
        return openai_client(key, base_url or default_url, _http(), organization or None)
    return _handler() if provider in BY_HANDLER else None


@cache
def _http() -> httpx.AsyncClient:
    from forky_core.llm.http_clients import client_for_providers  # noqa: PLC0415 - it imports httpx

    handlers: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    return client_for_providers(verify=handlers.get_ssl_configuration())


@cache
def _handler() -> Any:
    handlers: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")

    class Handler(handlers.AsyncHTTPHandler):  # type: ignore[misc]  # litellm is not type-checked
        """LiteLLM's handler over a client of Forky's."""

        def create_client(self, *_: Any, **__: Any) -> httpx.AsyncClient:
            return _http()

    return Handler()


@cache
def _openai_classes() -> Any:
    """Return the client class, created on first use, since importing openai takes a second."""
    openai: Any = importlib.import_module("openai")
    resources: Any = importlib.import_module("openai.resources.chat.completions")
    chat: Any = importlib.import_module("openai.resources.chat.chat")
    piece: Any = importlib.import_module("openai.types.chat").ChatCompletionChunk

    class Completions(resources.AsyncCompletions):  # type: ignore[misc]  # a base that is imported late
        async def create(self, *, messages: Any, extra_body: Any = None, **named: Any) -> Any:
            """Messages of a chat hold no fields to rename and no files to encode.

            The client merges `extra_body` into a request after it has walked the rest.
            """
            if type(messages) is list and all(type(message) is dict for message in messages):
                extra_body, messages = {**(extra_body or {}), "messages": messages}, []
            return await super().create(messages=messages, extra_body=extra_body, **named)

    class ChatCompletions(chat.AsyncChat):  # type: ignore[misc]  # a base that is imported late
        @property
        def completions(self) -> Any:
            return Completions(self._client)

    class Client(openai.AsyncOpenAI):  # type: ignore[misc]  # a base that is imported late
        @property
        def chat(self) -> Any:
            return ChatCompletions(self)

        def _process_response_data(self, *, data: Mapping[str, Any], cast_to: Any, response: Any) -> Any:
            if cast_to is piece:
                try:
                    return piece.model_validate(data)
                except ValueError:  # Pydantic's own: a field that is missing, or another than was promised.
                    pass
            return super()._process_response_data(data=data, cast_to=cast_to, response=response)

    return Client


def has_callbacks() -> bool:
    """Whether LiteLLM has callbacks in this process, which receive the whole answer with its price."""
    litellm = loading.litellm()
    return bool(litellm.callbacks or litellm.success_callback or litellm._async_success_callback)


def unpriced(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for `litellm.acompletion` with a record of the call that prices and reports nothing.

    LiteLLM would report the end of each answer to callbacks, of which there are none, in a thread that it asks for even
    when the program is ending.
    """
    utils: Any = importlib.import_module("litellm.utils")
    call = {"litellm_call_id": str(uuid4()), **arguments}
    record, call = utils.function_setup("acompletion", utils.Rules(), datetime.now(), **call)  # noqa: DTZ005 - as LiteLLM does
    record._response_cost_calculator, record.dispatch_success_handlers = _no_price, _no_report
    return {**call, "litellm_logging_obj": record}


def _no_price(*_: Any, **__: Any) -> None:
    """Replaces a method that computes a price."""


async def _no_report(*_: Any, **__: Any) -> None:
    """Replaces a method that reports an answer to callbacks."""
