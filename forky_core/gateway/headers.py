"""The security headers that every response carries.

Text of models and people is shown in the browser, so the headers restrict what it may run and load to what this server
ships (the second line of defence behind pages/ui/components/markdown.py). No other site may frame a page or embed a
file. Plain ASGI, so that streamed answers are neither buffered nor cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from forky_core.gateway.asgi import AsgiApp, Message, Receive, Scope, Send
from forky_core.render.policy import source_hash

_POLICY = b"content-security-policy"


def inline_script_hashes(html: str) -> tuple[str, ...]:
    """The CSP sources that allow the inline scripts of a page we ship, and no other."""
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    return tuple(f"'{source_hash(script)}'" for script in scripts)


def content_security_policy(script_sources: Iterable[str] = ()) -> str:
    """A policy that allows everything from this server, and no foreign image, script, frame or connection.

    Streamlit starts a component that is given as text from `blob:` scripts; emotion, its styling library, and
    vis-network write inline styles.
    """
    directives = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", "blob:", *script_sources)),
        "style-src": "'self' 'unsafe-inline' blob:",
        "img-src": "'self' data: blob:",
        "media-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'self'",
        "frame-ancestors": "'self'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


class SecurityHeaders:
    """Adds the policy and related headers to every HTTP response."""

    def __init__(self, app: AsgiApp, policy: str, *, own_policy_below: tuple[str, ...] = ()) -> None:
        """Below the paths of `own_policy_below`, a response keeps the policy that it states itself."""
        self.app = app
        self.own_policy_below = own_policy_below
        headers = [
            (_POLICY, policy.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-frame-options", b"SAMEORIGIN"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"permissions-policy", b"geolocation=(), camera=(), payment=()"),
        ]
        self._all = _with_names(headers)
        self._beside_own = _with_names(headers[1:])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        own_policy = scope["path"].startswith(self.own_policy_below)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                own = own_policy and any(name.lower() == _POLICY for name, _ in given)
                ours, names = self._beside_own if own else self._all
                message["headers"] = [pair for pair in given if pair[0].lower() not in names] + ours
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _with_names(headers: list[tuple[bytes, bytes]]) -> tuple[list[tuple[bytes, bytes]], frozenset[bytes]]:
    return headers, frozenset(name for name, _ in headers)
