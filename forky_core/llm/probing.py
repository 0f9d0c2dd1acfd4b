"""Finds model servers by requesting their list of models: on the usual ports of this machine, and at added addresses.

A closed loopback port refuses at once and an open one that stays silent costs a third of a second, so looking is cheap.
The form of the answer is checked: any program may listen on 8080. For a server beyond this machine the result says only
whether it answered as a model server, and a failure always takes the same time, so that looking for servers cannot be
used to find out what else listens in a network.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from forky_core.llm.addresses import (
    LOOPBACK,
    NAMED,
    AddressRefused,
    Network,
    checked_url,
    is_this_machine,
    without_password,
)

if TYPE_CHECKING:
    from forky_core.llm.http_clients import HttpClients

_CONNECT = 0.3
_ANSWER = 3.0
"""Seconds for the list itself: a server that is loading a model answers late."""
FAR = 3.0
"""Seconds for everything, for a server beyond this machine."""
_LARGEST = 2_000_000
"""The largest answer in bytes; a model list is smaller."""
NO_MODEL_SERVER = "It did not answer as a model server. Check its address, and enter a key if it wants one."
"""The sentence for any failure of a server beyond this machine."""
_NO_MODELS = "It runs, but has no model yet."


@dataclass(frozen=True, slots=True)
class LocalServer:
    """The address of a possible server."""

    id: str
    """The prefix of its models' names."""
    label: str
    list_url: str
    base_url: str
    """The base URL of OpenAI's protocol."""
    ollama: bool = False
    """Whether it lists its models in Ollama's own form."""
    reach: frozenset[Network] = LOOPBACK
    """The networks in which it may be asked."""

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine."""
        return is_this_machine(self.base_url)

    @property
    def shown_url(self) -> str:
        """Its base URL without a password."""
        return without_password(self.base_url)


@dataclass(frozen=True, slots=True)
class LocalModel:
    id: str
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The answer of one server to the request for its models."""

    server: LocalServer
    models: tuple[LocalModel, ...] = ()
    problem: str = ""
    """A sentence about an unexpected answer; "" for success, or if nothing listens on a usual port."""
    answered: bool = False


@dataclass(frozen=True, slots=True)
class ServerProposal:
    """A server that somebody wants to add, with what a person should know before a request is sent to it."""

    url: str
    """The URL as `checked_url` returns it."""
    network: Network
    addresses: tuple[str, ...] = ()
    """The addresses of its name; () if the URL has an IP address, or if the name has none now."""

    @property
    def server(self) -> LocalServer:
        """The server, allowed in the network that the person saw; agreeing to a private one allows all."""
        return server_at(self.url, NAMED if self.network == "private" else frozenset({self.network}))


def _on_this_machine(id: str, label: str, port: int) -> LocalServer:
    base = f"http://127.0.0.1:{port}/v1"
    return LocalServer(id, label, f"{base}/models", base)


USUAL = (
    LocalServer(
        "ollama", "Ollama", "http://127.0.0.1:11434/api/tags", "http://127.0.0.1:11434/v1", ollama=True
    ),
    _on_this_machine("lmstudio", "LM Studio", 1234),
    _on_this_machine("llamacpp", "llama.cpp", 8080),
    _on_this_machine("vllm", "vLLM", 8000),
    _on_this_machine("jan", "Jan", 1337),
    _on_this_machine("koboldcpp", "KoboldCpp", 5001),
)


def server_at(url: str, reach: frozenset[Network]) -> LocalServer:
    """Return a server by its base URL; `/v1` is added if the URL has no path.

    Raises:
        BadContent, AddressRefused: this is no URL of an allowed server.
    """
    url = checked_url(url, may_hold_password=True)
    parts = urlsplit(url)
    base = url if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}/v1"
    name = parts.netloc.rpartition("@")[2]
    return LocalServer(name, name, f"{base}/models", base, reach=reach)


async def probe(
    clients: HttpClients, server: LocalServer, key: str | None = None, *, far: float = FAR
) -> ServerAnswer:
    """Request a server's models, with `key` if it needs one; `far` is the time limit in seconds beyond this machine."""
    try:
        if server.is_near:
            return await _ask(clients, server, key, connect=_CONNECT)
        return await _ask_far(clients, server, key, far)
    except AddressRefused as error:
        return ServerAnswer(server, problem=str(error))


async def _ask_far(
    clients: HttpClients, server: LocalServer, key: str | None, patience: float
) -> ServerAnswer:
    """Return the answer of a model server beyond this machine; for anything else, the same sentence after the same
    time.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + patience
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end):
            found = await _ask(clients, server, key, connect=patience)
        if found.models or found.problem == _NO_MODELS:
            return found
    await asyncio.sleep(end - clock())
    return ServerAnswer(server, problem=NO_MODEL_SERVER)


async def _ask(clients: HttpClients, server: LocalServer, key: str | None, *, connect: float) -> ServerAnswer:
    """Request the list of models; `connect` is the time limit for connecting in seconds.

    Raises:
        AddressRefused: its name resolves to an address that is refused.
    """
    import httpx  # noqa: PLC0415 - looking happens in the background; importing it must not slow a start

    # An answer that is compressed anyway is no list: it could unpack to any size.
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
    client, limits = clients.client(server.reach, server.list_url), httpx.Timeout(_ANSWER, connect=connect)
    try:
        async with client.stream("GET", server.list_url, headers=headers, timeout=limits) as response:
            if response.status_code in (401, 403):
                return ServerAnswer(
                    server, problem="It wants a key, or did not accept the one it was given.", answered=True
                )
            if response.status_code != httpx.codes.OK:
                return ServerAnswer(
                    server, problem=f"It answered {response.status_code} when asked for its models."
                )
            body = b""
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > _LARGEST:
                    return ServerAnswer(server, problem="Its answer is too long for a list of models.")
    except httpx.ConnectError as error:
        if (refused := refusal_in(error)) is not None:
            raise refused from error
        return ServerAnswer(server, problem=f"Nothing answers at {server.shown_url}.")
    except httpx.HTTPError:
        return ServerAnswer(server, problem="It did not answer in time.")
    models = _models(_json(body), ollama=server.ollama)
    if models is None:
        return ServerAnswer(server, problem="What answers there is no model server.")
    return ServerAnswer(server, models, "" if models else _NO_MODELS, answered=True)


def refusal_in(error: BaseException) -> AddressRefused | None:
    """Return the refusal among an error's causes, if there is one."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, AddressRefused):
        link = link.__cause__ or link.__context__
    return link


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _models(answer: Any, *, ollama: bool) -> tuple[LocalModel, ...] | None:
    """Return the models of a list; None if it is no such list."""
    entries = answer.get("models" if ollama else "data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        return None
    found = []
    for entry in entries:
        id = entry.get("name" if ollama else "id") if isinstance(entry, dict) else None
        if not isinstance(id, str) or not id:
            return None
        if "embed" not in id.lower():
            found.append(LocalModel(id, _window(entry)))
    return tuple(found)


def _window(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    for value in (
        entry.get("max_model_len"),
        entry.get("max_context_length"),
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    ):
        if isinstance(value, int) and value > 0:
            return value
    return None
