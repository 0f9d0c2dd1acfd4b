"""Decides which pictures and files that a message names only by URL may be sent to a model.

Forky downloads nothing that a message names. LiteLLM would: for some providers it fetches a picture, and for nearly all
a file (`{"type": "file", "file": {"file_id": "https://…"}}`), from this computer, at the request of whoever wrote the
message. So a message with a URL is passed to LiteLLM only if LiteLLM passes the URL on and the provider fetches it
itself. Contexts that Forky builds have the bytes of their files; messages with URLs come from programs, through `/v1`
or in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from forky_core.llm.contract import ProviderMessage

PICTURES_READ_BY = frozenset(
    [
        "openai",
        "anthropic",
        "mistral",
        "groq",
        "xai",
        "openrouter",
        "moonshot",
        "together_ai",
        "fireworks_ai",
        "perplexity",
        "cerebras",
    ]
)
"""Ids of the providers to which LiteLLM passes the https URL of a picture unchanged; a test checks them."""
_URL = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{0,30}://|www\.|file:)", re.IGNORECASE)
_WORDS = frozenset(
    {"text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "tool_use"}
)
"""Types of parts in which a URL is only text."""


def unsendable_link(messages: Iterable[ProviderMessage], schemes: tuple[str, ...]) -> str | None:
    """Return the first URL that LiteLLM might fetch; None if the messages may be sent.

    `schemes` are the beginnings of picture URLs that the model's provider reads itself.
    """
    for message in messages:
        for part, url in _links(message.get("content")):
            picture = part.get("type") == "image_url"
            if not (picture and url.lower().startswith(schemes)):
                return url
    return None


def _links(content: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every URL in the parts of a content other than text, with its part."""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict) or part.get("type") in _WORDS:
            continue
        if isinstance(part.get("content"), list):
            yield from _links(part["content"])
        for text in _texts({name: value for name, value in part.items() if name != "content"}):
            if _URL.match(text):
                yield part, text


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                waiting += fields.values()
            case list(entries):
                waiting += entries
            case _:
                pass
