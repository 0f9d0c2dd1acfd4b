"""`GET /readyz`: whether Forky can answer and save, and what is wrong if it cannot.

`/healthz` reports that the process serves; this checks the database and the writer thread. All checks together take
PATIENCE at most: a check that does not answer is a failure, and is not started again while it hangs. The answer is
JSON, 200 or 503: `{"ready": …, "checks": {"database": {"ok": …, "says": "…"}, "writer": …, "server": …}}`. It names
files only to clients on this machine.

`/readyz?for=proxy` is what a proxy before several servers asks. It is 503 only where another one would answer better:
where this one is too old for the database, stops, or its writer hangs. Where the database is away, it is so for all of
them, and a page that says so is better than none.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Scope, Send, answer
from forky_core.gateway.serving import server_stops
from forky_core.model.errors import ForkyError, StoreTooNew
from forky_core.process import events

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.store.contract import StoreStatus

READY = "/readyz"
PATIENCE = 0.9
"""Seconds for all checks together: Kubernetes waits for one second, unless it is configured otherwise."""
STARTING = 30.0
"""Seconds within which the database may be opened for the first time without a line in the log."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    ok: bool
    says: str
    """A sentence, which may name a file."""
    in_public: str = ""
    """A sentence for clients on other machines, if they need another one."""
    everywhere: bool = False
    """Whether what is wrong is so for every server of this database."""


class Readiness:
    """The endpoint. `workspace` opens the database if it is not open yet; it may wait, and is called in a thread."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        is_local: Callable[[Scope], bool] = lambda _scope: False,
        patience: float = PATIENCE,
        starting: float = STARTING,
    ) -> None:
        """`is_local` says whether a request comes from this machine (SignIn.is_local)."""
        self._workspace = workspace
        self._is_local = is_local
        self._patience = patience
        self._starts_until = time.monotonic() + starting
        self._opened: Workspace | None = None
        self._checks = {
            "database": _Check(self._database),
            "writer": _Check(self._writer),
            "server": _Check(_server),
        }
        self._failing: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive  # Only the address of the request matters.
        starts = self._starts()
        found = dict(zip(self._checks, await self._found(), strict=True))
        # While the database is opened for the first time, there is something to log only if that fails.
        if not starts or (not found["database"].ok and not self._starts()):
            self._note({name for name, finding in found.items() if not finding.ok})
        public = not self._is_local(scope)
        checks = {
            name: {"ok": finding.ok, "says": (finding.in_public if public else "") or finding.says}
            for name, finding in found.items()
        }
        lenient = b"for=proxy" in scope.get("query_string", b"").split(b"&")
        ready = all(finding.ok or (lenient and finding.everywhere) for finding in found.values())
        body = json.dumps({"ready": ready, "checks": checks}).encode()
        await answer(scope, send, 200 if ready else 503, body, "application/json")

    async def _found(self) -> list[CheckResult]:
        """Run the checks in order. The database comes before the writer: its first check may have to open it."""
        first, half = self._checks["database"].begin(), self._patience / 2
        await asyncio.wait([asyncio.wrap_future(first)], timeout=half)
        running = [first, self._checks["writer"].begin(), self._checks["server"].begin()]
        await asyncio.wait([asyncio.wrap_future(one) for one in running], timeout=half)
        checks = zip(self._checks.values(), running, strict=True)
        return [check.outcome(one, self._patience) for check, one in checks]

    def _database(self) -> CheckResult:
        try:
            self._opened = self._workspace()
            self._opened.store.setting("readyz")
        except ForkyError as error:
            too_old = isinstance(error, StoreTooNew)
            public = "This server is too old." if too_old else "The database cannot be opened or read."
            return CheckResult(ok=False, says=str(error), in_public=public, everywhere=not too_old)
        return CheckResult(ok=True, says="The database answers.")

    def _writer(self) -> CheckResult:
        forky = self._opened
        if forky is None:
            return CheckResult(ok=False, says="The database is not open yet.", everywhere=True)
        return _judged(forky.store.status(self._patience / 4))

    def _starts(self) -> bool:
        """Whether the database is being opened for the first time."""
        return not self._checks["database"].has_ended and time.monotonic() < self._starts_until

    def _note(self, failing: set[str]) -> None:
        """Log changes only, since the endpoint is called every few seconds."""
        before, self._failing = self._failing, frozenset(failing)
        for name in before ^ self._failing:
            events.readiness_changed(check=name, ready=name in before)


class _Check:
    """A check that may hang: run in a thread of its own, one at a time."""

    def __init__(self, ask: Callable[[], CheckResult]) -> None:
        self._ask = ask
        self._running: Future[CheckResult] | None = None
        self._last: CheckResult | None = None
        """What was found last."""

    def outcome(self, one: Future[CheckResult], limit: float) -> CheckResult:
        """What a check that was begun has found within `limit` seconds; else why the one before it has failed, if it
        has: a server that is away is waited for at each look.
        """
        if one.done():
            return one.result()
        if self._last is not None and not self._last.ok:
            return self._last
        return CheckResult(ok=False, says=f"No answer within {limit:g} s.", everywhere=True)

    @property
    def has_ended(self) -> bool:
        """Whether it has found anything yet."""
        return self._last is not None

    def begin(self) -> Future[CheckResult]:
        """Start the check; if the previous one still hangs, return its future."""
        if self._running is None or self._running.done():
            self._running = Future()
            threading.Thread(target=self._run, args=(self._running,), name="readyz", daemon=True).start()
        return self._running

    def _run(self, outcome: Future[CheckResult]) -> None:
        try:
            self._last = self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, Forky is not ready
            events.thread_failed(thread="readyz", fault=error)
            says = f"It failed ({type(error).__name__}); the log has the trace."
            self._last = CheckResult(ok=False, says=says)
        outcome.set_result(self._last)


def _judged(status: StoreStatus) -> CheckResult:
    """What the status of a store means for whoever waits for it to write."""
    waiting = f"{status.waiting} {'request waits' if status.waiting == 1 else 'requests wait'}"
    if status.answered:
        return CheckResult(ok=True, says=f"The writer answers; {waiting}.")
    if status.writes:
        return CheckResult(ok=True, says=f"The writer has been at work for {status.busy:.1f} s; {waiting}.")
    if status.busy:
        says = f"The writer has hung for {status.busy:.0f} s; {waiting}. Restart Forky."
        return CheckResult(ok=False, says=says)
    return CheckResult(ok=False, says=f"The writer has ended; {waiting}. Restart Forky.")


def _server() -> CheckResult:
    if server_stops():
        return CheckResult(ok=False, says="Forky is shutting down.")
    return CheckResult(ok=True, says="The server takes requests.")
