"""Two models that need no key and no network, so that every page works on a fresh machine.

`offline/quote` quotes passages that are relevant to the question, `offline/digest` digests the conversation so far.
Neither thinks, and each answer begins by saying so. They read nothing but the request, like any other model (law 7).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import TYPE_CHECKING

from forky_core.llm.contract import OFFLINE, Done, ModelEvent, ModelInfo, ProviderMessage, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model import Usage
from forky_core.process.lazy_names import import_when_used

if TYPE_CHECKING:
    from forky_core.documents.retrieval import digest, quote
else:
    import_when_used(globals(), __spec__)

_WORD = re.compile(r"\S+\s*|\s+")
_PACE = 0.002
"""Seconds between two words: quick, but visibly written."""


Answer = Callable[[Sequence[ProviderMessage]], Iterator[str]]


class OfflineModel:
    """Answers with a pure function of the request's messages: Markdown blocks, an empty line between two."""

    def __init__(self, info: ModelInfo, answer: Answer, pace: float = _PACE) -> None:
        self._info = info
        self._answer = answer
        self._pace = pace

    def info(self) -> ModelInfo:
        return self._info

    count_tokens = staticmethod(estimate_tokens)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        said: list[str] = []
        for block in self._answer(request.messages):
            for word in _WORD.findall(f"\n\n{block}" if said else block):
                if stop.is_set():
                    return
                said.append(word)
                yield TextDelta(word)
                if self._pace and stop.wait(self._pace):
                    return
        if not stop.is_set():
            text = "".join(said)
            yield Done("stop", Usage(prompt_tokens(request.messages), estimate_tokens(text), cost=0.0))


def _info(name: str, label: str) -> ModelInfo:
    return ModelInfo(
        name,
        label,
        OFFLINE,
        input_price=0.0,
        output_price=0.0,
        cached_input_price=0.0,
        sees_images=False,
        calls_tools=False,
        continues=False,
    )


QUOTE = "offline/quote"
DIGEST = "offline/digest"


def offline_models() -> tuple[OfflineModel, ...]:
    """Return both, the default of a fresh machine first."""
    return (
        # Functions that look the names up when they are called.
        OfflineModel(_info(QUOTE, "Offline: quotes"), lambda messages: quote.answer(messages)),  # noqa: PLW0108
        OfflineModel(_info(DIGEST, "Offline: digest"), lambda messages: digest.answer(messages)),  # noqa: PLW0108
    )
