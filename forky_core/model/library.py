"""What surrounds conversations: their lines in the Library, search results, the bytes of attachments."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.model.ids import ConversationId, MessageId, Role


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One line of the Library."""

    id: ConversationId
    title: str
    created: int
    updated: int
    """The time of its last operation."""
    messages: int
    branches: int
    trashed: bool
    branch: str
    """The branch that moved last, where a person resumes."""
    program: str = ""
    """The program that began it, its token and the folder it worked in: “laptop (aider) · shop”; "" if a person did."""
    folder: str = ""
    """The folder it is in; "" if it is in none."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of an attachment."""

    sha256: str
    media_type: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that a search found."""

    conversation: ConversationId
    title: str
    message: MessageId
    role: Role
    snippet: str
    """Plain text around the first match, at most 200 characters, on one line."""
    score: float
    """Higher is better; comparable within one search only."""
    created: int
