"""The path prefix of the gateway's API for other programs."""

from __future__ import annotations

PREFIX = "/v1"
