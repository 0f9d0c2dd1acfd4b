"""What OpenAI, Anthropic and Gemini refuse, written from their documentation and independently of the normaliser."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

THOUGHTS = frozenset({"reasoning_content", "thinking_blocks"})


def waiting_for(message: dict[str, Any]) -> list[str]:
    """The ids of the calls whose results must follow."""
    return [call["id"] for call in message.get("tool_calls", ())]


def problems(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Why a provider would refuse these messages; [] where none would. The very end is not judged."""
    found: list[str] = []
    body = list(messages)
    if body and body[0]["role"] == "system":
        found += _content_problems(body.pop(0), pictures=False)
    if body and body[0]["role"] != "user":
        found.append(f"begins with {body[0]['role']}")
    used: set[str] = set()
    waiting: list[str] = []
    before = ""
    for message in body:
        if message["role"] == "tool":
            found += _result_problems(message, waiting.pop(0) if waiting else None)
            before = "tool"
            continue
        if waiting:
            found.append("a call without its result")
        if message["role"] == before:
            found.append(f"two {before} turns in a row")
        found += _turn_problems(message, used)
        if not waiting_for(message) and before != "tool" and THOUGHTS & message.keys():
            found.append("thoughts of a turn without a call")
        waiting = waiting_for(message)
        before = message["role"]
    return [*found, "ends with a call without its result"] if waiting else found


def _result_problems(message: dict[str, Any], expected: str | None) -> list[str]:
    found: list[str] = []
    if expected is None or message["tool_call_id"] != expected:
        found.append("a result that answers no call, or not in the order of the calls")
    if not isinstance(message["content"], str) or not message["content"]:
        found.append("an empty result")
    if set(message) != {"role", "tool_call_id", "content"}:
        found.append(f"a result with the fields {sorted(message)}")
    return found


def _turn_problems(message: dict[str, Any], used: set[str]) -> list[str]:
    role, calls = message["role"], message.get("tool_calls")
    found = [] if role in ("user", "assistant") else [f"role {role} in the middle"]
    own = THOUGHTS if role == "assistant" else frozenset()
    if set(message) - {"role", "content", "tool_calls"} - own:
        found.append(f"a turn with the fields {sorted(message)}")
    if calls is not None:
        if role != "assistant" or not calls:
            found.append("calls where there can be none")
        found += [problem for call in calls for problem in _call_problems(call, used)]
    if calls is None or message["content"] is not None:
        found += _content_problems(message, pictures=role == "user")
    return found


def _call_problems(call: dict[str, Any], used: set[str]) -> list[str]:
    found: list[str] = []
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", call["id"]):
        found.append(f"call id {call['id']!r}")
    if call["id"] in used:
        found.append(f"call id {call['id']!r} used twice")
    used.add(call["id"])
    if call["type"] != "function" or not re.fullmatch(
        r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", call["function"]["name"]
    ):
        found.append(f"function name {call['function']['name']!r}")
    if not isinstance(json.loads(call["function"]["arguments"]), dict):
        found.append("arguments that are no object")
    return found


def _content_problems(message: dict[str, Any], *, pictures: bool) -> list[str]:
    content = message["content"]
    if isinstance(content, str):
        return [] if content.strip() else [f"empty text in a {message['role']} turn"]
    if not isinstance(content, list) or not content:
        return [f"no content in a {message['role']} turn"]
    found: list[str] = []
    for part in content:
        if part["type"] == "text":
            if not part["text"].strip():
                found.append("an empty text part")
        elif part["type"] != "image_url" or not pictures:
            found.append(f"a part of type {part['type']} in a {message['role']} turn")
    return found
