"""A lazy `/v1`: its implementation is imported at the first call, so that no page waits for the import."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Scope, Send

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.gateway.v1.service import Service


class Gateway:
    """The endpoint: an ASGI app for `/v1` and everything below it."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        seen_by: Callable[[str], Workspace] | None = None,
        *,
        refused: Callable[[str, str], None] = lambda _person, _reason: None,
    ) -> None:
        """Takes what `v1.service.Service` takes."""
        self._workspace = workspace
        self._seen_by = seen_by
        self._refused = refused
        self._service: Service | None = None
        self._making = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        service = self._service
        if service is None:
            service = await asyncio.to_thread(self._made)
        await service(scope, receive, send)

    def _made(self) -> Service:
        from forky_core.gateway.v1.service import Service  # noqa: PLC0415 - the point of this file

        with self._making:
            service = self._service = self._service or Service(
                self._workspace, seen_by=self._seen_by, refused=self._refused
            )
        return service

    async def close(self) -> None:
        """Close the service when the server ends."""
        if self._service is not None:
            await self._service.close()
