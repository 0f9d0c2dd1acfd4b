"""A model that is called through LiteLLM and follows the contract.

The call runs as a task on the background loop and passes its events through a queue; stopping cancels the task, which
closes the connection. LiteLLM's traps are handled here once: it changes its arguments (so it gets copies of messages),
reports a stream that breaks off silently as finished (so stream_end.py reads the provider's own end), and hides errors
behind a 500 (so failures.py searches the causes).
"""

from __future__ import annotations

import asyncio
import copy
import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any

from forky_core.llm import loading, loop
from forky_core.llm.addresses import Network
from forky_core.llm.chunks import Assembly, forget, shed, usage_of
from forky_core.llm.contract import Done, Failed, FailureKind, ModelEvent, ModelInfo, ProviderMessage, Request
from forky_core.llm.failures import CallContext, failure, failure_of, given_up, reported, sentence
from forky_core.llm.linked_media import unsendable_link
from forky_core.llm.litellm_calls import has_callbacks, openai_client, provider_client, unpriced
from forky_core.llm.prices import shortest_limit
from forky_core.llm.stream_end import CURRENT, StreamEnd, reported_words
from forky_core.llm.tokens import estimate_tokens, vocabulary
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import end_reason
from forky_core.process.scheduling import BackgroundTurns, short_switch_interval

if TYPE_CHECKING:
    from forky_core.llm.http_clients import HttpClients

_POLL = 0.04
"""Seconds between two checks of `stop` while nothing arrives."""
_MOST_CHUNKS = 64
"""The most chunks of an answer that LiteLLM may store besides those that it needs."""
_CACHE_MARK = {"type": "ephemeral"}
"""Anthropic's mark of a place up to which it caches a prompt. OpenAI caches by itself and routes by a key."""
NO_KEY = "none"
"""Sent to a server that needs no key, since the client refuses to start without one."""
_NOT_DOWNLOADED = (
    "A message names a picture or a file by its address, which Forky does not download for this model. "
    "Send the file itself, as a “data:” URL."
)

_ALLOWED = """
    audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens modalities parallel_tool_calls
    prediction presence_penalty reasoning_effort response_format seed service_tier stop temperature thinking
    tool_choice tools top_k top_logprobs top_p user verbosity web_search_options
"""
PARAMETERS = frozenset(_ALLOWED.split())
"""The parameters a request may set. Never an address or a key: a shared conversation must not redirect them."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts in seconds."""

    connect: float = 10.0
    first: float = 300.0
    """For the first piece of an answer: a model may think for minutes, and a local one may have to be loaded."""
    gap: float = 90.0
    """Between two pieces of an answer."""


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """How to reach a model."""

    model: str
    """LiteLLM's name for the model."""
    asked: CallContext
    key: str | None = field(default=None, repr=False)
    needs_key: bool = False
    base_url: str | None = None
    style: str = ""
    """"openai" or "anthropic" if the prompt cache can be helped, else empty."""
    reach: frozenset[Network] | None = None
    """The networks in which a server that speaks OpenAI's protocol may be asked; None for a provider's own address."""
    clients: HttpClients | None = field(default=None, repr=False)
    """The source of the HTTP client for that."""
    picture_schemes: tuple[str, ...] = ()
    """The beginnings of picture URLs that its server reads itself; any other URL is not sent (linked_media.py)."""

    def client(self) -> dict[str, Any]:
        """Return the `client` argument of LiteLLM's calls: one restricted to `reach`, or one for the model's provider.

        Call it on the loop of the models, to which the clients belong.
        """
        key = self.key or NO_KEY
        if self.reach is not None and self.clients is not None and self.base_url is not None:
            return {
                "client": openai_client(key, self.base_url, self.clients.client(self.reach, self.base_url))
            }
        client = provider_client(self.model, key, self.base_url)
        return {} if client is None else {"client": client}


