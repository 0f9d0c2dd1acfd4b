"""Every protocol in which models are asked at `/v1`, by its path.

A package of somebody else adds one by an entry point of the group `forky.protocols` that names a `Speech`.
"""

from __future__ import annotations

from forky_core.gateway.v1.calls import Speech
from forky_core.gateway.v1.protocols.anthropic import MESSAGES
from forky_core.gateway.v1.protocols.chat import CHAT
from forky_core.gateway.v1.protocols.responses import RESPONSES
from forky_core.plugins import Registry

PROTOCOLS: tuple[Speech, ...] = (CHAT, RESPONSES, MESSAGES)
"""Those that Forky brings."""
REGISTRY = Registry("forky.protocols", Speech, PROTOCOLS)


def our_protocol(path: str) -> Speech | None:
    """The protocol that Forky brings at this path below `/v1`; None for any other path."""
    return next((speech for speech in PROTOCOLS if speech.path == path), None)


def added_protocol(path: str) -> Speech | None:
    """The protocol that a package brings at this path. It may load packages, so an event loop calls it in a thread."""
    return next((speech for speech in REGISTRY.others if speech.path == path), None)
