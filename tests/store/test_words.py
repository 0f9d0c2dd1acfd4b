from __future__ import annotations

from forky_core.store.words import SNIPPET_LENGTH, snippet


def test_a_snippet_begins_with_a_whole_word() -> None:
    before = "measurements " * 10
    assert snippet(f"{before}needle", ["needle"]) == "…" + "measurements " * 4 + "needle"
    assert snippet("x" * 100 + "needle", ["needle"]) == "…" + "x" * 60 + "needle", "there is none"
    assert len(snippet(f"{before}needle {before * 4}", ["needle"])) <= SNIPPET_LENGTH
