"""Every memory policy. A package adds one by an entry point of the group `forky.memory` that names a `MemoryPolicy`."""

from __future__ import annotations

from forky_core.context.choosing import keep_last, keep_within, send_all, sum_up
from forky_core.context.memory_policy import ContextChoice, MemoryPolicy, PolicyInputs
from forky_core.model.errors import BadContent
from forky_core.model.memory import MOST, Memory
from forky_core.process import events
from forky_core.process.plugins import Registry
from forky_core.text.counting import counted

_NO_WINDOW = "The window of this model is not known, so that everything is sent: give the budget as a number of tokens."
_IN_STEPS = (
    "The beginning moves in steps of a quarter of the budget: between two steps the prompt cache is hit."
)


def _last(memory: Memory) -> str:
    return f"the last {counted(LAST.least(memory), 'message')}"


def _characters(memory: Memory) -> str:
    return f"{CHARACTERS.least(memory):,} characters"


def _tokens(memory: Memory) -> str:
    return (
        f"{memory.amount:,} tokens"
        if memory.amount is not None
        else f"{_share(memory)} of the model's window"
    )


def _share(memory: Memory) -> str:
    return f"{memory.share or TOKENS.share:.0%}"


def _token_room(memory: Memory, window: int | None) -> int | None:
    """Tokens that are sent at most; None: that depends on a window which is not known."""
    if memory.amount is not None or window is None:
        return memory.amount
    return int(window * (memory.share or TOKENS.share or 1))


def _no_token_room(memory: Memory, window: int | None) -> str:
    share = "" if memory.amount is not None else f", {_share(memory)} of the model's window"
    return f"Not sent: there is room for {_token_room(memory, window):,} tokens{share}."


def _choose_tokens(inputs: PolicyInputs) -> ContextChoice:
    room = _token_room(inputs.memory, inputs.window)
    return send_all(inputs, _NO_WINDOW) if room is None else keep_within(inputs, room)


def _summary(memory: Memory) -> str:
    who = f", written by {memory.model}" if memory.model else ""
    return f"a summary{who}, and the last {counted(SUMMARY.least(memory), 'message')}"


EVERYTHING: MemoryPolicy = MemoryPolicy(
    name=Memory().policy,
    label="Everything",
    cache_hint="Best for the prompt cache: each question begins with what was sent before, and so does every fork.",
    examples=("everything",),
    choose=send_all,
    describe=lambda _memory: "everything",
    reason=lambda _memory, _window: "",
)
LAST: MemoryPolicy = MemoryPolicy(
    name="last",
    label="The last messages",
    cache_hint="Once the conversation is longer, the beginning moves with every question: the prompt cache is hit for "
    "the system prompt only.",
    examples=("last:20",),
    choose=lambda inputs: keep_last(inputs, LAST.least(inputs.memory), _last(inputs.memory)),
    describe=_last,
    reason=lambda memory, _window: f"Not sent: this branch remembers {_last(memory)}.",
    unit="Messages",
    amount=20,
)
CHARACTERS: MemoryPolicy = MemoryPolicy(
    name="characters",
    label="A budget in characters",
    cache_hint=_IN_STEPS,
    examples=("characters:40000",),
    choose=lambda inputs: keep_within(inputs, CHARACTERS.least(inputs.memory), characters=True),
    describe=_characters,
    reason=lambda memory, _window: f"Not sent: there is room for {_characters(memory)}.",
    unit="Characters",
    amount=40_000,
)
TOKENS: MemoryPolicy = MemoryPolicy(
    name="tokens",
    label="A budget in tokens",
    cache_hint=_IN_STEPS,
    examples=("tokens:8000", "tokens:50%"),
    choose=_choose_tokens,
    describe=_tokens,
    reason=_no_token_room,
    unit="Tokens",
    amount=8_000,
    share=0.5,
)
SUMMARY: MemoryPolicy = MemoryPolicy(
    name="summary",
    label="A summary, and the recent messages",
    cache_hint="The summary is rewritten once for each range of messages: in between the prompt cache is hit.",
    examples=("summary:20",),
    choose=lambda inputs: (
        sum_up(inputs, SUMMARY.least(inputs.memory)) if inputs.sums_up else send_all(inputs)
    ),
    describe=_summary,
    reason=lambda _memory, _window: "Not sent: the summary speaks for it.",
    unit="Recent messages",
    amount=20,
    written=True,
)
POLICIES: tuple[MemoryPolicy, ...] = (EVERYTHING, LAST, CHARACTERS, TOKENS, SUMMARY)
"""Those that Forky brings, in the order in which the Context page offers them."""
REGISTRY = Registry("forky.memory", MemoryPolicy, POLICIES)


