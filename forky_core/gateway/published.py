"""`GET /s/{secret}`: a page that somebody published (forky_core/publishing/published_pages.py).

Whoever has the address can read it, without signing in. So it is served apart from everything else here: its policy is
the one it states itself, which names its script and its style by their hashes, and the sandbox gives it an origin of
its own, in which neither a cookie nor anything that the browser keeps for this server can be reached. Addresses that
lead nowhere get the same answer, whatever the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.access.person import workspace_of
from forky_core.gateway.asgi import Receive, Scope, Send, answer
from forky_core.model.errors import ForkyError, NotFound

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.workspace import Workspace
    from forky_core.publishing.published_pages import ServedPage

PREFIX = "/s"
_SANDBOX = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'"
_REFUSAL = f"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; {_SANDBOX}"
_SENTENCE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Forky</title><style>:root {{ color-scheme: light dark; }}
body {{ font: 1.3rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center;
  background: light-dark(#fcfbf9, #15181a); color: light-dark(#23272a, #dfe3e1); }} p {{ max-width: 34rem; padding: 2rem; }}
</style></head><body><p>{sentence}</p></body></html>
"""


class PublishedAt:
    """The endpoint, an ASGI app. `workspace` returns the one with an id; it may wait, and is called in a thread."""

    def __init__(self, workspace: Callable[[str], Workspace]) -> None:
        self._workspace = workspace

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["method"] not in {"GET", "HEAD"}:
            await _say(scope, send, 405, "This address can only be read.")
            return
        try:
            page = await asyncio.to_thread(self._open, workspace_of(scope), scope["path_params"]["secret"])
        except NotFound as error:
            await _say(scope, send, 404, str(error))
        except ForkyError:
            await _say(scope, send, 503, "This page cannot be read at the moment. Try again later.")
        else:
            body = b"" if scope["method"] == "HEAD" else page.content
            await _send(scope, send, 200, body, f"{page.policy}; {_SANDBOX}")

    def _open(self, workspace: str, secret: str) -> ServedPage:
        from forky_core.publishing.published_pages import PublishedPages  # noqa: PLC0415 - the server's start does without

        return PublishedPages(self._workspace(workspace).store).open(secret)


async def _say(scope: Scope, send: Send, status: int, sentence: str) -> None:
    from forky_core.showing.escaping import safe  # noqa: PLC0415 - the server's start does without

    await _send(scope, send, status, _SENTENCE.format(sentence=safe(sentence)).encode(), _REFUSAL)


async def _send(scope: Scope, send: Send, status: int, body: bytes, policy: str) -> None:
    headers = [
        (b"content-security-policy", policy.encode("ascii", "replace")),
        (b"x-robots-tag", b"noindex, nofollow"),
    ]
    await answer(scope, send, status, body, "text/html; charset=utf-8", headers)
