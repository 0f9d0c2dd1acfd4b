"""An export: what of a conversation leaves, in which words, and what the format cannot hold."""