def policies() -> tuple[MemoryPolicy, ...]:
    """Every memory policy there is: those of Forky, of installed packages, and what this program has added."""
    return tuple(REGISTRY)


def policy_of(memory: Memory) -> MemoryPolicy:
    """Return the policy of a branch. One that is not known here, of a later version or a package, sends everything."""
    return REGISTRY.find(memory.policy) or MemoryPolicy(
        name=memory.policy,
        label=memory.policy,
        cache_hint=EVERYTHING.cache_hint,
        examples=(),
        choose=send_all,
        describe=lambda _memory: f"“{memory.policy}”, which this version does not know: everything",
        reason=EVERYTHING.reason,
    )


def label_of(memory: Memory) -> str:
    """Say what is sent in a few words for people: “the last 20 messages”."""
    return policy_of(memory).describe(memory)


def choose(inputs: PolicyInputs) -> ContextChoice:
    """Choose what is sent of a path. If a package's policy raises an exception, everything is sent, with a warning."""
    policy = policy_of(inputs.memory)
    if policy in POLICIES:
        return policy.choose(inputs)
    try:
        return policy.choose(inputs)
    except Exception as fault:  # noqa: BLE001 - somebody else's code must not keep people from asking
        events.plugin_skipped(
            group=REGISTRY.group, name=policy.name, reason="it failed to choose", fault=fault
        )
        return send_all(inputs, f"The memory policy “{policy.name}” failed, so that everything is sent.")


def fit_memory(memory: Memory) -> Memory:
    """Return the memory without what its policy has no use for, as it is stored.

    Raises:
        BadContent: there is no such policy, or its amount makes no sense.
    """
    policy = REGISTRY.find(memory.policy)
    if policy is None:
        raise BadContent(
            f"There is no memory policy “{memory.policy[:40]}”.", f"There are: {', '.join(REGISTRY.names)}."
        )
    if memory.amount is not None and not 1 <= memory.amount <= MOST:
        raise BadContent("A memory keeps at least 1, and at most 100 million.", "Type a whole number.")
    if memory.share is not None and not 0 < memory.share <= 1:
        raise BadContent("A share of the window is above 0 and at most 1.", "0.5 is half of it.")
    return Memory(
        memory.policy,
        memory.amount if policy.unit else None,
        memory.share if policy.share is not None and memory.amount is None else None,
        memory.model if policy.written else None,
    )


def parse_memory(text: str) -> Memory:
    """Read a memory as a person types it: `everything`, `last:20`, `tokens:50%`.

    Raises:
        BadContent: it is none of these.
    """
    name, _, amount = text.strip().lower().partition(":")
    amount = amount.strip().replace(",", "").replace("_", "")
    *most, last = (example for one in policies() for example in one.examples)
    wrong = BadContent(f"“{text[:60]}” is no memory policy.", f"Type {', '.join(most)} or {last}.")
    policy = REGISTRY.find(name)
    if policy is None or (amount and not policy.unit):
        raise wrong
    if not amount:
        return fit_memory(Memory(name))
    if policy.share is not None and amount.endswith("%") and amount[:-1].isdecimal():
        return fit_memory(Memory(name, share=int(amount[:-1][:4]) / 100))
    if not amount.isdecimal() or len(amount) > 12:
        raise wrong
    return fit_memory(Memory(name, int(amount)))
