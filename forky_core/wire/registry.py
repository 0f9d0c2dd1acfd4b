"""Every protocol in which models are asked at `/v1`, by its path.

A package of somebody else adds one by an entry point of the group `forky.protocols` that names a `ProtocolAdapter`.
"""

from __future__ import annotations

from forky_core.process.plugins import Registry
from forky_core.wire.anthropic import MESSAGES
from forky_core.wire.chat import CHAT
from forky_core.wire.contract import ProtocolAdapter
from forky_core.wire.responses import RESPONSES

PROTOCOLS: tuple[ProtocolAdapter, ...] = (CHAT, RESPONSES, MESSAGES)
"""Those that Forky brings."""
REGISTRY = Registry("forky.protocols", ProtocolAdapter, PROTOCOLS)


def our_protocol(path: str) -> ProtocolAdapter | None:
    """The protocol that Forky brings at this path below `/v1`; None for any other path."""
    return next((adapter for adapter in PROTOCOLS if adapter.path == path), None)


def added_protocol(path: str) -> ProtocolAdapter | None:
    """The protocol that a package brings at this path. It may load packages, so an event loop calls it in a thread."""
    return next((adapter for adapter in REGISTRY.others if adapter.path == path), None)
