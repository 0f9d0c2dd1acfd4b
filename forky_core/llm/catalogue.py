"""The available models, and the one place where concrete models are created.

Nothing here makes a page wait: prices come from a file, servers on this machine are looked for in the background, and
LiteLLM is loaded at the first call of a model that needs it. A model whose key is missing can still be named: the call
fails and names the key.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import lru_cache
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forky_core.llm import loop
from forky_core.llm.addresses import (
    NAMED,
    AddressRefused,
    Resolver,
    checked_url,
    network_of,
    refusal,
    resolved,
    system_resolver,
    written_network,
)
from forky_core.llm.contract import Done, Failed, Model, ModelInfo, Request
from forky_core.llm.failures import CallContext, failure
from forky_core.llm.keys import Keys
from forky_core.llm.linked_media import PICTURES_READ_BY
from forky_core.llm.litellm_model import LiteLLMModel, ModelConnection, Patience
from forky_core.llm.prices import PricedModel, facts, price_map
from forky_core.llm.probing import FAR, USUAL, LocalServer, ServerAnswer, ServerProposal, probe, server_at
from forky_core.llm.providers import PROVIDERS, Provider, current_models, provider_of, quick_model
from forky_core.llm.status import ProviderStatus, keyed_status, offline_status, server_status
from forky_core.llm.upstream import NATIVE, Dialect, Upstream
from forky_core.model import Failure
from forky_core.model.errors import BadContent, NotFound, NothingToDo, RequestError, there_are
from forky_core.model.wires import LOCAL, wire_of
from forky_core.process.lazy_names import import_when_used
from forky_core.process.settings import Settings

if TYPE_CHECKING:
    from forky_core.llm.embedding import LiteLLMEmbedder
    from forky_core.llm.http_clients import HttpClients
else:
    import_when_used(globals(), __spec__)

_FRESH = 20.0
"""Seconds after which the search for servers on this machine is repeated."""
_CLOSING = 5.0
"""Seconds to close connections."""
_RESOLVING = 3.0
"""Seconds to resolve the name of a server that somebody wants to add."""
_TEST_PATIENCE = Patience(connect=5.0, first=60.0, gap=30.0)
_CHAT_ONLY = frozenset[Dialect]({"chat/completions"})
_PING = ({"role": "user", "content": "Reply with the one word: ok"},)


class Catalogue:
    """The available models. Thread-safe; one per process is enough."""

    def __init__(
        self,
        secrets: Mapping[str, object] | None = None,
        settings: Settings | None = None,
        *,
        offline: Sequence[Model] = (),
        environment: Mapping[str, str] | None = None,
        usual: Sequence[LocalServer] = USUAL,
        resolver: Resolver = system_resolver,
        far: float = FAR,
    ) -> None:
        """`secrets` has keys by the names of their variables, in addition to those of the environment.

        `offline` models are always on offer. `far` is the time limit in seconds for the list of models of a server
        beyond this machine.

        Raises:
            RequestError: FORKY_SERVERS names a server that must not be asked.
        """
        self._settings = settings or Settings.from_environment(environment)
        self._keys = Keys(secrets, environment)
        self._offline: dict[str, Model] = {model.info().name: model for model in offline}
        self._added: dict[str, Model] = {}
        self._made: dict[ModelConnection, LiteLLMModel] = {}
        self._lock = threading.Lock()
        named = tuple(_named_outside(url) for url in self._settings.servers)
        self._servers = (*(usual if self._settings.probe else ()), *named)
        self._named = frozenset(server.id for server in named)
        self._further = self._named
        self._resolver = resolver
        self._far = far
        self._chosen: str | None = None
        self._found: tuple[ServerAnswer, ...] = ()
        self._looked = 0.0
        self._looking: Future[None] | None = None
        self._http: HttpClients | None = None

    # The models on offer

    def models(self) -> tuple[ModelInfo, ...]:
        """Return all models: keyed, local, added and offline ones, each group as far as it is known by now."""
        self.refresh()
        keyed = (self._keyed_info(p, name) for p in PROVIDERS if self._keys.find(p)[0] for name in _names(p))
        local = (self._local_info(found, model.id) for found in self._found for model in found.models)
        with self._lock:
            added = tuple(self._added.values())
        own = (model.info() for model in (*added, *self._offline.values()))
        return (*keyed, *local, *own)

    def default(self) -> str:
        """Return FORKY_MODEL, else the chosen model, a quick one of the first provider with a key, a local or offline
        one.
        """
        if self._settings.model:
            return self._settings.model
        if self._chosen is not None and self._is_offered(self._chosen):
            return self._chosen
        for provider in PROVIDERS:
            if self._keys.find(provider)[0] and (name := quick_model(provider, _names(provider))):
                return name
        return self.models()[0].name

    def choose_default(self, name: str | None) -> None:
        """Set the model of branches that name none, unless FORKY_MODEL is set; None restores Forky's own choice.

        Raises:
            NotFound: there is no such model.
        """
        if name is not None:
            self.model(name)
        self._chosen = name

    @property
    def default_is_set_outside(self) -> bool:
        """Whether FORKY_MODEL sets the default."""
        return self._settings.model is not None

    def _is_offered(self, name: str) -> bool:
        try:
            self.model(name)
        except NotFound:
            return False
        return True

    def can_write(self, name: str) -> bool:
        """Whether this model, other than an offline one, could be asked to write something now.

        Its key is set, or it runs on a server that was set up; nothing is sent to find out. A model that only LiteLLM
        knows does not count, since its credentials cannot be looked up.
        """
        with self._lock:
            if name in self._added or name in self._offline:
                return name in self._added
        if self._server_of(name) is None:
            provider = provider_of(name)
            if provider is None or not self._keys.find(provider)[0]:
                return False
        return self._is_offered(name)

    def model(self, name: str) -> Model:
        """Return the model of that name, listed or not.

        Raises:
            NotFound: there is none.
        """
        with self._lock:
            own = self._added.get(name) or self._offline.get(name)
        if own is not None:
            return own
        if (server := self._server_of(name)) is not None:
            return self._local_model(server, name)
        if (provider := provider_of(name)) is not None:
            return self._keyed_model(provider, name)
        if self._only_litellm_knows(name):
            asked = CallContext(name, name.partition("/")[0])
            return self._make(self._info(name, asked.provider), ModelConnection(name, asked))
        raise NotFound(
            f"Nobody here offers the model “{name}”.",
            "Choose another model for this branch; Settings shows which ones are set up.",
        )

    def upstream(self, name: str) -> Upstream | None:
        """Return the server to which a client's own bytes can be forwarded for this model; None if there is none.

        Raises:
            NotFound: there is no such model.
        """
        with self._lock:
            if name in self._added or name in self._offline:
                return None
        if (server := self._server_of(name)) is not None:
            if self._is_unproven(server):
                self.refresh(wait=self._far + 1.0)
            if self._is_unproven(server):
                # No details of a failure may become visible, which a forwarded answer would show.
                return None
            info = self._local_model(server, name).info()
            id = name.removeprefix(f"{server.id}/")
            key = self._keys.entered(server.id)
            return Upstream(server.label, server.base_url, id, info, _CHAT_ONLY, key, server.reach)
        provider = provider_of(name)
        address = NATIVE.get(provider.id) if provider is not None else None
        if provider is None or address is None:
            return None
        key, _, _ = self._keys.find(provider)
        if not key:
            return None
        id, base_url = name.removeprefix(f"{provider.id}/"), address.at(self._base_url(provider))
        return Upstream(provider.label, base_url, id, self._keyed_info(provider, name), address.speaks, key)

    def embedder(self, name: str) -> LiteLLMEmbedder:
        """Return the embedding model of that name, with the credentials of its provider's chat models.

        Raises:
            NotFound: there is none.
        """
        model = self.model(name)
        if not isinstance(model, LiteLLMModel):
            raise NotFound(
                f"“{name}” is no embedding model.", "Name one such as openai/text-embedding-3-small."
            )
        return LiteLLMEmbedder(name, model.connection)

    def add(self, model: Model) -> None:
        """Add a model, or replace the added one of that name."""
        with self._lock:
            info = model.info()
            costs = info.input_price or info.output_price
            self._added[info.name] = PricedModel(model) if costs else model

    # Keys and servers

    def set_key(self, provider: str, key: str | None) -> None:
        """Keep a key until this process ends; None removes it. `provider` is the id of a status line.

        Raises:
            NotFound: no such provider.
            BadContent: this cannot be a key.
        """
        if provider not in {*(known.id for known in PROVIDERS), *(server.id for server in self._servers)}:
            raise NotFound(f"There is no provider “{provider}”.", "Settings lists those that Forky knows.")
        self._keys.enter(provider, key)
        with self._lock:
            self._made.clear()
        if any(server.id == provider for server in self._servers):
            self.refresh(now=True)

    def propose_server(self, url: str) -> ServerProposal:
        """Return what adding a server would mean; its name is resolved, but no request is sent. Blocks for some
        seconds.

        Raises:
            BadContent: this is no URL of a server.
            AddressRefused: requests to it are refused.
            NothingToDo: it is in the list already.
        """
        url = checked_url(url)
        self._refuse_known(server_at(url, NAMED))
        return loop.submit(_proposal(url, self._resolver)).result()

    def add_server(self, server: LocalServer) -> LocalServer:
        """Add a server that speaks OpenAI's protocol, and look for its models.

        Raises:
            NothingToDo: it is in the list already.
        """
        with self._lock:
            self._refuse_known(server)
            self._servers = (*self._servers, server)
            self._further |= {server.id}
        self.refresh(now=True)
        return server

    def _refuse_known(self, server: LocalServer) -> None:
        """Raise an error if the server is in the list already.

        Raises:
            NothingToDo: it is.
        """
        for known in self._servers:
            if known.id == server.id or known.base_url == server.base_url:
                raise NothingToDo(f"{known.label} ({known.shown_url}) is in the list already.")

    def remove_server(self, id: str) -> None:
        """Remove a server that `add_server` added.

        Raises:
            NotFound: there is none of that id.
        """
        with self._lock:
            if id not in self.added_servers:
                raise NotFound(f"No server “{id}” was added here.")
            self._servers = tuple(server for server in self._servers if server.id != id)
            self._found = tuple(found for found in self._found if found.server.id != id)
            self._further -= {id}
        self._keys.enter(id, None)

    @property
    def added_servers(self) -> tuple[str, ...]:
        """The ids of servers that `add_server` added."""
        added = self._further - self._named
        return tuple(server.id for server in self._servers if server.id in added)

    @property
    def further_servers(self) -> frozenset[str]:
        """The ids of servers that `add_server` added or FORKY_SERVERS names."""
        return self._further

    def refresh(self, *, now: bool = False, wait: float = 0.0) -> None:
        """Look for local servers in the background if the last search is old, or `now`; block for `wait` seconds at
        most.
        """
        with self._lock:
            stale = now or not self._looked or time.monotonic() - self._looked > _FRESH
            if stale and self._servers and (self._looking is None or self._looking.done()):
                self._looked = time.monotonic()
                self._looking = loop.submit(self._look())
            looking = self._looking
        if looking is not None and wait > 0:
            with suppress(TimeoutError):
                looking.result(wait)

    def close(self) -> None:
        """End a search for local servers and close the connections to them. A later call opens new ones."""
        with self._lock:
            looking, http = self._looking, self._http
            self._looking = self._http = None
        if looking is not None:
            looking.cancel()
        if http is not None:
            with suppress(TimeoutError):
                loop.submit(http.close()).result(_CLOSING)

    async def _look(self) -> None:
        await asyncio.gather(*(self._look_at(server) for server in self._servers))

    async def _look_at(self, server: LocalServer) -> None:
        """Look for models at one server. Each answer is stored at once, since a distant server may be slow."""
        found = await probe(self._clients(), server, self._keys.entered(server.id), far=self._far)
        with self._lock:
            known = {one.server.id: one for one in self._found} | {server.id: found}
            # A server that was removed meanwhile stays removed.
            self._found = tuple(known[one.id] for one in self._servers if one.id in known)

    def _clients(self) -> HttpClients:
        from forky_core.llm.http_clients import HttpClients  # noqa: PLC0415 - it imports httpx, which no start waits for

        if self._http is None:
            self._http = HttpClients(self._resolver)
        return self._http

    def needs_litellm(self) -> bool:
        """Whether a model on offer, or the default, is called through LiteLLM.

        Blocks for some seconds if a server that is looked for does not answer.
        """
        self.refresh(wait=self._far + 1.0)
        with self._lock:
            without = {*self._added, *self._offline}
        return not without.issuperset((self.default(), *(info.name for info in self.models())))

    def providers(self) -> tuple[ProviderStatus, ...]:
        """Return what is set and what is missing, for the Settings page."""
        self.refresh()
        found = {one.server.id: one for one in self._found}
        return (
            *(keyed_status(provider, self._keys, len(_names(provider))) for provider in PROVIDERS),
            *(server_status(server, self._keys, found.get(server.id)) for server in self._servers),
            offline_status(len(self._offline)),
        )

    def test(self, name: str) -> Done | Failed:
        """Ask a provider (by id) or a model (by name) for one word; blocks for up to a minute or so."""
        if (server := next((s for s in self._servers if s.id == name), None)) is not None:
            self.refresh(now=True, wait=10.0)
            found = self._found_at(server)
            if not found.models:
                asked = CallContext(
                    "any",
                    server.label,
                    base_url=server.shown_url,
                    local=True,
                    unproven=self._is_unproven(server),
                )
                return Failed(failure("not_found" if found.answered else "unreachable", asked))
            name = f"{server.id}/{found.models[0].id}"
        elif (provider := next((p for p in PROVIDERS if p.id == name), None)) is not None:
            name = quick_model(provider, _names(provider)) or f"{provider.id}/any"
        try:
            model = self.model(name)
        except NotFound as error:
            return Failed(Failure("not_found", str(error)))
        if isinstance(model, LiteLLMModel):
            model = model.with_patience(_TEST_PATIENCE)
        *_, end = model.stream(Request(name, _PING, {"max_tokens": 16}), Event())
        assert isinstance(end, Done | Failed)
        return end

    def _found_at(self, server: LocalServer) -> ServerAnswer:
        """Return a server's last answer; an empty one if it was not asked yet."""
        return next((found for found in self._found if found.server.id == server.id), ServerAnswer(server))

    def _is_unproven(self, server: LocalServer) -> bool:
        """Whether it is beyond this machine and has not answered as a model server yet."""
        return not server.is_near and not self._found_at(server).answered

    # Making them

    def _keyed_model(self, provider: Provider, name: str) -> Model:
        key, _, variable = self._keys.find(provider)
        base_url = self._base_url(provider)
        secrets = (key,) if key else ()
        asked = CallContext(
            name, provider.label, variable, base_url or "", local=bool(base_url), secrets=secrets
        )
        style = provider.id if provider.id in ("openai", "anthropic") else ""
        full = name if "/" in name else f"{provider.id}/{name}"
        pictures = ("https://",) if provider.id in PICTURES_READ_BY else ()
        return self._make(
            self._keyed_info(provider, name),
            ModelConnection(full, asked, key, True, base_url, style, picture_schemes=pictures),
        )

    def _base_url(self, provider: Provider) -> str | None:
        """Return a provider's base URL if it is not the default one.

        Raises:
            NotFound: requests to it are refused.
        """
        base_url = self._keys.base_url(provider)
        if base_url is None:
            return None
        try:
            with suppress(BadContent):
                checked_url(base_url, may_hold_password=True)
        except AddressRefused as error:
            raise NotFound(
                f"{provider.label} cannot be asked at the address that the environment gives. {error.message}",
                f"Correct {provider.id.upper()}_BASE_URL.",
            ) from error
        return base_url

    def _local_model(self, server: LocalServer, name: str) -> Model:
        id = name.removeprefix(f"{server.id}/")
        found = self._found_at(server)
        if found.models and id not in {model.id for model in found.models}:
            raise NotFound(
                f"{server.label} has no model “{id}” any more.",
                f"Choose another one, or load it there. {there_are(model.id for model in found.models)}",
            )
        key = self._keys.entered(server.id)
        asked = CallContext(
            id,
            server.label,
            "",
            server.shown_url,
            local=True,
            secrets=(key,) if key else (),
            unproven=self._is_unproven(server),
        )
        info = self._local_info(found, id)
        return self._make(
            info,
            ModelConnection(
                f"openai/{id}",
                asked,
                key,
                base_url=server.base_url,
                reach=server.reach,
                clients=self._clients(),
                picture_schemes=("http://", "https://"),
            ),
        )

    def _make(self, info: ModelInfo, connection: ModelConnection) -> Model:
        """Return a model, the same object for the same connection, so that token counts cached by it stay valid."""
        with self._lock:
            made = self._made.get(connection)
            if made is None or made.info() != info:
                made = self._made[connection] = LiteLLMModel(info, connection)
            return made

    def _server_of(self, name: str) -> LocalServer | None:
        return next((server for server in self._servers if name.startswith(f"{server.id}/")), None)

    @staticmethod
    def _only_litellm_knows(name: str) -> bool:
        """Whether only LiteLLM knows the model: it reads the provider's credentials from the environment."""
        known = price_map()
        prefix, slash, rest = name.partition("/")
        if not slash:
            return known.get(name, {}).get("mode") == "chat"
        return bool(rest) and (
            name in known or prefix in {entry.get("litellm_provider") for entry in known.values()}
        )

    # Describing them

    @staticmethod
    def _info(name: str, provider: str, full: str = "") -> ModelInfo:
        """Return the facts about a model; `full` is LiteLLM's name for it if that is another."""
        known = price_map()
        entry = known.get(name) or known.get(name.partition("/")[2]) or {}
        reasons = bool(entry.get("supports_reasoning")) if entry else None
        wire = wire_of(full or name, reasons=reasons)
        label = name.partition("/")[2] or name
        return ModelInfo(name, label, provider, wire=wire, **(facts(entry) if entry else {}))

    def _keyed_info(self, provider: Provider, name: str) -> ModelInfo:
        return self._info(name, provider.label, name if "/" in name else f"{provider.id}/{name}")

    def _local_info(self, found: ServerAnswer, id: str) -> ModelInfo:
        server = found.server
        where = "" if server.id in self._further else " on this machine"
        window = next((model.context_window for model in found.models if model.id == id), None)
        free = None if server.id in self._further else 0.0
        return ModelInfo(
            f"{server.id}/{id}",
            id,
            f"{server.label}{where}",
            window,
            input_price=free,
            output_price=free,
            wire=LOCAL,
        )


def _named_outside(url: str) -> LocalServer:
    """Return a server of FORKY_SERVERS; naming it there is the consent to ask it in a private network."""
    try:
        return server_at(url, NAMED)
    except RequestError as error:
        raise RequestError(f"FORKY_SERVERS: {error.message}", error.hint) from error


async def _proposal(url: str, resolver: Resolver) -> ServerProposal:
    """Resolve a server's name for a proposal.

    Raises:
        AddressRefused: requests to it are refused.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if (network := written_network(host)) is not None:
        return ServerProposal(url, network)
    try:
        async with asyncio.timeout(_RESOLVING):
            addresses = await resolved(host, port, resolver)
    except (OSError, TimeoutError):
        return ServerProposal(url, "public")
    kinds = {network_of(address) for address in addresses} - {"refused"}
    if not kinds:
        raise refusal(host)
    if len(kinds) == 1:
        return ServerProposal(url, kinds.pop(), addresses)
    return ServerProposal(url, "private", addresses)


def _names(provider: Provider) -> tuple[str, ...]:
    return _current(provider, datetime.now(UTC).date())


@lru_cache(maxsize=64)
def _current(provider: Provider, today: date) -> tuple[str, ...]:
    return current_models(provider, price_map(), today)
