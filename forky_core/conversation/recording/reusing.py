"""Giving a stored answer again: an identical call need not be paid for twice.

Identical is what has the same prompt hash and the same model, in the same conversation. It is off unless a caller or
the conversation asks for it, and a conversation asks for it only where the model is told to be greedy (temperature
0): a fresh sample is what everything else is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forky_core.conversation.identity import now
from forky_core.conversation.repo import Repo
from forky_core.matching import chat_call, is_greedy, prompt_hash
from forky_core.model import Generation, MessageId, Operation, Usage, View
from forky_core.model.errors import BadCall, NothingToDo
from forky_core.model.parts import Json

REUSE = "reuse"
"""The key of the view that says that a conversation gives stored answers again."""


def wants_reuse(parameters: Mapping[str, Json], view: View, *, asked: bool | None) -> bool:
    """Whether a stored answer is looked for; `asked` is what the caller says, None: as the conversation is set.

    Never where several answers, or their probabilities, are wanted.
    """
    if parameters.get("n", 1) not in (1, None) or parameters.get("logprobs"):
        return False
    if asked is not None:
        return asked
    return bool(view.entries.get(REUSE)) and is_greedy(parameters)


def prompt_of(messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Json]) -> str:
    """The prompt hash of a request as it is sent; "" where it holds what no API takes."""
    try:
        return prompt_hash(chat_call({**parameters, "messages": list(messages)}))
    except (BadCall, ValueError, RecursionError):
        return ""


def switch(repo: Repo, *, on: bool) -> Operation:
    """NothingToDo where it is so already."""
    tx = repo.live()
    tx.set(REUSE, True if on else None)
    if not tx.changes:
        raise NothingToDo(f"Stored answers are {'' if on else 'not '}given again here already.")
    return tx.publish(
        "reuse",
        "Stored answers are given again at temperature 0" if on else "Every call is made, whatever is stored",
    )


def stored_answer(repo: Repo, prompt: str, model: str) -> tuple[Generation, MessageId] | None:
    """The newest call with this prompt whose answer is whole, and that answer."""
    for generation in reversed(repo.generations()):
        same = generation.prompt == prompt and generation.model == model and generation.status == "done"
        if same and generation.message is not None:
            return generation, generation.message
    return None


def given_again(asked: Generation, stored: Generation) -> Generation:
    """The call that was not made: it took nothing."""
    return replace(
        asked,
        status="done",
        usage=Usage(0, 0, cost=0.0),
        finish_reason=stored.finish_reason,
        first_token=None,
        finished=now(),
        reused=stored.reused or stored.id,
    )
