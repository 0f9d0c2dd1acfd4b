"""One model call outside the conversation: a squash, a probe. What it says is nobody's answer and is not kept."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from types import MappingProxyType

from forky_core.errors import ModelError
from forky_core.llm.contract import Done, Failed, Model, ProviderMessage, Request, TextDelta
from forky_core.model import Failure
from forky_core.parts import Json, Part, TextPart

NO_PARAMETERS: Mapping[str, Json] = MappingProxyType({})


def ask_once(
    model: Model,
    name: str,
    messages: tuple[ProviderMessage, ...],
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    stop: Event | None = None,
) -> str:
    """The whole answer.

    Raises:
        ModelError: there is none, or `stop` was set; `.partial` has what had arrived.
    """
    said: list[str] = []
    stopped = stop or Event()
    for event in model.stream(Request(name, messages, parameters), stopped):
        match event:
            case TextDelta(text):
                said.append(text)
            case Failed(failure, _):
                raise ModelError(failure, _so_far(said))
            case Done():
                return "".join(said)
    why = Failure("stopped", "You stopped it. Nothing was written.")
    if not stopped.is_set():
        why = Failure("cut_off", "The answer ended before its end. Nothing was written.")
    raise ModelError(why, _so_far(said))


def _so_far(said: list[str]) -> tuple[Part, ...]:
    return (TextPart("".join(said)),) if said else ()
