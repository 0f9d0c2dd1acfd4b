"""A route whose implementation is imported at its first request, so that no page waits for the import."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from forky_core.gateway.asgi import Receive, Scope, Send


class ClosableApp(Protocol):
    """An ASGI app that is closed when the server ends."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def close(self) -> None: ...


App = TypeVar("App", bound=ClosableApp)


class LazyRoute(ABC, Generic[App]):
    """An ASGI app that is another one, which it makes when it is first asked."""

    def __init__(self) -> None:
        self._app: App | None = None
        self._making = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if app is None:
            app = await asyncio.to_thread(self._made)
        await app(scope, receive, send)

    def _made(self) -> App:
        with self._making:
            app = self._app = self._app or self._make()
        return app

    @abstractmethod
    def _make(self) -> App:
        """Import and make the app; called once, in a thread."""

    async def close(self) -> None:
        """Close the app when the server ends."""
        if self._app is not None:
            await self._app.close()
