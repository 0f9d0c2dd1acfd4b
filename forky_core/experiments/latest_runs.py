"""What this process has of a workspace's experiments: their book, the last run of each, and its last result."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from forky_core.conversation.replies.replies import Replies
from forky_core.conversation.session import Session
from forky_core.experiments.book import ExperimentBook, Place
from forky_core.experiments.experiment_run import ExperimentRun
from forky_core.experiments.results import ExperimentResult
from forky_core.model.errors import InTheWay

_MOST_RESULTS = 20
"""How many experiments have a cached result."""
_PATIENCE = 4.0
"""For how many times the seconds that it took to compute a result may be shown during a run."""


class LatestRuns:
    """The last runs of one open workspace, with their book. It can be used from any thread."""

    def __init__(self) -> None:
        self.book = ExperimentBook()
        self._lock = Lock()
        self._runs: dict[Place, ExperimentRun] = {}
        self._results: dict[Place, tuple[object, float, float, ExperimentResult]] = {}
        """Each result with the state that it was computed from, when that was, and how many seconds it took."""

    def run(self, place: Place) -> ExperimentRun | None:
        """Return the present or last run; None if there was none in this process."""
        with self._lock:
            return self._runs.get(place)

    def begin(self, place: Place, run: ExperimentRun) -> None:
        """Begin a run and remember it. If it cannot begin, the run before it stays the last one.

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
        """Return the last result if it is at most `age` seconds old, or four times as old as it took to compute."""
        with self._lock:
            cached = self._results.get(place)
        if cached is None:
            return None
        _, since, duration, result = cached
        return result if monotonic() - since < max(age, _PATIENCE * duration) else None

    def result(
        self, place: Place, state: object, compute: Callable[[], ExperimentResult]
    ) -> ExperimentResult:
        """Return the result for a state: the last one if it was computed from the same state, or a new one."""
        with self._lock:
            cached = self._results.get(place)
        if cached is not None and cached[0] == state:
            return cached[3]
        begun = monotonic()
        result = compute()
        ended = monotonic()
        with self._lock:
            while len(self._results) >= _MOST_RESULTS:
                del self._results[next(iter(self._results))]
            self._results[place] = (state, ended, ended - begun, result)
        return result


_LATEST: WeakKeyDictionary[Replies, LatestRuns] = WeakKeyDictionary()
_LOCK = Lock()


def latest_runs(session: Session) -> LatestRuns:
    """Return the runs of the workspace that this conversation belongs to."""
    with _LOCK:
        return _LATEST.setdefault(session.replies, LatestRuns())
