"""Reading what a link of another Forky shows, and giving a fork of it back, by the link's address.

Only addresses that `llm/addresses.py` allows are asked, redirects are not followed, and what is read is limited. What
comes is read as a file from anywhere is: nothing in it is trusted.
"""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import dataclass

import httpx

from forky_core.formats.files.json_values import lines
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.reading import read_chat
from forky_core.formats.forky_file.writing import written
from forky_core.llm.addresses import NAMED, checked_url, without_password
from forky_core.llm.http_clients import HttpClients
from forky_core.llm.loop import submit
from forky_core.model.errors import BadContent
from forky_core.people.links.link import LARGEST
from forky_core.views.shelf import count

FILE = "file"
"""The part of the address below a link's own at which its file is."""
ADDED = f"/{FILE}"
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ReturnReceipt:
    """What the other Forky answered to a fork that was given back."""

    messages: int
    requests: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """What people are told of it."""
        if not self.requests:
            return "Nothing is new in it."
        numbers = ", ".join(map(str, self.requests))
        return f"{count(self.messages, 'message')} given back: merge request {numbers} there."


def file_address(address: str) -> str:
    """The address of a link's file, from that of the link or its own. Raises BadContent, AddressRefused."""
    url = checked_url(address)
    return url if url.endswith(ADDED) else url + ADDED


def fetched(address: str) -> Chat:
    """What the link at this address shows now.

    Raises:
        BadContent: it cannot be read, has expired, is too large or is no Forky chat file.
        AddressRefused: requests to its host are refused.
    """
    return read_file(submit(_asked(file_address(address), None)).result())


def give_back_to(address: str, chat: Chat) -> ReturnReceipt:
    """Propose what a fork has added in the conversation that the link at this address shows.

    Raises:
        BadContent: the link is over or takes nothing back, or the file is of no fork of it or too large.
        AddressRefused: requests to its host are refused.
    """
    body = "".join(written(chat)).encode()
    if len(body) > LARGEST:
        raise BadContent(
            f"The fork's file has more than {LARGEST // 1_000_000} MB.", "Give it away as a file."
        )
    try:
        done = json.loads(submit(_asked(file_address(address), body)).result())
        return ReturnReceipt(int(done["messages"]), tuple(int(one) for one in done["requests"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadContent(
            "The answer is not that of a Forky.", "Look whether the address was copied whole."
        ) from error


def read_file(body: bytes) -> Chat:
    """The conversation of a Forky chat file. Raises BadContent."""
    return read_chat(lines(io.BytesIO(body)))


async def _asked(url: str, body: bytes | None) -> bytes:
    clients = HttpClients()
    shown = without_password(url).rpartition("/s/")[0]
    try:
        method = "GET" if body is None else "POST"
        request = clients.client(NAMED, url).stream(method, url, content=body, timeout=_SECONDS)
        async with asyncio.timeout(_SECONDS), request as response:
            read = bytearray()
            async for piece in response.aiter_bytes():
                read += piece
                if len(read) > LARGEST:
                    raise BadContent(f"What is at this address has more than {LARGEST // 1_000_000} MB.")
            if response.status_code != httpx.codes.OK:
                raise BadContent(
                    f"{shown} answers: {_sentence(bytes(read), response)}",
                    "Ask for a new link; a file of the fork comes home as well (forky export, forky import).",
                )
            return bytes(read)
    except (httpx.HTTPError, TimeoutError, OSError) as error:
        raise BadContent(f"{shown} cannot be reached, or does not answer.", "Look at the address.") from error
    finally:
        await clients.close()


def _sentence(body: bytes, response: httpx.Response) -> str:
    """What a Forky says; of another server only the status."""
    plain = response.headers.get("content-type", "").startswith("text/plain")
    said = (
        body.decode("utf-8", "replace") if plain and len(body) < 1_000 else f"status {response.status_code}"
    )
    return "".join(c if c.isprintable() else " " for c in said)[:300]
