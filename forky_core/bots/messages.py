"""What people and bots say as texts that know their role, and the recorder that lists what bots were asked."""

from __future__ import annotations

from contextvars import ContextVar, Token
from pathlib import Path
from typing import Self

from forky_core.model import Role


class BotMessage(str):
    """A text with the role of whoever says it. It is a string, and has itself as its `content`."""

    __slots__ = ()
    role: Role = "assistant"

    @property
    def content(self) -> str:
        return str(self)


class AIMessage(BotMessage):
    """What a model says."""

    __slots__ = ()


class HumanMessage(BotMessage):
    """What a person says."""

    __slots__ = ()
    role: Role = "user"


class SystemMessage(BotMessage):
    """What a model is told before a conversation begins."""

    __slots__ = ()
    role: Role = "system"


_recorder: ContextVar[PromptRecorder | None] = ContextVar("forky_prompt_recorder", default=None)


class PromptRecorder:
    """Lists each prompt with its response while a `with` block runs: those of every bot, and what `autorecord` adds."""

    def __init__(self) -> None:
        self.prompts: list[dict[str, str]] = []
        """A mapping with `prompt` and `response` for each call, oldest first."""
        self._outer: list[Token[PromptRecorder | None]] = []

    def __enter__(self) -> Self:
        self._outer.append(_recorder.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _recorder.reset(self._outer.pop())

    def log(self, prompt: str, response: str) -> None:
        self.prompts.append({"prompt": str(prompt), "response": str(response)})

    def save(self, path: str | Path) -> None:
        """Write everything as Markdown: each prompt in bold, its response below it."""
        told = (f"**{one['prompt']}**\n\n{one['response']}\n\n" for one in self.prompts)
        Path(path).write_text("".join(told), encoding="utf-8")


def autorecord(prompt: str, response: str) -> None:
    """Add a prompt and its response to the `PromptRecorder` whose `with` block runs, if one does; bots call it."""
    recorder = _recorder.get()
    if recorder is not None:
        recorder.log(prompt, response)
