"""What the pages say an operation did."""

from __future__ import annotations

import pytest

from forky_core.views.plain_words import plain_sentence, plain_summary
from tests.builders import talk, workspace


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("Merged “x” into “main” (squash)", "Brought “x” back into “main”"),
        (
            "Merged “a”, “b” into “main” (squash, request 3, 2 unresolved)",
            "Brought “a”, “b” back into “main”, 2 unresolved",
        ),
        ("Picked from “x” into “main” (cherry-pick)", "Brought “x” back into “main”"),
        ("Undid: Merged “x” into “main” (full)", "Undone: brought “x” back into “main”"),
        ("Redid: Forked “x” at 3f2a91", "Done again: started the branch “x”"),
        ("Pruned 3 messages from 3f2a on", "Cleared 3 messages away"),
        (
            "Forked “x” and asked: Forked “y” and asked: why?",
            "Asked on the new branch “x”: Forked “y” and asked: why?",
        ),
        (
            "Asked on “main”: Merged “x” into “main” (squash)",
            "Asked on “main”: Merged “x” into “main” (squash)",
        ),
    ],
)
def test_a_summary_of_the_log_has_plain_words(summary: str, said: str) -> None:
    assert plain_summary(summary) == said


def test_what_was_done_and_taken_back_is_a_sentence() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Trip"), "Where to?", "Norway.")
    side = talk(chat.fork("x"), "By boat?", "No boat goes there.")
    landed = chat.merge(chat.plan_merge(side, strategy="squash", force=True))
    assert plain_sentence(landed) == "Brought “x” back into “main”."
    assert plain_sentence(chat.undo()) == "Undone: brought “x” back into “main”."
