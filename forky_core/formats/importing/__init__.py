"""Importing: preview, landing each conversation with its account, and undoing an import."""

from __future__ import annotations

UNFINISHED = "imports/unfinished"
"""Setting: the numbers of the unfinished imports, as a JSON list."""
