"""Merges as plans that are shown first and landed as one operation; conflicts and requests as values (law 8)."""
