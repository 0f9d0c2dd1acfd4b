"""Merging: plan → payload → one message, each step a value that can be looked at (laws 3 and 8)."""
