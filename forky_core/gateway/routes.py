"""The path prefixes of what other programs ask."""

from __future__ import annotations

PREFIX = "/v1"
"""Models, in the protocols of their providers."""
VERBS = "/api/v1"
"""The verbs, as JSON."""
TOOLS = "/mcp"
"""The verbs, as tools of the Model Context Protocol."""
