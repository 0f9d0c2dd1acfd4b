"""What other programs ask: `/v1`, `/api/v1` and `/mcp`, each imported at its first request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Scope, Send, refuse
from forky_core.gateway.lazy_route import App, LazyRoute
from forky_core.model.errors import NotInstalled

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.gateway.api.callers import Callers
    from forky_core.gateway.api.service import VerbService
    from forky_core.gateway.mcp.service import McpService
    from forky_core.gateway.remote_store import RemoteStoreAt
    from forky_core.gateway.v1.service import Service


class Gateway(LazyRoute["Service"]):
    """The endpoint of models: an ASGI app for `/v1` and everything below it."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        seen_by: Callable[[str], Workspace] | None = None,
        *,
        refused: Callable[[str, str], None] = lambda _person, _reason: None,
    ) -> None:
        """Takes what `v1.service.Service` takes."""
        super().__init__()
        self._workspace = workspace
        self._seen_by = seen_by
        self._refused = refused

    def _make(self) -> Service:
        from forky_core.gateway.v1.service import Service  # noqa: PLC0415 - the point of this file

        return Service(self._workspace, seen_by=self._seen_by, refused=self._refused)


class OfCallers(LazyRoute[App]):
    """An endpoint that is asked with tokens that have scopes."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        seen_by: Callable[[str], Workspace] | None = None,
        *,
        address: Callable[[Scope], str] = lambda _scope: "",
    ) -> None:
        """Takes what `api.callers.Callers` takes."""
        super().__init__()
        self._workspace = workspace
        self._seen_by = seen_by
        self._address = address

    def _callers(self) -> Callers:
        from forky_core.gateway.api.callers import Callers  # noqa: PLC0415 - the point of this file

        return Callers(self._workspace, self._seen_by, self._address)


class VerbsGateway(OfCallers["VerbService"]):
    """The endpoint of verbs: an ASGI app for `/api/v1` and everything below it."""

    def _make(self) -> VerbService:
        from forky_core.gateway.api.service import VerbService  # noqa: PLC0415 - the point of this file

        return VerbService(self._callers())


class McpGateway(OfCallers["McpService"]):
    """The endpoint of tools: an ASGI app for `/mcp`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except NotInstalled as error:
            await refuse(scope, send, 501, str(error))

    def _make(self) -> McpService:
        from forky_core.gateway.mcp.service import McpService  # noqa: PLC0415 - the point of this file

        return McpService(self._callers())


class StoreGateway(OfCallers["RemoteStoreAt"]):
    """The store of this server, for commands beside it and programs with a token: an ASGI app for `/api/v1/store/…`."""

    secret = ""
    """What the private file beside the database says; "" as long as there is none."""

    def _make(self) -> RemoteStoreAt:
        from forky_core.gateway.remote_store import RemoteStoreAt  # noqa: PLC0415 - the point of this file

        callers = self._callers()
        return RemoteStoreAt(self._workspace, lambda scope: callers.of(scope).forky, lambda: self.secret)
