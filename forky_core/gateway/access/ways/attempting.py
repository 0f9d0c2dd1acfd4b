"""Counts an attempt to sign in, or refuses it where there were too many: the same for every way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.asgi import Scope, Send
from forky_core.team.attempts import Attempts, TooManyAttempts


async def begin_attempt(
    desk: Desk, scope: Scope, send: Send, errand: Errand, attempts: Attempts
) -> Callable[[], None] | None:
    """Count a request as a failed attempt of its client; None if there were too many, and the request is answered.

    Call the returned function, in a thread, if the attempt succeeds.
    """
    try:
        return await asyncio.to_thread(attempts.begin, desk.client(scope))
    except TooManyAttempts as error:
        await refuse_attempt(desk, scope, send, errand, error)
        return None


async def refuse_attempt(
    desk: Desk, scope: Scope, send: Send, errand: Errand, error: TooManyAttempts
) -> None:
    """Answer a request of a client that must wait."""
    await desk.refuse(scope, send, 429, str(error), errand, wait=error.wait)
