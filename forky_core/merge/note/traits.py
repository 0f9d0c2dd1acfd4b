"""How much each passage of a branch is worth to somebody who goes on without having read it.

The worth is the probability that an editor would keep the passage in a fifth of the room, by a logistic regression over
traits that need no model: where it stands, who says it, what it does (`acts_of`), which names and numbers it has,
whether later messages take its words up. docs/design/what-a-squash-keeps.md says on what the weights were fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from forky_core.merge.note.branch import NoteBranch
from forky_core.text.cues import ACTS, TURNS_DOWN

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "": -1.0,
        "last request": 1.0,
        "last message": 0.9,
        "repeats": 0.9,
        "closing answer": 0.6,
        "names": 0.6,
        "complete": 0.5,
        "person": 0.5,
        "stressed": 0.5,
        "decides": 0.4,
        "item": 0.4,
        "reports": 0.4,
        "corrects": 0.3,
        "denies": 0.2,
        "fails": 0.2,
        "first request": 0.2,
        "last third": 0.2,
        "after it": 0.1,
        "code": -0.1,
        "promises": -0.1,
        "wants": -0.1,
        "of you": -0.2,
        "turned down": -0.2,
        "call": -0.5,
        "is repeated": -0.5,
        "rare words": -0.5,
        "short": -0.5,
        "narration": -0.6,
        "long message": -0.7,
        "output": -0.8,
    }
)
"""Of a conversation with a model."""
TALK: Mapping[str, float] = MappingProxyType(
    {
        "": -1.0,
        "answers": 0.3,
        "decides": 0.5,
        "last third": 0.4,
        "of us": 0.4,
        "number": 0.3,
        "promises": 0.3,
        "warns": 0.2,
        "complete": 0.1,
        "open": 0.1,
        "wants": 0.1,
        "corrects": -0.2,
        "last message": -0.2,
        "repeats": -0.2,
        "is repeated": -0.3,
        "code": -0.4,
        "of you": -0.5,
        "rare words": -0.5,
        "short": -0.9,
    }
)
"""Of people who talk to each other."""
FEW = 3
"""The content words below which a passage is short."""
MOST_NAMES = 4
"""The names from which on more of them add nothing."""
SUBSTANTIAL = 0.2
"""The share of the longest answer's length that an answer must have to be the one that concludes."""


def worths(branch: NoteBranch) -> list[float]:
    """Return the worth of every passage, from 0 to 1."""
    weights = TALK if branch.talk else WEIGHTS
    return [
        1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in traits.items())))
        for traits in traits_of(branch)
    ]


def traits_of(branch: NoteBranch) -> Iterator[dict[str, float]]:
    """Yield the traits of every passage by name, from 0 to about 1; a trait without a name is 0."""
    last = max(1, len(branch.messages) - 1)
    closing = -1 if branch.talk else _closing(branch)
    people = [] if branch.talk else [turn for turn, one in enumerate(branch.messages) if one.role == "user"]
    rest = {word: at for at, words in enumerate(branch.words) for word in words}
    first: dict[str, int] = {}
    for at, words in enumerate(branch.words):
        for word in words:
            first.setdefault(word, at)
    for at, one in enumerate(branch.passages):
        mine = branch.by_turn[one.turn]
        spoken = one.shape in ("prose", "heading")
        # The weight of a word is -log of its share: a rare word tells more than a frequent one, in any language.
        rare = {word: math.log(len(branch.passages) / branch.count[word]) for word in branch.words[at]}
        whole = sum(rare.values()) or 1.0
        yield {
            "": 1.0,
            "last third": one.turn > last * 2 / 3,
            "last message": one.turn == last,
            "first request": one.turn in people[:1],
            "last request": one.turn in people[-1:],
            "closing answer": one.turn == closing,
            "after it": 0 <= closing < one.turn and one.role == "user",
            "person": one.role == "user" and not branch.talk,
            "narration": one.turn in branch.narrating,
            "long message": math.log(len(mine)) / 3,
            "answers": any(branch.asks[other] for other in branch.prose_of(one.turn - 1)[-1:]),
            "turned down": any(
                TURNS_DOWN.search(branch.passages[other].text) for other in branch.prose_of(one.turn + 1)[:1]
            ),
            "code": one.shape == "code",
            "call": one.shape == "call",
            "output": one.shape == "output",
            "item": branch.is_item(at),
            "complete": branch.told[at],
            "short": branch.many[at] < FEW,
            "names": min(sum(word.startswith("=") for word in rare), MOST_NAMES) / MOST_NAMES,
            "number": any(map(str.isdigit, one.text)),
            "stressed": "**" in one.text,
            "rare words": whole / max(1, len(rare)) / 4,
            "repeats": sum(worth for word, worth in rare.items() if first[word] < mine[0]) / whole,
            "is repeated": sum(worth for word, worth in rare.items() if rest[word] > mine[-1]) / whole,
            **{name: spoken and name in branch.does[at] for name in ACTS},
        }


def _closing(branch: NoteBranch) -> int:
    """Return the last answer of a model with content, -1 if there is none."""
    length = {
        turn: sum(len(branch.passages[at].text) for at in branch.prose_of(turn))
        for turn, message in enumerate(branch.messages)
        if message.role == "assistant" and turn not in branch.narrating
    }
    longest = max(length.values(), default=0)
    return max((turn for turn, long in length.items() if long and long >= SUBSTANTIAL * longest), default=-1)
