"""Experiments as files: a page to send, tables, and the experiment itself to run elsewhere."""
