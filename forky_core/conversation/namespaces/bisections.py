"""`chat.bisections`: searches for the first message from which something fails."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.identity import title_from
from forky_core.conversation.merging.bisecting import Bisection, Check
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.replies.preparing import context_on
from forky_core.conversation.session import short
from forky_core.conversation.validation import fit_text
from forky_core.model import Operation, seal
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import Draft, TextPart


class Bisections:
    """Searches along a branch: `run` asks a model, `start` and `record` are for a person who judges."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    def run(
        self,
        question: str,
        check: Check,
        *,
        good: str | None = None,
        bad: str | None = None,
        repeats: int = 1,
        model: str | None = None,
        on_probe: Callable[[Bisection], None] | None = None,
        stop: Event | None = None,
    ) -> Bisection:
        """Find the first message from which a model's answer to `question` fails `check`, and record it in the log.

        Each probe asks outside the conversation, `repeats` times (odd), and the majority counts; there are about log₂ n
        probes. `good` and `bad` as in `start`.

        Raises:
            BadContent: there is no question, or an even number of repeats.
            NothingToDo: it passes at the end; or `stop` was set.
            ModelError: the model did not answer; nothing was written.
        """
        session, branch, search = self._session, self._chat.branch, self.start(good=good, bad=bad)
        asks = fit_text(question, "A question").strip()
        if not asks:
            raise BadContent("A probe needs a question.", "Ask what the conversation should still know.")
        if repeats < 1 or repeats % 2 == 0:
            raise BadContent("A majority needs an odd number of repeats.", "Take 1, 3 or 5.")
        name = model or branch.rules.model or session.models.default()
        asked_model, stopped = session.models.model(name), stop or Event()
        while (here := search.at) is not None:
            path = search.path[: search.path.index(here) + 1]
            asked = seal(Draft("user", (TextPart(asks),)), (here.id,))
            messages = context_on(session, (*path, asked), branch.rules, asked_model).messages
            answers: list[str] = []
            votes = [0, 0]
            while max(votes) * 2 <= repeats:
                if stopped.is_set():
                    raise NothingToDo("The search was stopped.", "Nothing was written.")
                answers.append(ask_once(session, name, messages, branch.rules.parameters, stopped))
                votes[bool(check(answers[-1]))] += 1
            search = search.with_result(votes[1] > votes[0], tuple(answers))
            if on_probe is not None:
                on_probe(search)
        self.record(search, question)
        return search

    def start(self, *, good: str | None = None, bad: str | None = None) -> Bisection:
        """Start a manual search for the first message from which something fails.

        Probe at `.at`, continue with `.with_result(passed)` until `.first` is known, then call `record`. `good` is a
        message known to pass (default: before the first), `bad` one that fails (default: the head).

        Raises:
            NothingToDo: the branch is empty.
            BadContent: one of the two is not on the path, or they stand the wrong way round.
        """
        points = [self._chat.message(id).id if id is not None else None for id in (good, bad)]
        branch = self._chat.branch
        path = self._session.path(branch.head)
        if not path:
            raise NothingToDo(f"“{branch.name}” is empty: there is nothing to search.")
        place = {message.id: at for at, message in enumerate(path)}
        for id in points:
            if id is not None and id not in place:
                raise BadContent(f"{short(id)} is not on the path of “{branch.name}”.")
        low = place[points[0]] if points[0] is not None else -1
        high = place[points[1]] if points[1] is not None else len(path) - 1
        if low >= high:
            raise BadContent("What passes must stand before what fails.", "Swap them, or leave one out.")
        return Bisection(branch.name, path, low, high)

    def record(self, search: Bisection, what: str = "") -> Operation:
        """Record the result of a search in the log: one operation that changes nothing.

        Raises NothingToDo if the search is not finished.
        """
        first = search.first
        if first is None:
            raise NothingToDo("The search is not done.", f"Up to {search.steps} probes are to come.")
        count = len(search.probed)
        probes = "1 probe" if count == 1 else f"{count} probes"
        asked = f", asking “{title_from(what)}”" if what else ""
        return self._session.require_not_trashed().publish(
            "bisect", f"Bisected “{search.branch}”: fails from {short(first.id)} on ({probes}{asked})"
        )
