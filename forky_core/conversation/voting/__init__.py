"""Opening a poll on answers of a conversation, voting in it, and revealing it."""
