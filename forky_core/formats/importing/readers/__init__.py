"""One file for each format. registry.py lists them in the order they are asked in."""
