"""Bisect: find the first message of a path from which a probe fails, in log₂ n probes.

A probe asks a model something about the conversation up to a message, outside the conversation, and a check judges the
answer; or a person judges without a model. Nothing is written but one operation that records the result. As in Git, the
messages between one that passes and one that fails are assumed to fail from some message on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from forky_core.conversation.session import short
from forky_core.model import Message
from forky_core.model.errors import NothingToDo

Check = Callable[[str], bool]
"""Judges an answer: True if it passes."""


def contains(words: str) -> Check:
    """A check that passes if the answer contains these words, in any case."""
    wanted = words.casefold()
    return lambda answer: wanted in answer.casefold()


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of a probe at one message."""

    message: Message
    passed: bool
    answers: tuple[str, ...]
    """The model's answers, as many as a majority took; () if a person judged."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """The state of a search. Immutable: `with_result` returns the next state, so that a person may take their time."""

    branch: str
    path: tuple[Message, ...]
    good: int
    """Position on the path of the last message known to pass; −1: before the first, which is assumed to pass."""
    bad: int
    """Position of the first message that is known, or was stated, to fail."""
    confirmed: bool = False
    """Whether the failing end has been probed."""
    probed: tuple[Probe, ...] = ()

    @property
    def steps(self) -> int:
        """The most probes that are still needed."""
        return (self.bad - self.good - 1).bit_length() + (not self.confirmed)

    @property
    def at(self) -> Message | None:
        """The message to probe next; None if the search is finished."""
        if not self.confirmed:
            return self.path[self.bad]
        middle = (self.good + self.bad) // 2
        return self.path[middle] if middle > self.good else None

    @property
    def first(self) -> Message | None:
        """The first message from which it fails; None until that is known."""
        return self.path[self.bad] if self.at is None else None

    @property
    def calls(self) -> int:
        return sum(len(one.answers) for one in self.probed)

    def with_result(self, passed: bool, answers: tuple[str, ...] = ()) -> Bisection:  # noqa: FBT001 - the one thing it is told
        """The next state of the search, given the result of the probe at `at`.

        Raises:
            NothingToDo: it passes at the end, so that there is nothing to look for; or the search is done.
        """
        here = self.at
        if here is None:
            raise NothingToDo("The search is done.")
        probed = (*self.probed, Probe(here, passed, answers))
        if not self.confirmed:
            if passed:
                raise NothingToDo(
                    f"At {short(here.id)}, the end, it is still right: nothing fails yet.",
                    "Look for something else, or check more sharply.",
                )
            return replace(self, confirmed=True, probed=probed)
        place = (self.good + self.bad) // 2
        low, high = (place, self.bad) if passed else (self.good, place)
        return replace(self, good=low, bad=high, probed=probed)
