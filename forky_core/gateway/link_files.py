"""`/s/{secret}/file`: what a link shows as a Forky chat file, and the way back for a fork of it.

GET gives what the link's page shows to whoever has its address, under the same conditions. POST takes the file of a
fork, where the link's maker allowed that: it becomes a merge request in the conversation, which somebody lands or not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Scope, Send, answer, read_body
from forky_core.gateway.links import status
from forky_core.model.errors import BadContent, ForkyError, NotAllowed, NotFound

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.workspace import Workspace
    from forky_core.formats.forky_file.adopting import AdoptResult
    from forky_core.formats.forky_file.chat import Chat
    from forky_core.people.links.link import Link

_QUIET = (
    (b"x-robots-tag", b"noindex, nofollow"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; sandbox; frame-ancestors 'none'"),
)
_NAMED = (b"content-disposition", b'attachment; filename="chat.forky.jsonl"')
_OPEN = 20
"""Merge requests of forks that may be open in a conversation before its link takes nothing more."""
_STATUS = {NotFound: 410, NotAllowed: 403, BadContent: 422}


class LinkFileAt:
    """The endpoint, an ASGI app. What it is given may wait, and is called in a thread."""

    def __init__(
        self,
        opened: Callable[[str], tuple[Link, Chat]],
        seen_by: Callable[[str], Workspace],
        count: Callable[[Link], None],
    ) -> None:
        """`opened` gives a link and what it shows by its secret, `seen_by` the workspace as a link's maker sees it;
        `count` counts a visit.
        """
        self._opened = opened
        self._seen_by = seen_by
        self._count = count
        self._turn = asyncio.Lock()
        """Held while a file is made or read: a hundred who ask take one thread of the server's few, and not all."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from forky_core.people.links.link import LARGEST  # noqa: PLC0415 - the server's start does without

        secret, method = scope["path_params"]["secret"], scope["method"]
        if method not in {"GET", "POST"}:
            await _say(scope, send, 405, "This address is read with GET; a fork is given back with POST.")
            return
        try:
            async with self._turn:
                if method == "GET":
                    body = await asyncio.to_thread(self._file, secret)
                    headers, kind = [*_QUIET, _NAMED], "application/x-ndjson"
                elif (given := await read_body(receive, LARGEST)) is None:
                    await _say(scope, send, 413, f"The file has more than {LARGEST // 1_000_000} MB.")
                    return
                else:
                    body = await asyncio.to_thread(self._take_back, secret, given)
                    headers, kind = [*_QUIET], "application/json"
        except ForkyError as error:
            code = next((one for kind, one in _STATUS.items() if isinstance(error, kind)), 503)
            code = status(error) if isinstance(error, NotFound) else code
            sentence = "This cannot be done at the moment. Try again later." if code == 503 else str(error)
            await _say(scope, send, code, sentence)
        else:
            await answer(scope, send, 200, body, kind, headers)

    def _file(self, secret: str) -> bytes:
        from forky_core.formats.forky_file.writing import written  # noqa: PLC0415 - the server's start does without
        from forky_core.people.links.link import LARGEST  # noqa: PLC0415 - as above

        link, part = self._opened(secret)
        made = bytearray()
        for line in written(part):
            made += line.encode("utf-8", "replace")
            if len(made) > LARGEST:
                raise BadContent(f"This has more than {LARGEST // 1_000_000} MB.", "Ask for it as a file.")
        self._count(link)
        return bytes(made)

    def _take_back(self, secret: str, body: bytes) -> bytes:
        from forky_core.formats.forky_file.adopting import give_back  # noqa: PLC0415 - the server's start does without
        from forky_core.formats.forky_file.giving_back import origins_of  # noqa: PLC0415 - as above
        from forky_core.people.links.fetching import read_file  # noqa: PLC0415 - as above

        link, _ = self._opened(secret)
        if not link.returns:
            raise NotAllowed(
                "By this link nothing is given back.", "Send the fork's file to whoever shared it."
            )
        chat = read_file(body)
        if link.conversation not in origins_of(chat):
            raise BadContent("This is no fork of what the link shows.", "Fork it by `forky import ADDRESS`.")
        forky = self._seen_by(link.by)
        waiting = forky.conversation(link.conversation).requests.all
        if sum(one.state == "open" and one.source.rpartition("fork-")[1] != "" for one in waiting) >= _OPEN:
            raise NotAllowed(f"{_OPEN} forks wait to be looked at there.", "Try again later.")
        done: AdoptResult = give_back(forky, link.conversation, chat, through=f"by the link {link.id}")
        return json.dumps({"messages": done.messages, "requests": list(done.requests)}).encode()


async def _say(scope: Scope, send: Send, status: int, sentence: str) -> None:
    await answer(scope, send, status, sentence.encode(), headers=_QUIET)
