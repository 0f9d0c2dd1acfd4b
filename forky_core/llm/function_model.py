"""A model that is a function of the program: from the messages of a request to a text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from threading import Event

from forky_core.llm.contract import Done, Failed, ModelEvent, ModelInfo, ProviderMessage, Request, TextDelta
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model import Failure, Usage

Function = Callable[
    [Sequence[ProviderMessage]], str | Iterable[str] | Awaitable[str | Iterable[str]] | AsyncIterable[str]
]


class FunctionModel:
    """A model that answers with the result of a function.

    The function gets the messages of the request, in the form of OpenAI's chat completions, and returns the answer, or
    yields it in pieces; it may be an async one. If it raises an error, the reply has failed, and the pieces so far are
    stored. Tokens are estimated. A model that reads parameters, calls tools or counts tokens itself is a class with the
    methods of `Model`.
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
        if not all((callable(function), name)):
            raise TypeError("A FunctionModel has a name and a function that gets the messages of a request.")
        if not all(price is None or price >= 0 for price in (input_price, output_price)):
            raise ValueError("A price is in dollars per token, and not below 0.")
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
            for piece in _pieces(self._function(deepcopy(request.messages))):
                if stop.is_set():
                    return
                if not isinstance(piece, str):
                    raise TypeError(f"a text belongs here, and not {type(piece).__name__}")  # noqa: TRY301
                pieces.append(piece)
                yield TextDelta(piece)
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a function raises is an event (law 6)
            what = f"{type(error).__name__}: {error}"[:300]
            failure = Failure("unknown", f"The function of “{self._info.label}” failed: {what}")
            yield Failed(failure, Usage(asked, estimate_tokens("".join(pieces))), error)
        else:
            yield Done("stop", Usage(asked, estimate_tokens("".join(pieces))))


def _pieces(answer: object) -> Iterator[object]:
    """Yield what a function returned, piece by piece; of an async one, by a loop of its own."""
    if isinstance(answer, Awaitable | AsyncIterable):
        with asyncio.Runner() as runner:
            if isinstance(answer, Awaitable):
                yield from _pieces(runner.run(_awaited(answer)))
                return
            pieces, end = aiter(answer), object()
            while (piece := runner.run(_awaited(anext(pieces, end)))) is not end:
                yield piece
    elif isinstance(answer, Iterable) and not isinstance(answer, str | Mapping):
        yield from answer
    else:
        yield answer


async def _awaited(answer: Awaitable[object]) -> object:
    return await answer
