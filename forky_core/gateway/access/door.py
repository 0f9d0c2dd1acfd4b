"""What every way of asking browsers to sign in has in common: who must, the cookie, and the addresses.

`sign_in.SignIn` is for the server of one person, with a password or a printed secret; `team_sign_in.TeamSignIn` is for
a team of people. `gate.Gate` asks either of them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from forky_core.gateway.access.forwarded import NamedProxies, is_forwarded
from forky_core.gateway.access.origins import (
    Origin,
    Origins,
    called_origin,
    is_loopback,
    normal_host,
    origin_of_host,
    own_address,
)
from forky_core.gateway.access.sessions import SignInSession
from forky_core.gateway.asgi import (
    Header,
    Receive,
    Scope,
    Send,
    answer,
    header,
    headers_named,
    read_body,
    refuse,
    wants_html,
)
from forky_core.render.page import whole_page
from forky_core.render.policy import asset

PATH = "/sign-in"
OUT = "/sign-out"
SESSION = f"{PATH}/session"
SCRIPT = f"{PATH}/page.js"
NOTHING = "There is nothing at this address."
_ADDS = re.compile(rf"{PATH}(?:/[a-z0-9-]+){{1,2}}/add", re.ASCII)
_LARGEST_FORM = 8192
"""The most bytes of a form that are read."""


class Door(ABC):
    """Decides who must sign in, answers the addresses by which they do, and finds the session of a request."""

    def __init__(self, origins: Origins, proxies: NamedProxies | None = None) -> None:
        self.origins = origins
        self.proxies = NamedProxies() if proxies is None else proxies
        """The gate reads forwarded headers by it, before anything else looks at a request."""
        self._exposed = any(not is_loopback(host) for host in origins.hosts)

    @abstractmethod
    def required(self, scope: Scope) -> bool:
        """Whether a request needs a session."""

    @abstractmethod
    def session(self, scope: Scope) -> SignInSession | None:
        """The session of a request, by its cookie; None if it has no valid one. Only the event loop may ask."""

    @abstractmethod
    def announcement(self, scheme: str, host: str, port: int) -> str:
        """The text printed at the start: Forky's address and how to sign in. `host` is "" if it is unknown."""

    @abstractmethod
    def answers(self, scope: Scope) -> bool:
        """Whether a request is for one of the addresses by which browsers sign in."""

    @abstractmethod
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer such a request."""

    async def ask(self, scope: Scope, send: Send) -> None:
        """Respond to a request that lacks a session: the sign-in page for a browser, 401 for other clients."""
        if wants_html(scope):
            query = scope.get("query_string", b"").decode("latin-1")
            wanted = quote(scope["path"]) + (f"?{query}" if query else "")
            place = f"{PATH}?{urlencode({'next': wanted})}".encode("ascii")
            await answer(scope, send, 303, headers=[(b"location", place)])
        else:
            await refuse(scope, send, 401, f"Sign in at {PATH} first.")

    def listens_at(self, address: str) -> None:
        """Set the address that the server listens at ("": unknown). Beyond loopback everybody must sign in, even from
        this machine: a program that publishes the port to others (a container's, for instance) connects from here, too.
        """
        self._exposed = self._exposed or not is_loopback(address or "unknown")

    @property
    def exposed(self) -> bool:
        """Whether the server is known to be reachable from beyond this machine."""
        return self._exposed

    def is_local(self, scope: Scope) -> bool:
        """Whether a request was made on this machine, to a server that is not known to be reachable from elsewhere."""
        called, client = called_origin(scope), scope.get("client")
        local = [own_address(scope), called and called.host, normal_host(client[0]) if client else None]
        return not (self._exposed or is_forwarded(scope)) and all(
            host and is_loopback(host) for host in local
        )

    def client(self, scope: Scope) -> str:
        """The address that a request comes from, for counting attempts; "" if it is unknown."""
        return str((scope.get("client") or ("",))[0])

    def base(self, scheme: str, host: str, port: int) -> str:
        """The address for browsers: a proxy's if one is configured, otherwise this server's."""
        if self.origins.allowed:
            return str(min(self.origins.allowed))
        everywhere = host in {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not listened at
        return str(Origin(scheme, "127.0.0.1" if everywhere else host, port)) if port else "the server is up"

    def address(self, scope: Scope) -> Origin:
        """The origin at which the browser that sends a request sees this server. The gate has checked its host."""
        called = called_origin(scope)
        if called is None:
            raise ValueError("The gate refuses a request without a host.")
        scheme = "https" if self.is_secure(scope) else called.scheme
        seen = origin_of_host(scheme, header(scope, b"host")) or called
        named = sorted(origin for origin in self.origins.allowed if origin.host == seen.host)
        return seen if seen in named or not named else named[0]

    # The cookie.

    def token(self, scope: Scope) -> str:
        """The token of a session that a request brings along; "" if it brings none."""
        return cookie(scope, self._cookie(scope))

    def set_cookie(self, scope: Scope, token: str, seconds: int) -> Header:
        """The header that gives a browser the token of its session; 0 seconds takes it away."""
        return cookie_header(self._cookie(scope), token, seconds, secure=self.is_secure(scope))

    def is_secure(self, scope: Scope) -> bool:
        """Whether the browser uses TLS: to this server, to a named proxy that says so, or to one that is configured
        with https.
        """
        if scope["scheme"] == "https":
            return True
        called = called_origin(scope)
        named = [origin for origin in self.origins.allowed if origin.scheme == "https"]
        return any(called is not None and called.host == origin.host for origin in named)

    def _cookie(self, scope: Scope) -> str:
        """The cookie's name. It contains the port, since cookies ignore ports and two servers of one host would
        otherwise sign each other out.
        """
        called = called_origin(scope)
        return f"forky_session_{called.port}" if called else "forky_session"


def cookie(scope: Scope, name: str) -> str:
    """The value of a request's cookie; "" if it has none of this name."""
    cookies: SimpleCookie = SimpleCookie()
    for value in headers_named(scope, b"cookie"):
        try:
            cookies.load(value.decode("latin-1"))
        except CookieError:
            continue
    found = cookies.get(name)
    return found.value if found else ""


def cookie_header(
    name: str, value: str, seconds: int, *, secure: bool, path: str = "/", same_site: str = "Strict"
) -> Header:
    """The header that gives a browser a cookie, which no script can read; 0 seconds takes it away."""
    parts = [f"{name}={value}", f"Path={path}", f"Max-Age={seconds}", "HttpOnly", f"SameSite={same_site}"]
    if secure:
        parts.append("Secure")
    return (b"set-cookie", "; ".join(parts).encode("ascii"))


async def send_page(
    scope: Scope, send: Send, status: int, template: str, *headers: Header, **values: Any
) -> None:
    """Send a page of the sign-in, by the name of its template (render/templates/sign_in/)."""
    page = whole_page("card", f"sign_in/{template}.html", script_address=SCRIPT, **values)
    await answer(scope, send, status, page.encode(), "text/html; charset=utf-8", headers)


async def send_script(scope: Scope, send: Send) -> None:
    """Send the script of these pages: a browser that has a session already goes on to the page that it asked for, and
    at signing out it forgets what was typed.
    """
    await answer(scope, send, 200, asset("sign_in.js").encode(), "text/javascript; charset=utf-8")


def own_path(target: str) -> str:
    """The path to open after signing in: one of this server, never another server's address.

    Of the addresses by which people sign in it can only be one at which somebody who is signed in adds another way.
    """
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isascii()
    signs_in = target.startswith((PATH, OUT)) and not _ADDS.fullmatch(target)
    return target if plain and target.isprintable() and not signs_in else "/"


async def read_form(receive: Receive) -> dict[str, str] | None:
    """The fields of a form; None if it is too large."""
    body = await read_body(receive, _LARGEST_FORM)
    if body is None:
        return None
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
