"""Tool calls that a provider would refuse, sent as text with their results."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from forky_core.context.normalise import flat_call, flat_result
from forky_core.llm.contract import ProviderMessage

_FIELDS = frozenset({"tool_calls", "function_call", "reasoning_content", "thinking_blocks"})


def calls_as_text(messages: Sequence[ProviderMessage], bare: Collection[int]) -> list[ProviderMessage]:
    """Return the messages with the calls of those at the indices `bare`, and their results, as text."""
    found: list[ProviderMessage] = []
    names: dict[str, str] = {}
    for at, message in enumerate(messages):
        if at in bare:
            calls = message["tool_calls"]
            names |= {str(call.get("id")): str(call["function"].get("name")) for call in calls}
            content, called = message.get("content"), [flat_call(call) for call in calls]
            kept = {name: value for name, value in message.items() if name not in _FIELDS}
            if isinstance(content, list):
                text: object = [*content, *({"type": "text", "text": one} for one in called)]
            else:
                text = "\n\n".join(filter(None, (content, *called)))
            found.append({**kept, "content": text})
        elif message["role"] == "tool" and message.get("tool_call_id") in names:
            name = message.get("name") or names[message["tool_call_id"]]
            text = flat_result({**message, "name": name})
            if found[-1]["role"] == "user":  # The result of another call of the same message.
                found[-1] = {"role": "user", "content": f"{found[-1]['content']}\n\n{text}"}
            else:
                found.append({"role": "user", "content": text})
        else:
            found.append(message)
    return found
