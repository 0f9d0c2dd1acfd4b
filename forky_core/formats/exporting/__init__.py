"""Exports: which messages are exported, how merges are rendered, and what the format cannot hold."""
