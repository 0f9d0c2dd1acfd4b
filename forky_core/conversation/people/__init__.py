"""The participants of a conversation, their names in requests, and what their questions may cost."""
