"""The path below which the gateway answers other programs."""

from __future__ import annotations

PREFIX = "/v1"
