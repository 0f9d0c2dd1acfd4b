"""Names of models as strangers may read them, and several names in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PORT = re.compile(r"(?:\[[^\[\]]*\]|[^:\[\]]+):\d{1,5}")
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.%]*\]")
_DOMAIN = re.compile(r"(?:[\w-]+\.)+[a-zA-Z][\w-]*\.?")


def without_server(name: str) -> str:
    """The name of a model without the address of the server that offers it: “10.0.0.7:8000/llama” is “llama”.

    Names of providers, as in “openai/gpt-4o”, stay. A server's address is the beginning of its models' names
    (`LocalServer.id`); a name with a dot is one only there, since models have such names, too.
    """
    parts = name.split("/")
    for at in range(len(parts) - 2, -1, -1):
        part = parts[at]
        if (
            part.lower() == "localhost"
            or _PORT.fullmatch(part)
            or _NUMBERS.fullmatch(part)
            or (at == 0 and _DOMAIN.fullmatch(part))
        ):
            return "/".join(parts[at + 1 :]) or name
    return name


def together(names: Iterable[str]) -> str:
    """Return names as a list in a sentence, each once: “one, two and three”."""
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last}" if first else last
