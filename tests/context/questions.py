"""A memory policy that nobody ships, as somebody's package would write it: the questions, and the newest turn."""

from __future__ import annotations

from forky_core.extending import ContextChoice, MemoryPolicy, PolicyInputs, WindowChoice


def choose(inputs: PolicyInputs) -> ContextChoice:
    path, parts = inputs.read.path, inputs.read.takes_part()
    questions = [at for at, message in enumerate(path) if parts[at] and message.role == "user"]
    pinned = {at for at, message in enumerate(path) if message.id in inputs.read.rules.pins}
    start = questions[-1] if questions else 0
    return ContextChoice(parts, WindowChoice(start, frozenset((*questions, *pinned))))


QUESTIONS = MemoryPolicy(
    name="questions",
    label="What was asked",
    cache_hint="The end moves with every question: the prompt cache is hit up to there.",
    examples=("questions",),
    choose=choose,
    describe=lambda _memory: "the questions",
    reason=lambda _memory, _window: "Not sent: this branch remembers the questions.",
)


def stumble(_inputs: PolicyInputs) -> ContextChoice:
    raise RuntimeError("no memory")


CLUMSY = MemoryPolicy(
    name="clumsy",
    label="Clumsy",
    cache_hint="None.",
    examples=(),
    choose=stumble,
    describe=lambda _memory: "nothing in particular",
    reason=lambda _memory, _window: "",
)
