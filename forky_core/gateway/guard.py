"""What every response carries, and who may call the routes that are ours.

Text of models and people is shown in the browser, so the browser is told what it may run and load: nothing but what
this server ships (the second line of defence behind pages/ui/markdown.py). And a server on a laptop can be reached by
every page the person has open elsewhere, under any name that resolves to it: our own routes answer to no such page.
Plain ASGI, so that streamed answers are neither buffered nor cut.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def inline_script_hashes(html: str) -> tuple[str, ...]:
    """The CSP sources that allow the inline scripts of a page we ship, and no other."""
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_security_policy(script_sources: Iterable[str] = ()) -> str:
    """Everything from this server; no foreign image, script, frame or connection.

    `blob:` scripts are how Streamlit starts a component that is given as text; emotion, its styling library, and
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
    """Adds the policy and its companions to every HTTP response."""

    def __init__(self, app: AsgiApp, policy: str) -> None:
        self.app = app
        self.headers = [
            (b"content-security-policy", policy.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-frame-options", b"SAMEORIGIN"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"geolocation=(), camera=(), payment=()"),
        ]
        self.names = {name for name, _ in self.headers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in self.names]
                message["headers"] = kept + self.headers
            await send(message)

        await self.app(scope, receive, send_with_headers)


class OwnRoutes:
    """Refuses calls of our own routes that another site's page makes, or that use a name which is not ours."""

    def __init__(self, app: AsgiApp, prefixes: Iterable[str], hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.prefixes = tuple(prefixes)
        self.hosts = frozenset(host.lower() for host in hosts)
        """Names this server may be called by, besides this machine's own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._guards(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not self._is_ours(host):
            await _refuse(
                send, f"This server is not known as “{host}”; FORKY_HOSTS names others it may have."
            )
        elif b"origin" in headers and not _same_origin(headers[b"origin"], host):
            await _refuse(send, "Pages of other sites may not call this server.")
        else:
            await self.app(scope, receive, send)

    def _guards(self, path: str) -> bool:
        return any(path == prefix or path.startswith(f"{prefix}/") for prefix in self.prefixes)

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        return name in self.hosts or is_loopback(name)


def host_name(host: str) -> str:
    """The name in a Host header, without port; "" where it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _same_origin(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


async def _refuse(send: Send, sentence: str) -> None:
    """In a shape that clients of OpenAI's and of Anthropic's protocol both read."""
    error = {"message": sentence, "type": "permission_error", "param": None, "code": "forbidden"}
    body = json.dumps({"type": "error", "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
