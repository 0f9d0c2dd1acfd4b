"""Branches about which notes are written in tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from forky_core.llm.contract import ProviderMessage
from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.note import NoteModels, WrittenNote, write_note
from forky_core.model import Message, Role, seal
from forky_core.model.parts import Draft, TextPart

PORT = (
    "user: The proxy cuts long uploads. What is the limit, and where is it set?",
    "assistant: It is proxy_read_timeout in /etc/nginx/conf.d/upload.conf: 45 seconds. I would raise it to 120 seconds for `/upload` only.",
    "user: do it. Ana said “never touch the other routes”",
    "assistant: Raised to 120 seconds in upload.conf; other routes keep 45 seconds. I have not reloaded nginx yet.",
    "user: make it 90 instead, 120 is too long for the balancer",
    "assistant: It is 90 seconds now. `nginx -t` passes; the reload waits for Friday.",
)


def branch(*lines: str) -> NoteMaterial:
    """A branch of lines "role: text"; a person's name may stand as "user/Ana: …"."""
    messages: list[Message] = []
    for line in lines:
        who, _, text = line.partition(": ")
        role, _, name = who.partition("/")
        parents = (messages[-1].id,) if messages else (None,)
        messages.append(seal(Draft(cast("Role", role), (TextPart(text),), name or None), parents))
    return NoteMaterial(tuple(messages))


class Answers:
    """A model that gives these answers one after the other, the last one again and again; it keeps what it is asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.left = list(answers)
        self.asked: list[str] = []

    def __call__(self, messages: tuple[ProviderMessage, ...]) -> str:
        self.asked.append("\n".join(str(one["content"]) for one in messages))
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def supports_all(messages: tuple[ProviderMessage, ...]) -> str:
    """A verifier that says yes to everything."""
    return "\n".join(f"{at}: supported" for at in range(1, 40))


def noted(
    material: NoteMaterial,
    write: Callable[[tuple[ProviderMessage, ...]], str] | str,
    check: Callable[[tuple[ProviderMessage, ...]], str] | None = supports_all,
    *,
    room: int = 400,
    so_far: str = "",
    start: int = 0,
    target: Sequence[Message] = (),
) -> WrittenNote:
    writer = Answers(write) if isinstance(write, str) else write
    return write_note(
        NoteModels(writer, check),
        material,
        room=room,
        count_tokens=lambda text: len(text) // 4,
        so_far=so_far,
        start=start,
        target=target,
    )
