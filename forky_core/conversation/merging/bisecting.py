"""Bisect: find the first message of a path from which a probe fails, in log₂ n probes.

A probe asks a model something about the conversation up to a message, outside the conversation, and a check judges the
answer; or a person judges without a model. Nothing is written but one operation that records the result. As in Git, the
messages between one that passes and one that fails are assumed to fail from some message on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

from forky_core.conversation.identity import title_from
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.replies.preparing import context_on
from forky_core.conversation.session import Session, short
from forky_core.conversation.validation import fit_text
from forky_core.model import Branch, Message, MessageId, Operation, seal
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import Draft, TextPart

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


def begin(session: Session, branch: Branch, good: MessageId | None, bad: MessageId | None) -> Bisection:
    """Start a search on the branch's path, after `good` (default: before the first message) and up to `bad` (the head).

    Raises:
        NothingToDo: the branch is empty.
        BadContent: one of the two is not on the path, or they stand the wrong way round.
    """
    path = session.path(branch.head)
    if not path:
        raise NothingToDo(f"“{branch.name}” is empty: there is nothing to search.")
    place = {message.id: at for at, message in enumerate(path)}
    for id in (good, bad):
        if id is not None and id not in place:
            raise BadContent(f"{short(id)} is not on the path of “{branch.name}”.")
    low = place[good] if good is not None else -1
    high = place[bad] if bad is not None else len(path) - 1
    if low >= high:
        raise BadContent("What passes must stand before what fails.", "Swap them, or leave one out.")
    return Bisection(branch.name, path, low, high)


@dataclass(frozen=True, slots=True)
class BisectQuestion:
    """A question to a model at each probed message, with the check of its answer."""

    question: str
    check: Check
    repeats: int = 1
    """How often a probe asks; the majority counts, so it must be odd."""
    model: str | None = None


def run(
    session: Session,
    branch: Branch,
    search: Bisection,
    asking: BisectQuestion,
    *,
    on_probe: Callable[[Bisection], None] | None = None,
    stop: Event | None = None,
) -> Bisection:
    """Probe until the first failure is known, calling `on_probe` after each probe. Writes nothing.

    Raises:
        BadContent: there is no question, or an even number of repeats.
        NothingToDo: it passes at the end; or it was stopped.
        ModelError: the model did not answer.
    """
    question = fit_text(asking.question, "A question").strip()
    if not question:
        raise BadContent("A probe needs a question.", "Ask what the conversation should still know.")
    if asking.repeats < 1 or asking.repeats % 2 == 0:
        raise BadContent("A majority needs an odd number of repeats.", "Take 1, 3 or 5.")
    name = asking.model or branch.rules.model or session.models.default()
    model, stopped = session.models.model(name), stop or Event()
    while (here := search.at) is not None:
        path = search.path[: search.path.index(here) + 1]
        asked = seal(Draft("user", (TextPart(question),)), (here.id,))
        messages = context_on(session, (*path, asked), branch.rules, model).messages
        answers: list[str] = []
        votes = [0, 0]
        while max(votes) * 2 <= asking.repeats:
            if stopped.is_set():
                raise NothingToDo("The search was stopped.", "Nothing was written.")
            answers.append(ask_once(session, name, messages, branch.rules.parameters, stopped))
            votes[bool(asking.check(answers[-1]))] += 1
        search = search.with_result(votes[1] > votes[0], tuple(answers))
        if on_probe is not None:
            on_probe(search)
    return search


def record(session: Session, search: Bisection, what: str = "") -> Operation:
    """Record the result of a finished search in the log: one operation that changes nothing.

    Raises:
        NothingToDo: the search is not done.
    """
    first = search.first
    if first is None:
        raise NothingToDo("The search is not done.", f"Up to {search.steps} probes are to come.")
    count = len(search.probed)
    probes = "1 probe" if count == 1 else f"{count} probes"
    asked = f", asking “{title_from(what)}”" if what else ""
    return session.require_not_trashed().publish(
        "bisect", f"Bisected “{search.branch}”: fails from {short(first.id)} on ({probes}{asked})"
    )
