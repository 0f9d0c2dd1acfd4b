"""The gateway on a real socket, as a program meets it, over a workspace in memory."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import openai
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.conversation.session import Models
from forky_core.conversation.workspace import Workspace
from forky_core.documents.offline_models import offline_models
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.front import Gateway, McpGateway, VerbsGateway
from forky_core.gateway.routes import PREFIX
from forky_core.gateway.serving import HELD
from forky_core.gateway.tokens import NewToken, Tokens
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Done, ReasoningDelta, ToolCallDone
from forky_core.llm.scripted import Step
from forky_core.model import Message, Usage
from forky_core.process.settings import Settings
from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from tests.hangs import HANG
from tests.llm import wire


@dataclass
class Served:
    """A workspace behind `/v1`."""

    url: str
    forky: Workspace
    tokens: Tokens
    made: NewToken
    """A token without limits, named “test”."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def key(self) -> str:
        return self.made.text

    def client(self, key: str | None = None) -> httpx.Client:
        return httpx.Client(
            base_url=self.base_url,
            headers={"authorization": f"Bearer {key or self.key}"},
            timeout=HANG,
            trust_env=False,
        )

    def paths(self) -> list[list[str]]:
        """The texts of every branch of every conversation, sorted."""
        found = []
        for summary in self.forky.conversations():
            for name in self.forky.conversation(summary.id).branches:
                path: tuple[Message, ...] = self.forky.conversation(summary.id, name).path()
                found.append([message.text for message in path])
        return sorted(found)


@contextmanager
def listening(app: Starlette, *, lifespan: Literal["on", "off"] = "off") -> Iterator[str]:
    """The app on a free port, in a thread that has ended afterwards; its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=500) as taken:
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # As the app has it.
        config = uvicorn.Config(app, log_level="critical", lifespan=lifespan, timeout_keep_alive=HELD)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(HANG)
            assert not thread.is_alive(), "The server waits for a call."


def open_client(served: Served, key: str = "") -> openai.OpenAI:
    http = httpx.Client(trust_env=False, timeout=HANG)
    return openai.OpenAI(base_url=served.base_url, api_key=key or served.key, http_client=http, max_retries=0)


def roles(messages: Iterable[Any]) -> str:
    """Whose messages they are, in their order."""
    return " ".join(message["role"] for message in messages)


LOOKED: Sequence[Step] = (
    ReasoningDelta("Hm."),
    "Look",
    " there",
    ToolCallDone("c1", "look_up", '{"city": "Oslo"}'),
    Done("tool_calls", Usage(12, 3, cached_tokens=4, cost=0.0)),
)
"""A scripted answer: a thought, words, and the call of a tool."""


@contextmanager
def forwarding(pieces: Sequence[bytes], *, keep_open: bool = False) -> Iterator[tuple[wire.Wire, Served]]:
    """A gateway in front of a server that answers with these bytes."""
    with wire.serving(pieces, keep_open=keep_open) as up, serving(at_upstream(up.base_url)) as served:
        yield up, served


@contextmanager
def serving(models: Models, store: Store | None = None) -> Iterator[Served]:
    forky = Workspace(store or MemoryStore(), models)
    gateway = Gateway(lambda: forky)
    verbs = VerbsGateway(lambda: forky, address=lambda _scope: "http://forky.test")
    tools = McpGateway(lambda: forky, address=lambda _scope: "http://forky.test")
    routes = [Route(PREFIX, gateway), Route(f"{PREFIX}/{{path:path}}", gateway)]
    routes += [Route("/api", verbs), Route("/api/{path:path}", verbs)]
    routes += [Route("/mcp", tools), Route("/mcp/{path:path}", tools)]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await gateway.close()
        await verbs.close()
        await tools.close()

    guard = Middleware(Gate, sign_in=SignIn(Origins()), public_below=(PREFIX, "/api", "/mcp"))
    app = Starlette(routes=routes, middleware=[guard], lifespan=lifespan)
    tokens = Tokens(forky.store)
    try:
        with listening(app, lifespan="on") as url:
            yield Served(url, forky, tokens, tokens.make("test"))
    finally:
        forky.close()


def catalogue(environment: Mapping[str, str]) -> Catalogue:
    """Models by these variables only: nothing of this machine is looked for."""
    return Catalogue(
        offline=offline_models(),
        settings=Settings(":memory:", probe=False),
        environment=environment,
        usual=(),
    )


def at_upstream(base_url: str) -> Catalogue:
    """OpenAI's models, served at this address; and Anthropic's."""
    return catalogue(
        {
            "OPENAI_API_KEY": "sk-upstream",
            "OPENAI_BASE_URL": base_url,
            "ANTHROPIC_API_KEY": "sk-ant-upstream",
            "ANTHROPIC_BASE_URL": base_url.removesuffix("/v1"),
        }
    )
