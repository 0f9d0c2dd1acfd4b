"""Who says a message, from the words that programs have for it."""

from __future__ import annotations

from forky_core.formats.fields import word
from forky_core.model import Role
from forky_core.model.parts import Json

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "environment": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "request": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "gemini": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "response": "assistant",
    "function_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "toolresult": "tool",
}


def is_role(said: Json) -> bool:
    """Whether a program's word for who speaks is known."""
    return word(said).lower() in _ROLES


def role_of(said: Json) -> Role:
    """The role that a program's word means. One that nobody knows is not taken for a person or a model: its message is
    one of the system, in which `leftovers` keeps and counts the word.
    """
    return _ROLES.get(word(said).lower(), "system")
