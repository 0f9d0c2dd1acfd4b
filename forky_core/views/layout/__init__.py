"""The layout of a conversation as a graph: reading order, lanes, and the text of a line. It imports only values."""
