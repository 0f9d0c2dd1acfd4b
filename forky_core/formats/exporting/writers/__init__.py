"""One file for each format that a conversation can leave in; what one is, says ../exporting.py."""
