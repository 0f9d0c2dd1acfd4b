"""Importing: preview, landing each conversation with its account, and undoing an import."""
