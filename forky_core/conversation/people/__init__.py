"""Who takes part in a conversation, who is heard, and what their questions may cost."""
