"""One model call outside the conversation, for a squash or a probe. Its text is not stored as an answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Event
from types import MappingProxyType

from forky_core.conversation.people.spending import paid_for
from forky_core.conversation.replies.ending import NO_USAGE
from forky_core.conversation.session import Session
from forky_core.llm.contract import Done, Failed, ProviderMessage, Request, TextDelta
from forky_core.model import Failure, GenerationStatus, Usage
from forky_core.model.errors import ModelError
from forky_core.model.parts import Json, Part, TextPart
from forky_core.model.thoughts import split_thoughts
from forky_core.process import events

NO_PARAMETERS: Mapping[str, Json] = MappingProxyType({})


def ask_once(
    session: Session,
    name: str,
    messages: tuple[ProviderMessage, ...],
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    stop: Event | None = None,
) -> str:
    """The complete answer of one call of the model of this name, paid for by whoever asks.

    Raises:
        NotFound: the model is no longer available.
        ModelError: there is no complete answer, or `stop` was set; `.partial` has what had arrived.
    """
    said: list[str] = []
    stopped, begun = stop or Event(), time.perf_counter()

    def ended(state: GenerationStatus, usage: Usage = NO_USAGE) -> None:
        events.model_called(
            model=name,
            state=state,
            seconds=time.perf_counter() - begun,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            cost=usage.cost,
        )

    for event in paid_for(session, session.models.model(name)).stream(
        Request(name, messages, parameters), stopped
    ):
        match event:
            case TextDelta(text):
                said.append(text)
            case Failed(failure, usage, cause):
                events.model_failed(model=name, kind=failure.kind, fault=cause)
                ended("failed", usage)
                raise ModelError(failure, _so_far(said)) from cause
            case Done(_, usage):
                ended("done", usage)
                return split_thoughts("".join(said))[1]
    why = Failure("stopped", "You stopped it. Nothing was written.")
    if not stopped.is_set():
        why = Failure("cut_off", "The answer ended before its end. Nothing was written.")
        events.model_failed(model=name, kind=why.kind)
    ended("stopped" if stopped.is_set() else "interrupted")
    raise ModelError(why, _so_far(said))


def _so_far(said: list[str]) -> tuple[Part, ...]:
    return (TextPart("".join(said)),) if said else ()
