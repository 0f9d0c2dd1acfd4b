"""Reusing stored answers, so that an identical call need not be paid for twice.

Calls are identical if they have the same prompt hash and the same model, in the same conversation. Reuse is off unless
a caller or the conversation enables it, and a conversation enables it only for greedy calls (temperature 0): all other
calls want a fresh sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forky_core.conversation.identity import now
from forky_core.conversation.session import Session
from forky_core.matching.keys import is_greedy, prompt_hash
from forky_core.model import Generation, MessageId, Usage, View
from forky_core.model.errors import BadCall
from forky_core.model.parts import Json
from forky_core.wire.chat import chat_call

REUSE = "reuse"
"""The key of the view that says that a conversation reuses stored answers."""


def wants_reuse(parameters: Mapping[str, Json], view: View, *, asked: bool | None) -> bool:
    """Whether to look for a stored answer; `asked` is the caller's setting, None: use the conversation's.

    False if several answers, or their probabilities, are requested.
    """
    if parameters.get("n", 1) not in (1, None) or parameters.get("logprobs"):
        return False
    if asked is not None:
        return asked
    return bool(view.entries.get(REUSE)) and is_greedy(parameters)


def prompt_of(messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Json]) -> str:
    """The prompt hash of a request; "" if it contains values that no API takes."""
    try:
        return prompt_hash(chat_call({**parameters, "messages": list(messages)}))
    except (BadCall, ValueError, RecursionError):
        return ""


def stored_answer(session: Session, prompt: str, model: str) -> tuple[Generation, MessageId] | None:
    """The newest call with this prompt and a complete answer, and that answer."""
    for generation in reversed(session.generations()):
        same = generation.prompt == prompt and generation.model == model and generation.status == "done"
        if same and generation.message is not None:
            return generation, generation.message
    return None


def reused_generation(asked: Generation, stored: Generation) -> Generation:
    """The generation of a call that was answered from the store, and so used no tokens."""
    return replace(
        asked,
        status="done",
        usage=Usage(0, 0, cost=0.0),
        finish_reason=stored.finish_reason,
        provider_reason=stored.provider_reason,
        first_token=None,
        finished=now(),
        reused=stored.reused or stored.id,
    )
