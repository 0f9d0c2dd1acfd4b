"""The conversation that pages are measured on: 1,000 messages, a trunk of 600 of them, and 100 forks of four.

    python bench/conversations.py FILE     makes it in a new database and prints its id

The texts are made up, with code, lists and tables among them, and the same at every run.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import new_id
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.model import EMPTY_VIEW, ConversationId, Generation, GenerationId, Message, Rules, Usage, seal
from forky_core.model.parts import Draft, TextPart
from forky_core.store.contract import Commit

TRUNK = 600
FORKS = 100
FORK_LENGTH = 4
START = 1_760_000_000_000_000
_TEXT = (
    "the backup queue reads every table once and then waits for a lock that nobody holds so we measured the time of each "
    "stage and found that compressing with one thread costs more than reading and sending together while memory stays low"
)
_WORDS = _TEXT.split()


def build(
    forky: Workspace,
    *,
    trunk: int = TRUNK,
    forks: int = FORKS,
    length: int = FORK_LENGTH,
    title: str = "A long conversation",
    seed: int = 7,
    stride: int = 37,
) -> Conversation:
    """The conversation with `main` checked out: one operation makes it, as an import would.

    Each fork leaves the trunk `stride` turns below the last one, and from the beginning again after its end.
    """
    rng = random.Random(seed)
    id = ConversationId(new_id())
    tx = Transaction(forky.store, id, EMPTY_VIEW, "you")
    tx.set("title", title)
    main = _run((), trunk, rng, START)
    messages = list(main)
    tx.create_branch("main", main[-1].id, Rules())
    for number in range(forks):
        at = (number * stride) % (trunk // 2 - 2) * 2 + 1
        run = _run((main[at],), length, rng, START + (at + 1) * 60_000_000 + number)
        messages += run
        tx.create_branch(f"side-{number + 1}", run[-1].id, Rules())
    calls = tuple(_call(message) for message in messages if message.role == "assistant")
    forky.store.commit(
        Commit(id, "create", f"Created “{title}”", tx.changes, tuple(messages), calls, "you", START)
    )
    return forky.conversation(id, "main")


def _run(above: Sequence[Message], length: int, rng: random.Random, begin: int) -> list[Message]:
    """A line of questions and answers below the last message of `above`."""
    run: list[Message] = []
    parent = above[-1] if above else None
    for number in range(length):
        role = "user" if number % 2 == 0 else "assistant"
        text = _question(rng) if role == "user" else _answer(rng)
        made = seal(
            Draft("user" if role == "user" else "assistant", (TextPart(text),)),
            (parent.id if parent else None,),
            created=begin + number * 60_000_000,
        )
        run.append(made)
        parent = made
    return run


def _call(message: Message) -> Generation:
    assert message.parent is not None
    return Generation(
        GenerationId(new_id()),
        "main",
        message.parent,
        "offline/quote",
        "done",
        message.id,
        usage=Usage(900, 160, cost=0.0),
        finish_reason="stop",
        started=message.created - 2_000_000,
        first_token=message.created - 1_600_000,
        finished=message.created,
    )


def _sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _question(rng: random.Random) -> str:
    return f"{_sentence(rng, rng.randint(8, 22))[:-1]}?"


def _answer(rng: random.Random) -> str:
    parts = [_sentence(rng, rng.randint(15, 40)) for _ in range(rng.randint(1, 3))]
    kind = rng.random()
    if kind < 0.2:
        parts.append(
            f"```python\nfor row in {rng.choice(_WORDS)}():\n    print(row, {rng.randint(1, 99)})\n```"
        )
    elif kind < 0.4:
        parts.append("\n".join(f"- **{rng.choice(_WORDS)}**: {_sentence(rng, 9)}" for _ in range(4)))
    elif kind < 0.45:
        rows = "\n".join(f"| {rng.choice(_WORDS)} | {rng.randint(1, 900)} |" for _ in range(3))
        parts.append(f"| stage | ms |\n|---|---|\n{rows}")
    return "\n\n".join(parts)


def main() -> None:
    with Forky.open(sys.argv[1]) as forky:
        print(build(forky).id)


if __name__ == "__main__":
    main()
