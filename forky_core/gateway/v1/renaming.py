"""Replaces the model's name in a request's bytes and changes nothing else.

A server on this machine calls its model "llama3" where Forky says "ollama/llama3". Serialising the JSON again would
change numbers and the order of keys; so only the bytes of that one value are replaced.
"""

from __future__ import annotations

import json
import re

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def renamed(body: bytes, model: str) -> bytes:
    """`body`, a JSON object, with another value of `model`; unchanged if that cannot be found."""
    text = body.decode("utf-8", "surrogateescape")
    spans: list[tuple[int, int]] = []
    try:
        at = _skip(text, _skip(text, 0) + 1)
        while text[at] != "}":
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
            _, end = _decoder.raw_decode(text, at)
            if key == "model":
                spans.append((at, end))
            at = _skip(text, end)
            if text[at] == ",":
                at = _skip(text, at + 1)
    except (ValueError, IndexError, RecursionError):
        return body
    for begin, end in reversed(spans):
        text = f"{text[:begin]}{json.dumps(model)}{text[end:]}"
    return text.encode("utf-8", "surrogateescape")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
