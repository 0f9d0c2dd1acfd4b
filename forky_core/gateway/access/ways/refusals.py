"""Notes refused sign-ins in the audit log, but not so many that somebody could fill it."""

from __future__ import annotations

from contextlib import suppress

from forky_core.gateway.access.ways.contract import Desk
from forky_core.gateway.asgi import Scope
from forky_core.people.attempts import Attempts, TooManyAttempts


class Refusals:
    """The refusals of one way to sign in: of each client, five a minute are noted."""

    def __init__(self, way: str) -> None:
        self._way = way
        self._attempts = Attempts()

    def note(self, desk: Desk, scope: Scope, **about: str) -> None:
        """Note that a request was refused; `about` says more of it."""
        with suppress(TooManyAttempts):
            self._attempts.begin(desk.client(scope))
            desk.team.audit.note("sign-in refused", way=self._way, **about)
