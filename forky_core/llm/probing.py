"""Finding model servers on this machine by asking their usual ports, all at once.

A closed loopback port refuses at once and an open one that stays silent costs a third of a second, so looking is
cheap. No proxy is asked, and the shape of the answer is checked: any program may listen on 8080.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from forky_core.errors import BadContent

_CONNECT = 0.3
_ANSWER = 3.0
"""Seconds for the list itself: a server that is loading a model answers late."""
_LARGEST = 2_000_000
"""Bytes of an answer; a model list is not larger."""
_LONGEST_URL = 300


@dataclass(frozen=True, slots=True)
class LocalServer:
    """Where a server might be."""

    id: str
    """The prefix of its models' names."""
    label: str
    list_url: str
    base_url: str
    """Where it speaks OpenAI's protocol."""
    ollama: bool = False
    """Lists its models in Ollama's own form."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    id: str
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What one server answered."""

    server: LocalServer
    models: tuple[LocalModel, ...] = ()
    problem: str = ""
    """A sentence, where it answered otherwise than hoped; "" also where nothing listens on a usual port."""
    answered: bool = False


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


def checked_address(text: str) -> str:
    """`text` as the base URL of a server; `http://` is added where nothing is said.

    Raises:
        BadContent: it is no address, or holds a name and password or a key, which would be kept with it.
    """
    hint = "Write it as http://host:port/v1."
    url = text.strip()
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadContent("This is no address of a server.", hint)
    url = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        raise BadContent("This is no address of a server.", hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise BadContent("This is no address of a server.", hint)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadContent(
            "An address is kept in the database, so it may hold no password and no “?…”.",
            "Give the address alone; a key has its own field.",
        )
    return url.rstrip("/")


def server_at(url: str) -> LocalServer:
    """A server by its base URL; `/v1` is added where the URL has no path."""
    parts = urlsplit(url)
    base = url.rstrip("/") if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}/v1"
    name = parts.netloc.rpartition("@")[2]
    return LocalServer(name, name, f"{base}/models", base)


async def probe(servers: Sequence[LocalServer], keys: dict[str, str] | None = None) -> tuple[Found, ...]:
    """Ask all of them at once; `keys` by server id, for those that want one."""
    import httpx  # noqa: PLC0415 - looking happens in the background; importing it must not slow a start

    limits = httpx.Timeout(_ANSWER, connect=_CONNECT)
    async with httpx.AsyncClient(timeout=limits, trust_env=False, follow_redirects=False) as client:
        return tuple(
            await asyncio.gather(*(_ask(client, server, (keys or {}).get(server.id)) for server in servers))
        )


async def _ask(client: Any, server: LocalServer, key: str | None) -> Found:
    import httpx  # noqa: PLC0415 - as above

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with client.stream("GET", server.list_url, headers=headers) as response:
            if response.status_code in (401, 403):
                return Found(
                    server, problem="It wants a key, or did not accept the one it was given.", answered=True
                )
            if response.status_code != httpx.codes.OK:
                return Found(server, problem=f"It answered {response.status_code} when asked for its models.")
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    return Found(server, problem="Its answer is too long for a list of models.")
    except httpx.ConnectError:
        return Found(server, problem=f"Nothing answers at {server.base_url}.")
    except httpx.HTTPError:
        return Found(server, problem="It did not answer in time.")
    models = _models(_json(body), ollama=server.ollama)
    if models is None:
        return Found(server, problem="What answers there is no model server.")
    return Found(server, models, "" if models else "It runs, but has no model yet.", answered=True)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _models(answer: Any, *, ollama: bool) -> tuple[LocalModel, ...] | None:
    """The models of a list; None where it is no such list."""
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
