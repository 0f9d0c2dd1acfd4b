"""The address at which a server offers its store."""

from __future__ import annotations

PATH = "/api/v1/store"
"""The name of the method follows."""
