"""`chat.bisections`: searches for the first message from which something fails."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.merging import bisecting
from forky_core.conversation.merging.bisecting import Bisection, Check
from forky_core.model import Operation


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
            NothingToDo: it passes at the end; or `stop` was set.
            ModelError: the model did not answer; nothing was written.
        """
        asked = bisecting.BisectQuestion(question, check, repeats, model)
        search = self.start(good=good, bad=bad)
        found = bisecting.run(self._session, self._chat.branch, search, asked, on_probe=on_probe, stop=stop)
        bisecting.record(self._session, found, question)
        return found

    def start(self, *, good: str | None = None, bad: str | None = None) -> Bisection:
        """Start a manual search for the first message from which something fails.

        Probe at `.at`, continue with `.with_result(passed)` until `.first` is known, then call `record`. `good` is a
        message known to pass (default: before the first), `bad` one that fails (default: the head).
        """
        points = [self._chat.message(id).id if id is not None else None for id in (good, bad)]
        return bisecting.begin(self._session, self._chat.branch, points[0], points[1])

    def record(self, search: Bisection, what: str = "") -> Operation:
        """Record the result of a manual search in the log. Raises NothingToDo if the search is not finished."""
        return bisecting.record(self._session, search, what)
