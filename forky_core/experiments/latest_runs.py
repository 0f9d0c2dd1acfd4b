"""What a process remembers of the runs of experiments: the last run of each, and its last result."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from forky_core.conversation.replies.replies import Replies
from forky_core.conversation.session import Session
from forky_core.experiments.experiment_run import ExperimentRun
from forky_core.experiments.results import ExperimentResult
from forky_core.model import ConversationId
from forky_core.model.errors import InTheWay

Place = tuple[ConversationId, str]
_MOST_RESULTS = 20
"""Experiments whose last result is kept."""
_PATIENCE = 4.0
"""How many times longer a result of a run is shown than it took to work out."""


class LatestRuns:
    """One for each open workspace; safe from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: dict[Place, ExperimentRun] = {}
        self._results: dict[Place, tuple[object, float, float, ExperimentResult]] = {}
        """With the state that a result was worked out from, when that was and how many seconds it took."""

    def run(self, place: Place) -> ExperimentRun | None:
        """The run that goes on or ended last; None if there was none in this process."""
        with self._lock:
            return self._runs.get(place)

    def begin(self, place: Place, run: ExperimentRun) -> None:
        """Begin a run and remember it; one that cannot begin leaves the run before it in its place.

        Raises:
            InTheWay: the experiment is running.
            NotFound, NothingToDo: as `ExperimentRun.begin`.
        """
        with self._lock:
            before = self._runs.get(place)
            if before is not None and before.running:
                raise InTheWay(f"The experiment “{run.name}” is running.", "Wait for it, or stop it.")
            self._runs[place] = run
        try:
            run.begin()
        except BaseException:
            with self._lock:
                if before is None:
                    self._runs.pop(place, None)
                else:
                    self._runs[place] = before
            raise

    def recent_result(self, place: Place, age: float) -> ExperimentResult | None:
        """The last result, where it is at most `age` seconds old or four times as old as it took to work out."""
        with self._lock:
            known = self._results.get(place)
        if known is None:
            return None
        _, since, took, result = known
        return result if monotonic() - since < max(age, _PATIENCE * took) else None

    def result(
        self, place: Place, state: object, work_out: Callable[[], ExperimentResult]
    ) -> ExperimentResult:
        """The result of a state: the last one if it was worked out from the same, else a new one."""
        with self._lock:
            known = self._results.get(place)
        if known is not None and known[0] == state:
            return known[3]
        begun = monotonic()
        result = work_out()
        ended = monotonic()
        with self._lock:
            while len(self._results) >= _MOST_RESULTS:
                del self._results[next(iter(self._results))]
            self._results[place] = (state, ended, ended - begun, result)
        return result


_LATEST: WeakKeyDictionary[Replies, LatestRuns] = WeakKeyDictionary()
_LOCK = Lock()


def latest_runs(session: Session) -> LatestRuns:
    """The runs of the workspace that this conversation belongs to."""
    with _LOCK:
        return _LATEST.setdefault(session.replies, LatestRuns())
