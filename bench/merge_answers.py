"""What a model still knows after a merge: `python -m bench.merge_answers --model NAME` with that model's key set.

Without a key: `--model scripted` (also where none is named) repeats all that it is sent, so that its share of right
answers is what the context holds, the most that a model could get right; `--model aimock` asks a third-party server of
made-up answers over the wire, which knows every answer and shows that the harness runs, and nothing about merges.

Made-up conversations (fixed seed, no code) in which a side branch states facts; each fact has a question and the words
an answer must hold. The questions are asked on the trunk under four conditions: nothing merged, the branch merged in
full, squashed without a model, and its text pasted above the question; with `--written` also squashed by the model
itself (quoted lines stand in for a summary that fails the checks, and are counted). Each is asked several times; a cell
is the share of right answers with the 95 % interval of a bootstrap that draws whole conversations. Any model that
LiteLLM reaches will do; the number of calls is said before the first.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from bench.intervals import interval
from bench.made_up_talk import small_talk
from bench.merge_cases import Role, chain
from bench.note_writing import notes_by
from forky_core.context.build import build_context
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Failed, Model, ProviderMessage, Request, TextDelta
from forky_core.llm.scripted import ScriptedModel
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.planner import plan_merge
from forky_core.merge.wording import transcript
from forky_core.merge.written.plan import SquashRejected, squash_written_by
from forky_core.model import Message, Rules, seal
from forky_core.model.parts import Draft, TextPart
from tests.llm import third_party

CONDITIONS = ("no merge", "full", "squash", "source text")
WRITTEN = "squash by it"
"""With --written: the squash that the model itself wrote."""
_MOCKED = "openai/gpt-4o-mini"
CONVERSATIONS = 8
REPLICATES = 5
QUESTIONS = 4
TURNS = 40

_TRUNK: tuple[tuple[Role, str], ...] = (
    ("user", "We are planning the autumn trip. What is left to settle?"),
    ("assistant", "Where to stay, how to get there, and who pays what."),
)
_THINGS = (
    "ferry",
    "cabin",
    "museum tour",
    "rental car",
    "boat",
    "concert",
    "dinner",
    "guide",
    "parking",
    "sauna",
)
_PEOPLE = ("Marta Kowalska", "Jonas Lind", "Priya Nair", "Tom Okafor", "Elena Rossi", "Aisha Bello")
_PLACES = ("Lisbon", "Tampere", "Nairobi", "Ghent", "Oslo", "Valencia")


class NoAnswer(RuntimeError):
    """The model failed; a failure is never scored as a wrong answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the words that a right answer holds."""

    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    trunk: tuple[Message, ...]
    side: tuple[Message, ...]
    asked: tuple[Asked, ...]


def conversation(seed: int) -> Conversation:
    draw = random.Random(seed)
    stated = [_fact(draw, thing) for thing in draw.sample(_THINGS, QUESTIONS)]
    at = dict(zip(draw.sample(range(1, TURNS, 2), QUESTIONS), stated, strict=True))
    turns = list(_TRUNK)
    for turn in range(TURNS):
        sentences = [small_talk(draw) for _ in range(draw.randint(2, 4))]
        if turn in at:
            sentences.insert(draw.randint(0, len(sentences)), at[turn][0])
        turns.append(("assistant" if turn % 2 else "user", " ".join(sentences)))
    path = chain(turns)
    return Conversation(path[: len(_TRUNK)], path[len(_TRUNK) :], tuple(asked for _, asked in stated))


def _fact(draw: random.Random, thing: str) -> tuple[str, Asked]:
    person, place, price = draw.choice(_PEOPLE), draw.choice(_PLACES), str(draw.randint(101, 989))
    return draw.choice((
        (f"The {thing} costs {price} euros.", Asked(f"What does the {thing} cost?", (price,))),
        (f"{person} has booked the {thing}.", Asked(f"Who has booked the {thing}?", (person,))),
        (f"The {thing} is in {place}, at number {price}.", Asked(f"Where is the {thing}?", (place, price))),
    ))  # fmt: skip


def prompt(
    given: Conversation, question: str, condition: str, written: MergePlan | None = None
) -> tuple[ProviderMessage, ...]:
    """What the model is sent, built by the code that builds every context."""
    path = list(given.trunk)
    if condition == "source text":
        question = f"{transcript(given.side)}\n\n{question}"
    elif condition != "no merge":
        plan = written or _planned(given, "full" if condition == "full" else "squash")
        path += [seal(planned.draft, planned.parents) for planned in plan.drafts]
    path.append(seal(Draft("user", (TextPart(f"{question} Answer in one sentence."),)), (path[-1].id,)))
    known = {message.id: message for message in (*given.trunk, *given.side, *path)}
    return build_context(path, Rules(), lookup=known.__getitem__, count_tokens=estimate_tokens).messages


def _planned(given: Conversation, strategy: str) -> MergePlan:
    """The merge of the side into the trunk."""
    known = {message.id: message for message in (*given.trunk, *given.side)}
    inputs = MergeInputs(
        given.trunk[-1].id,
        given.side[-1].id,
        "main",
        "side",
        lookup=known.__getitem__,
        parents_of=lambda id: known[id].parents,
        count_tokens=estimate_tokens,
    )
    return plan_merge(inputs, MergeOptions(strategy, force=True))


def write(model: Model, given: Conversation) -> MergePlan:
    """The squash that the model writes, or with a badge the quoted lines where its summary failed the checks."""
    known = {message.id: message for message in (*given.trunk, *given.side)}
    name = model.info().name
    try:
        ask = partial(answer, model)
        return squash_written_by(
            notes_by(ask, ask), _planned(given, "squash"), lookup=known.__getitem__, model=name
        )
    except SquashRejected as error:
        return error.plan


def answer(model: Model, messages: tuple[ProviderMessage, ...]) -> str:
    """The model's whole answer. Raises NoAnswer."""
    said: list[str] = []
    for event in model.stream(Request(model.info().name, messages), Event()):
        if isinstance(event, Failed):
            raise NoAnswer(event.failure.sentence)
        if isinstance(event, TextDelta):
            said.append(event.text)
    return "".join(said)


