"""One file for each import format. registry.py lists them in the order they are tried in."""
