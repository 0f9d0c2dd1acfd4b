"""The address at which a server offers its store."""

from __future__ import annotations

PATH = "/api/v1/store"
"""The name of the method follows."""
HEAR = "hear"
"""Below it: the ids of conversations as they change, a line each, to whoever follows them."""
PROCESS = "x-forky-process"
"""The header by which a process that uses the store says which one it is, to tell who is gone."""
