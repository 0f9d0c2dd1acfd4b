"""Any sequence of calls gives the same values and errors on PostgreSQL as in memory."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from forky_core.store.contract import Store
from forky_core.store.postgresql.store import PostgresStore
from tests.examples import examples
from tests.store.test_comparison import AnswersAsMemoryDoes


def test_postgresql_answers_as_memory_does(shared: str) -> None:
    class PostgresAnswersAsMemoryDoes(AnswersAsMemoryDoes):
        def __init__(self) -> None:
            self.workspace = uuid4().hex
            super().__init__()

        def opened(self) -> Store:
            return PostgresStore.open(shared, workspace=self.workspace, connections=2)

    run_state_machine_as_test(
        PostgresAnswersAsMemoryDoes,
        settings=settings(
            max_examples=examples(25), stateful_step_count=25, suppress_health_check=list(HealthCheck)
        ),
    )
