"""A model that is a function of the program: from the messages of a request to a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event

from forky_core.llm.contract import Done, Failed, ModelEvent, ModelInfo, ProviderMessage, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model import Failure, Usage

Function = Callable[[Sequence[ProviderMessage]], str | Iterable[str]]


class FunctionModel:
    """A model that answers with the result of a function.

    The function gets the messages of the request, in the form of OpenAI's chat completions, and returns the answer, or
    yields it in pieces. If it raises an error, the reply has failed, and the pieces so far are stored. Tokens are
    estimated. A model that reads parameters, calls tools or counts tokens itself is a class with the methods of
    `Model`.
    """

    def __init__(
        self,
        name: str,
        function: Function,
        *,
        label: str = "",
        context_window: int | None = None,
        input_price: float | None = 0.0,
        output_price: float | None = 0.0,
    ) -> None:
        """`name` is the model's name in rules and arguments, such as "house/echo", and `label` its name for people;
        prices are in US dollars per token.
        """
        self._function = function
        self._info = ModelInfo(
            name,
            label or name,
            "This program",
            context_window=context_window,
            input_price=input_price,
            output_price=output_price,
            continues=False,
        )

    def info(self) -> ModelInfo:
        return self._info

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        pieces: list[str] = []
        asked = prompt_tokens(request.messages)
        try:
            answer = self._function(request.messages)
            for piece in (answer,) if isinstance(answer, str) else answer:
                if stop.is_set():
                    return
                pieces.append(piece)
                yield TextDelta(piece)
        except Exception as error:  # noqa: BLE001 - whatever a function raises is an event (law 6)
            what = f"{type(error).__name__}: {error}"[:300]
            failure = Failure("unknown", f"The function of “{self._info.label}” failed: {what}")
            yield Failed(failure, Usage(asked, estimate_tokens("".join(pieces))), error)
        else:
            yield Done("stop", Usage(asked, estimate_tokens("".join(pieces))))
