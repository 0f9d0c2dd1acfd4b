from __future__ import annotations

from pages.ui.observability.set_up import usual_log


def test_a_person_at_a_terminal_reads_warnings_and_a_service_logs_everything() -> None:
    assert (usual_log(on_terminal=True).form, usual_log(on_terminal=True).level) == ("plain", "warning")
    assert (usual_log(on_terminal=False).form, usual_log(on_terminal=False).level) == ("plain", "info")
