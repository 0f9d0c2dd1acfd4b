"""`python -m bench load`: somebody does everything once on a real team's server, and nothing goes wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.load import report, report_steps
from bench.load.core_share import held_to
from bench.load.person import DECK
from bench.load.run import Wanted, measure


@pytest.mark.long
def test_somebody_does_everything_once(tmp_path: Path) -> None:
    (result,) = measure(
        Wanted(people=1, replies=0, arriving=0.0, seconds=0.1, think=0.0, rounds=1, alone=0), tmp_path
    )
    assert result.errors == []
    assert result.acts >= len(DECK)
    kinds = {kind for kind, (_, load) in result.kinds.items() if load is not None}
    assert {"send", "fork", "land", "search", "import", "vote", "open"} <= kinds
    assert (
        result.commits
        and result.processor["server"]
        and result.load.count == sum(load.count for _, load in result.kinds.values() if load is not None)
    )
    assert "errors: 0" in report(result)


@pytest.mark.long
def test_two_processes_share_the_people_who_come_step_by_step(tmp_path: Path) -> None:
    first, second = measure(
        Wanted(
            people=2,
            replies=0,
            arriving=0.1,
            seconds=0.1,
            think=0.0,
            rounds=1,
            alone=0,
            store="postgresql",
            nodes=2,
            step=1,
        ),
        tmp_path,
    )
    assert first.errors == second.errors == []
    assert (first.wanted.people, second.wanted.people) == (1, 2)
    assert second.load.count > first.load.count
    logs = sorted(tmp_path.glob("server-*.log"))
    assert len(logs) == 2 and all("operation.published" in log.read_text("utf-8") for log in logs)
    head, one, two = report_steps([first, second]).splitlines()
    assert head.split()[0] == "people" and one.split()[0] == "1" and two.split()[0] == "2"


@pytest.mark.long
def test_a_program_is_held_to_a_part_of_a_core_and_let_go_again() -> None:
    with subprocess.Popen(["sleep", "1000"]) as program:
        groups = Path(f"/proc/{program.pid}/cgroup")
        before = groups.read_text() if groups.exists() else ""
        try:
            with held_to(0.5, program.pid):
                assert "forky-load-" in groups.read_text()
            assert groups.read_text() == before
        except RuntimeError:
            pytest.skip("No control groups that this user may make here.")
        finally:
            program.kill()