class LiteLLMModel:
    """A model behind LiteLLM; each request is one call."""

    def __init__(
        self, info: ModelInfo, connection: ModelConnection, patience: Patience | None = None
    ) -> None:
        self._info = info
        self._connection = connection
        self._patience = patience or Patience()

    def info(self) -> ModelInfo:
        return self._info

    @property
    def connection(self) -> ModelConnection:
        return self._connection

    @property
    def count_tokens(self) -> Callable[[str], int]:
        """The function that counts tokens. It is another object once the vocabulary is read, so that cached estimates
        become invalid.
        """
        return counting(self._connection.model)

    def with_patience(self, patience: Patience) -> LiteLLMModel:
        return LiteLLMModel(self._info, self._connection, patience)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        asked = self._connection.asked
        if self._connection.needs_key and not self._connection.key:
            yield Failed(failure("no_key", asked))
            return
        if unsendable_link(request.messages, self._connection.picture_schemes) is not None:
            yield Failed(Failure("bad_request", _NOT_DOWNLOADED))
            return
        while not loading.wait(_POLL):
            if stop.is_set():
                return
        events: queue.SimpleQueue[ModelEvent] = queue.SimpleQueue()
        task = loop.submit(self._run(request, events))
        try:
            with short_switch_interval():
                while not stop.is_set():
                    try:
                        event = events.get(timeout=_POLL)
                    except queue.Empty:
                        continue
                    yield event
                    if isinstance(event, Done | Failed):
                        return
        finally:
            task.cancel()

    async def _run(self, request: Request, events: queue.SimpleQueue[ModelEvent]) -> None:
        assembly, end = Assembly(wire=self._info.wire), StreamEnd()
        CURRENT.set(end)
        try:
            await self._answer(request, assembly, end, events)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a provider does is an event (law 6)
            for event in assembly.rest(getattr(error, "generated_content", "")):
                events.put(event)
            failed = failure_of(error, self._connection.asked)
            if end.error is None and not (end.known and failed.kind == "cut_off"):
                events.put(Failed(failed, self._usage(assembly), error))
                return
        for event in assembly.rest():
            events.put(event)
        last = self._end(assembly, end)
        if isinstance(last, Done):
            for event in assembly.calls.done():
                events.put(event)
        events.put(last)

    async def _answer(
        self, request: Request, assembly: Assembly, end: StreamEnd, events: queue.SimpleQueue[ModelEvent]
    ) -> None:
        """Put the events of an answer into the queue as its pieces arrive."""
        patience, clock = self._patience, asyncio.get_running_loop().time
        arguments, alone = self._arguments(request), not has_callbacks()
        call = loading.litellm().acompletion(**(unpriced(arguments) if alone else arguments))
        stream = await asyncio.wait_for(call, patience.first)
        if not end.read:
            read_the_end_of(stream, end)
        try:
            wait, turns = patience.first, BackgroundTurns()
            stored, most = stream.chunks, _MOST_CHUNKS
            # `wait_for` would make a task for each piece.
            async with asyncio.timeout(wait) as limit:
                async for chunk in stream:
                    for event in assembly.take(chunk):
                        events.put(event)
                        wait = patience.gap
                    if alone and reported_words(stream):
                        forget(stored)
                    elif alone and len(stored) > most:
                        shed(stored)
                        most = (
                            len(stored) + _MOST_CHUNKS
                        )  # Some servers send counts in each chunk: those stay.
                    await turns.yield_to_foreground()
                    limit.reschedule(clock() + wait)
        finally:
            await stream.aclose()
        if not any(getattr(chunk, "usage", None) for chunk in stored):
            assembly.usage = None  # The provider sent no counts, so LiteLLM's are only its own estimate.
        if not end.read:
            end.report(stream)

    def _end(self, assembly: Assembly, end: StreamEnd) -> Done | Failed:
        """Return the last event of an answer whose stream has ended."""
        asked, usage = self._connection.asked, self._usage(assembly)
        reason = end_reason(end.word or "stop", calls=bool(assembly.calls), refused=end.refused)
        if end.error is not None:
            said, words = reported(end.error)
            return Failed(Failure(said, sentence(said, asked, words=words)), usage, provider_reason=end.word)
        if not end.known:
            kind: FailureKind = "unreachable" if asked.unproven and not assembly.said_something else "cut_off"
            return Failed(failure(kind, asked), usage)
        if reason.broken:
            return Failed(given_up(asked, end.word), usage, provider_reason=end.word)
        if reason.common == "content_filter" and not assembly.said_something:
            return Failed(failure("refused", asked), usage, provider_reason=end.word)
        return Done(reason.common, usage, reason.own)

    def _arguments(self, request: Request) -> dict[str, Any]:
        connection = self._connection
        messages = [_copied(message) for message in request.messages]
        arguments: dict[str, Any] = {
            key: copy.deepcopy(value) for key, value in request.parameters.items() if key in PARAMETERS
        }
        if connection.style == "anthropic":
            _mark_for_claude(messages)
            if not arguments.keys() & {"max_tokens", "max_completion_tokens"}:
                arguments["max_tokens"] = self._longest_answer(arguments.get("thinking"))
        if connection.style == "openai" and request.cache_key:
            arguments["prompt_cache_key"] = request.cache_key
        if connection.base_url:
            arguments["api_base"] = connection.base_url
        if connection.key or connection.base_url:
            arguments["api_key"] = connection.key or NO_KEY
        return (
            arguments
            | connection.client()
            | {
                "model": connection.model,
                "messages": messages,
                "stream": True,
                "stream_options": {"include_usage": True},
                "timeout": _timeout(self._patience),
                "max_retries": 0,
                "drop_params": True,
            }
        )

    def _longest_answer(self, thinking: Any) -> int:
        """Return the `max_tokens` of a call without that parameter, which Anthropic requires.

        For a model that is not in its price map, LiteLLM would send 4,096, or 4,096 more than the budget for thinking.
        """
        longest = self._info.max_output or shortest_limit("anthropic")
        budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
        return (
            max(longest, 2 * budget) if isinstance(budget, int) and self._info.max_output is None else longest
        )

    def _usage(self, assembly: Assembly) -> Usage:
        return usage_of(assembly.usage, self._connection.model, self._info, loading.loaded())


