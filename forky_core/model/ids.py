"""The types of ids inside a conversation, and the roles of messages."""

from __future__ import annotations

from typing import Literal, NewType

MessageId = NewType("MessageId", str)
"""`b2:` + 32 hex digits: the path hash of hashing.py. Unique inside a conversation."""
ConversationId = NewType("ConversationId", str)
"""A version-7 UUID as 36 characters."""
GenerationId = NewType("GenerationId", str)
"""A version-7 UUID as 36 characters."""

Role = Literal["system", "user", "assistant", "tool"]
