"""`GET /s/{secret}`: what a link shows (forky_core/people/links/).

Whoever has the address can read it, without signing in. So it is served apart from everything else here: its policy is
the one it states itself, which names its style, and its script if it has one, by their hashes, and the sandbox gives it
an origin of its own, in which neither a cookie nor anything that the browser keeps for this server can be reached.

A link that has expired or was revoked is answered with 410 and says so, and nothing of what was shown; an address that
never was, with 404. Both are found out from the hash of the secret alone, before anything else is read. The link of a
presenter's audience leads on to the presentation (presenting.py).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Scope, Send, answer
from forky_core.model.errors import ForkyError, NotFound, RequestError
from forky_core.render.page import PLACE_FOR_MORE, fragment, whole_page

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.workspace import Workspace
    from forky_core.people.links.link import Link
    from forky_core.people.links.links import Links

PREFIX = "/s"
FORK = "fork"
"""The page on which what a link shows is forked, with the secret as `?link=`."""
_SANDBOX = "sandbox {scripts}allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'"
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">')
DRAWN = 6
"""Pages of live links that are kept."""


class LinkAt:
    """The endpoint, an ASGI app. What it is given may wait, and is called in a thread."""

    def __init__(
        self,
        links: Callable[[], Links],
        seen_by: Callable[[str], Workspace],
        may_share: Callable[[Link], bool] = lambda _link: True,
        *,
        may_fork: Callable[[Scope], bool] = lambda _scope: False,
    ) -> None:
        """`links` are those of the whole workspace; `seen_by` is it as whoever made a link sees it, by their id.

        `may_share` says whether they may still share what a live link shows, and `may_fork` whether a visitor is
        offered to fork it.
        """
        self._links = links
        self._seen_by = seen_by
        self._may_share = may_share
        self._may_fork = may_fork
        self._drawn: dict[tuple[str, int], bytes] = {}
        self._turn = asyncio.Lock()
        """Held while a live page is drawn: a hundred who open one take one thread of the server's few, and not all."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["method"] not in {"GET", "HEAD"}:
            await say(scope, send, 405, "This address can only be read.")
            return
        secret = scope["path_params"]["secret"]
        try:
            link = await asyncio.to_thread(lambda: self._links().find(secret))
            if link.thing == _audience():
                place = f"../present/watch/{secret}".encode("ascii")
                await answer(scope, send, 303, headers=[(b"location", place), *_QUIET])
                return
            page = await self._page(link)
        except NotFound as error:
            await say(scope, send, status(error), str(error))
        except ForkyError:
            await say(scope, send, 503, "This page cannot be read at the moment. Try again later.")
        else:
            if scope["method"] == "GET":
                await asyncio.to_thread(lambda: self._links().count(link))
            await self._send(scope, send, link, secret, page)

    async def _page(self, link: Link) -> bytes:
        if not link.live:
            return await asyncio.to_thread(lambda: self._links().page(link))
        async with self._turn:
            return await asyncio.to_thread(self._live, link)

    def _live(self, link: Link) -> bytes:
        """The page of a live link, drawn once for each state of its conversation."""
        from forky_core.people.links.content import page_of  # noqa: PLC0415 - the server's start does without
        from forky_core.people.links.link import LinkEnded  # noqa: PLC0415 - as above

        gone = LinkEnded(
            "What this link showed is not there any more.", "Ask whoever gave you the address for a new one."
        )
        if not self._may_share(link):
            raise gone
        try:
            forky = self._seen_by(link.by)
            key = (link.id, forky.store.view(link.conversation).version)
            if key not in self._drawn:
                page = page_of(forky, link)
                while len(self._drawn) >= DRAWN:
                    self._drawn.pop(next(iter(self._drawn)))
                self._drawn[key] = page
            return self._drawn[key]
        except RequestError as error:
            raise gone from error

    async def _send(self, scope: Scope, send: Send, link: Link, secret: str, page: bytes) -> None:
        address = f"../{FORK}?link={secret}" if self._may_fork(scope) else ""
        offer = fragment("parts.html", "fork_offer", address) if link.can_be_forked else ""
        await _answer(scope, send, 200, page.replace(PLACE_FOR_MORE, offer.encode(), 1))


_QUIET = ((b"x-robots-tag", b"noindex, nofollow"), (b"referrer-policy", b"no-referrer"))


def status(error: NotFound) -> int:
    """410 for what was there and is over; 404 for what never was."""
    from forky_core.people.links.link import LinkEnded  # noqa: PLC0415 - the server's start does without

    return 410 if isinstance(error, LinkEnded) else 404


async def say(scope: Scope, send: Send, status: int, sentence: str) -> None:
    """Answer with a page that is one sentence."""
    await _answer(scope, send, status, whole_page("sentence", sentence=sentence, back="").encode())


async def _answer(scope: Scope, send: Send, status: int, page: bytes) -> None:
    """Send a page under the policy that it states itself, in a sandbox."""
    found = _POLICY.search(page[:8_000])
    policy = found[1].decode("ascii", "replace") if found is not None else "default-src 'none'"
    scripts = "allow-scripts " if "script-src" in policy else ""
    whole = f"{policy}; {_SANDBOX.format(scripts=scripts)}"
    headers = [(b"content-security-policy", whole.encode("ascii", "replace")), *_QUIET]
    body = b"" if scope["method"] == "HEAD" else page
    await answer(scope, send, status, body, "text/html; charset=utf-8", headers)


def _audience() -> str:
    from forky_core.people.links.link import AUDIENCE  # noqa: PLC0415 - the server's start does without

    return AUDIENCE
