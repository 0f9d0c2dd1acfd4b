"""Rows of the file as messages, paths, hits; and the check of all of them."""
