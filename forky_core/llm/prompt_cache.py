"""Helps a provider's prompt cache, so that a fork pays for its shared history once.

OpenAI caches by itself and routes by a key; Anthropic caches up to marked places, at most four. The marks are on the
system prompt, on the previous question (which the previous call already cached) and on the newest message (which the
next call and every fork from here will read).
"""

from __future__ import annotations

from typing import Any

from forky_core.llm.contract import ProviderMessage

_MARK = {"type": "ephemeral"}


def mark_for_claude(messages: list[ProviderMessage]) -> None:
    """Put the marks on messages; they are changed, so pass copies."""
    if messages and messages[0].get("role") == "system":
        _mark(messages[0])
    questions = [message for message in messages if message.get("role") == "user"]
    for message in questions[-2:]:
        _mark(message)


def _mark(message: ProviderMessage) -> None:
    content: Any = message.get("content")
    if isinstance(content, str) and content:
        message["content"] = [{"type": "text", "text": content, "cache_control": dict(_MARK)}]
    elif isinstance(content, list) and content and isinstance(content[-1], dict):
        content[-1]["cache_control"] = dict(_MARK)
