"""A cache of what was computed from the experiments of a workspace."""

from __future__ import annotations

from operator import is_
from threading import Lock
from typing import Any

from forky_core.conversation.session import Session
from forky_core.experiments.cells import CellCalls, CellReader
from forky_core.experiments.plan import ExperimentPlan
from forky_core.model import ConversationId, View
from forky_core.model.errors import NotFound, StoreDamaged, there_are
from forky_core.model.experiment import Experiment, experiments_in, stored_in
from forky_core.model.parts import Json

Place = tuple[ConversationId, str]
_MOST_PLANS = 50
"""How many experiments have a cached plan."""
_MOST_INDEXES = 8
"""How many conversations have a cached index of their calls."""


class ExperimentBook:
    """The cache of one open workspace. It can be used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: dict[ConversationId, CellCalls] = {}
        self._plans: dict[Place, tuple[tuple[Json, ...], ExperimentPlan, dict[tuple[object, ...], Any]]] = {}

    def plan(
        self, session: Session, view: View, name: str
    ) -> tuple[ExperimentPlan, dict[tuple[object, ...], Any]]:
        """Return the experiment's plan, and the verdicts that are cached for it.

        Raises:
            NotFound: the conversation has no experiment of this name.
            StoreDamaged: it cannot be read.
        """
        stored = stored_in(view, name)
        if not stored:
            raise NotFound(f"There is no experiment “{name}” here.", there_are(experiments_in(view)))
        place = (session.id, name)
        with self._lock:
            cached = self._plans.get(place)
        if cached is not None and len(cached[0]) == len(stored) and all(map(is_, cached[0], stored)):
            return cached[1], cached[2]
        try:
            rows = (row for piece in stored[1:] for row in piece)
            plan = ExperimentPlan(Experiment.from_stored(name, stored[0], rows))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreDamaged(f"The experiment “{name}” cannot be read.", "Undo its last change.") from error
        with self._lock:
            while len(self._plans) >= _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[place] = (stored, plan, {})
            return plan, self._plans[place][2]

    def reader(self, session: Session, name: str) -> CellReader:
        """Return a reader for the cells of an experiment as they are now. Raises what `plan` raises."""
        running = frozenset(job.place.branch for job in session.replies.running(session.id))
        view = session.view
        plan, cache = self.plan(session, view, name)
        return CellReader(plan, view, session.messages, self._index(session), running, cache)

    def _index(self, session: Session) -> CellCalls:
        """Return the index of the conversation's calls, which may contain newer calls than the view of a reader."""
        with self._lock:
            cached = self._calls.get(session.id)
        if cached is not None and cached.update(session.generations):
            return cached
        index = CellCalls()
        index.update(session.generations)
        with self._lock:
            self._calls.pop(session.id, None)
            while len(self._calls) >= _MOST_INDEXES:
                del self._calls[next(iter(self._calls))]
            self._calls[session.id] = index
        return index
