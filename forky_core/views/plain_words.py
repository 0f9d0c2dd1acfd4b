"""What an operation did, in the words of the pages: the log has Git's, which the pages do not show."""

from __future__ import annotations

import re

from forky_core.model import Operation

_UNDID, _REDID = "Undid: ", "Redid: "
_PLAIN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (
            r"(?:Merged|Grafted|Picked from) (“.*”) into (“.*”) \(.*, (\d+ unresolved)\)",
            r"Brought \1 back into \2, \3",
        ),
        (r"(?:Merged|Grafted|Picked from) (“.*”) into (“.*”) \(.*\)", r"Brought \1 back into \2"),
        (r"Fast-forwarded (“.*”) to (“.*”)", r"Brought \2 back into \1"),
        (r"Forked the experiment (“.*”) as (“.*”)", r"Copied the experiment \1 as \2"),
        (r"Forked (“.*”) at \w+ to answer again", r"Asked for another answer, on the branch \1"),
        (r"Forked (“.*?”) and asked: (.*)", r"Asked on the new branch \1: \2"),
        (r"Forked (“.*”) to have another model answer", r"Started the branch \1 for another model's answer"),
        (r"Forked (“.*”)(?: at \w+)?", r"Started the branch \1"),
        (r"Stashed (“.*”)", r"Put \1 aside"),
        (r"(?:Popped|Applied) (“.*”) onto (“.*”)", r"Took \1 up again on \2"),
        (r"Pruned (.*) from \w+ on", r"Cleared \1 away"),
        (r"Reverted the merge of (“.*”) on (“.*”)", r"Left out what \1 brought back into \2"),
        (r"Reverted the revert \w+ on (“.*”)", r"Took in again what was left out on \1"),
        (r"Reverted (.*) on (“.*”)", r"Left \1 out on \2"),
        (r"Rebased (“.*”) onto (.*)", r"Moved \1 on to \2"),
        (r"Fused (\d+ answers) on (“.*”)", r"Made one answer of \1 on \2"),
        (r"Moved (“.*”) to [0-9a-f]+", r"Moved \1 to another answer"),
        (r"Tagged \w+ as (“.*”)", r"Called a message \1"),
        (r"Asked to (?:pick \d+ of|graft|merge) (“.*”) into (“.*”)", r"Asked for a review of \1 into \2"),
    )
)
"""Summaries of the log, with what a page says instead."""


def plain_summary(summary: str) -> str:
    """Return a summary of the log in plain words, without a full stop; one that has no word of Git's is unchanged."""
    for sign, words in ((_UNDID, "Undone: "), (_REDID, "Done again: ")):
        if summary.startswith(sign):
            inner = plain_summary(summary.removeprefix(sign))
            return words + inner[:1].lower() + inner[1:]
    for pattern, words in _PLAIN:
        if found := pattern.fullmatch(summary):
            return found.expand(words)
    return summary


def plain_sentence(operation: Operation) -> str:
    """Return what an operation did in plain words, as a sentence."""
    said = plain_summary(operation.summary)
    return said if said.endswith(("…", ".", "!", "?")) else f"{said}."