def is_right(asked: Asked, said: str) -> bool:
    return all(word.casefold() in said.casefold() for word in asked.words)


def measure(
    model: Model,
    conversations: Sequence[Conversation],
    replicates: int,
    written: Sequence[MergePlan] = (),
) -> dict[str, dict[int, list[float]]]:
    """By condition and conversation: 1 for each right answer, 0 for each other."""

    def asked_of(condition: str, number: int, given: Conversation) -> list[float]:
        plan = written[number] if condition == WRITTEN else None
        return [
            float(is_right(asked, answer(model, prompt(given, asked.question, condition, plan))))
            for asked in given.asked
            for _ in range(replicates)
        ]

    return {
        condition: {number: asked_of(condition, number, given) for number, given in enumerate(conversations)}
        for condition in (*CONDITIONS, *((WRITTEN,) if written else ()))
    }


def table(
    found: dict[str, dict[int, list[float]]],
    conversations: Sequence[Conversation],
    written: Sequence[MergePlan] = (),
) -> list[str]:
    rows = [f"{'':<14}{'right answers':<22}{'prompt tokens':>14}"]
    for condition, by_conversation in found.items():
        share, low, high = interval(by_conversation)
        plans = written if condition == WRITTEN else [None] * len(conversations)
        sizes = [
            prompt_tokens(prompt(c, c.asked[0].question, condition, plan))
            for c, plan in zip(conversations, plans, strict=True)
        ]
        rows.append(
            f"{condition:<14}{f'{share:.2f} [{low:.2f}, {high:.2f}]':<22}{sum(sizes) // len(sizes):>14}"
        )
    refused = sum(bool(plan.badge) for plan in written)
    return [*rows, f"{refused} of {len(written)} summaries failed the checks"] if written else rows


def repeater() -> Model:
    """Says all it was sent: right exactly where the words of the answer are in the context."""
    return ScriptedModel(
        "scripted", answer=lambda request: "\n".join(str(message["content"]) for message in request.messages)
    )


@contextmanager
def mocked(conversations: Sequence[Conversation]) -> Iterator[Model]:
    """A model behind the third-party server, which has the answer to every question."""
    words: dict[str, list[str]] = {}
    for given in conversations:
        for asked in given.asked:
            words.setdefault(asked.question, []).extend(asked.words)
    answers = [
        {"match": {"userMessage": question}, "response": {"content": " ".join(known)}}
        for question, known in words.items()
    ]
    with TemporaryDirectory() as folder, third_party.running(Path(folder), answers) as server:
        environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url, "FORKY_PROBE": "0"}
        yield Catalogue(environment=environment).model(_MOCKED)


@contextmanager
def opened(name: str, conversations: Sequence[Conversation]) -> Iterator[Model]:
    if name == "aimock":
        with mocked(conversations) as model:
            yield model
    else:
        yield repeater() if name == "scripted" else Catalogue().model(name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.merge_answers", description=__doc__)
    parser.add_argument(
        "--model",
        default="scripted",
        help="as LiteLLM calls it: gpt-4o-mini, ollama/llama3 …; scripted; aimock",
    )
    parser.add_argument("--written", action="store_true", help="also a squash that the model itself writes")
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS)
    parser.add_argument("--replicates", type=int, default=REPLICATES, help="answers to each question")
    given = parser.parse_args()
    conversations = [conversation(seed) for seed in range(given.conversations)]
    calls = len(conversations) * QUESTIONS * len(CONDITIONS) * given.replicates
    calls += given.written * len(conversations) * (QUESTIONS * given.replicates + 2)
    print(f"{calls} calls of {given.model} at most", flush=True)
    with opened(given.model, conversations) as model:
        written = [write(model, one) for one in conversations] if given.written else []
        found = measure(model, conversations, given.replicates, written)
    print("\n".join(table(found, conversations, written)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
