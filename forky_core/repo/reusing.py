"""Giving a stored answer again: an identical call need not be paid for twice.

Identical is what has the same prompt hash and the same model, in the same conversation. It is off unless a caller or
the conversation asks for it, and a conversation asks for it only where the model is told to be greedy (temperature
0): a fresh sample is what everything else is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from forky_core.matching.call import is_greedy
from forky_core.model import Generation, MessageId, Usage
from forky_core.parts import Json
from forky_core.repo.identity import now
from forky_core.repo.repo import Repo

REUSE = "reuse"
"""The key of the view that says that a conversation gives stored answers again."""


def wants_reuse(repo: Repo, parameters: Mapping[str, Json], *, asked: bool | None) -> bool:
    """Whether a stored answer is looked for; `asked` is what the caller says, None: as the conversation is set.

    Never where several answers, or their probabilities, are wanted.
    """
    if parameters.get("n", 1) not in (1, None) or parameters.get("logprobs"):
        return False
    if asked is not None:
        return asked
    return bool(repo.view.entries.get(REUSE)) and is_greedy(parameters)


def stored_answer(repo: Repo, prompt: str, model: str) -> tuple[Generation, MessageId] | None:
    """The newest call with this prompt whose answer is whole, and that answer."""
    for generation in reversed(repo.generations()):
        same = generation.prompt == prompt and generation.model == model and generation.status == "done"
        if same and generation.message is not None:
            return generation, generation.message
    return None


def given_again(asked: Generation, stored: Generation) -> Generation:
    """The call that was not made: it took nothing, and saved what the stored one cost."""
    return replace(
        asked,
        status="done",
        usage=Usage(0, 0, cost=0.0, saved=stored.usage.cost),
        finish_reason=stored.finish_reason,
        first_token=None,
        finished=now(),
        reused=stored.reused or stored.id,
    )