def read_the_end_of(stream: Any, end: StreamEnd) -> None:
    """Have `end` read an answer of `/v1/responses`, which LiteLLM requests by a client of its own."""
    from forky_core.llm.http_clients import read_the_end  # noqa: PLC0415 - it imports httpx

    source = getattr(getattr(stream, "completion_stream", None), "streaming_response", None)
    if (response := getattr(source, "response", None)) is not None:
        read_the_end(response, end)


def _copied(message: ProviderMessage) -> ProviderMessage:
    """Copy a message. Nearly every message contains only texts, for which `deepcopy` would be slow."""
    return (
        dict(message) if all(isinstance(value, str) for value in message.values()) else copy.deepcopy(message)
    )


def _mark_for_claude(messages: list[ProviderMessage]) -> None:
    """Mark the places up to which Anthropic caches a prompt, at most four, so that a fork pays for its shared history
    once: the system prompt, the previous question (which the previous call already cached) and the newest message
    (which the next call and every fork from here will read). The messages are changed, so pass copies.
    """
    if messages and messages[0].get("role") == "system":
        _mark_cache(messages[0])
    questions = [message for message in messages if message.get("role") == "user"]
    for message in questions[-2:]:
        _mark_cache(message)


def _mark_cache(message: ProviderMessage) -> None:
    content: Any = message.get("content")
    if isinstance(content, str) and content:
        message["content"] = [{"type": "text", "text": content, "cache_control": dict(_CACHE_MARK)}]
    elif isinstance(content, list) and content and isinstance(content[-1], dict):
        content[-1]["cache_control"] = dict(_CACHE_MARK)


def _timeout(patience: Patience) -> Any:
    import httpx  # noqa: PLC0415 - costs 60 ms, and only a call over the network needs it

    # The loop's own limits come first; these only catch what the loop cannot see.
    return httpx.Timeout(max(patience.first, patience.gap) + 5.0, connect=patience.connect)


def counting(model: str) -> Callable[[str], int]:
    """Return an exact counting function if the model's vocabulary is loaded, else the estimate. Each is always the same
    object.
    """
    return vocabulary(vocabulary_of(model)) or estimate_tokens


@lru_cache(maxsize=256)
def vocabulary_of(model: str) -> str:
    """Return the name of an OpenAI model's vocabulary; "" for others, which publish none."""
    name = model.removeprefix("openai/").removeprefix("ft:")
    if name.startswith(("gpt-3.5", "gpt-4-", "gpt-35")) or name == "gpt-4":
        return "cl100k_base"
    if name.startswith(("gpt-", "o1", "o3", "o4", "chatgpt")):
        return "o200k_base"
    return ""
