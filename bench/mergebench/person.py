"""Column "person": the share of the person's own messages of which the text tells anything.

A message is told if one of its lines or sentences stands in the text, or eight of its words in a row (of Chinese,
twelve signs). Messages without a content word ("ok", "yes, go on") are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bench.mergebench.agent_logs import agent_logs
from bench.mergebench.case import LANGUAGES, Case, folded, pieces
from bench.mergebench.hindsight import coding_log
from bench.mergebench.kept import QUICK_CASES
from bench.mergebench.run import ABSENT, NOT_MADE, SHARES, Run, some
from bench.mergebench.table import Table, Tally
from bench.mergebench.true import QUICK_ITEMS
from bench.mergebench.true import load as load_true
from forky_core.text.words import terms

RUN = 8
"""Words in a row that tell a message."""
_SIGNS = 12
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def told(message: str, payload: str, case: Case) -> bool:
    """Whether a line, a sentence or a run of words of the message stands in the payload."""
    text = _flat(payload)
    return any(piece and piece in text for piece in _phrases(message, case))


def _phrases(message: str, case: Case) -> Iterable[str]:
    worded = [piece for piece in pieces(message, case.language) if terms(piece)]
    for piece in map(_flat, worded):
        yield piece
        if _WIDE.search(piece):
            yield from (piece[at : at + _SIGNS] for at in range(len(piece) - _SIGNS + 1))
        else:
            words = piece.split(" ")
            yield from (" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def _flat(text: str) -> str:
    return " ".join(folded(text).split())


def own_messages(case: Case) -> list[str]:
    """What the person said on the side, without messages that hold no content word."""
    return [turn.text for turn in case.side if turn.role == "user" and terms(turn.text)]


def tables(run: Run) -> Iterator[Table]:
    """A table of the logs in which a person works with a model, and one of the made-up branches."""
    logs = {
        "agents' logs": [one.case for one in some(run, agent_logs(run.split, quick=run.quick), QUICK_CASES)],
        "coding log": [one.case for one in some(run, coding_log(run.split), QUICK_CASES)],
    }
    made = [
        item.case for language in LANGUAGES for item in some(run, load_true(language, run.split), QUICK_ITEMS)
    ]
    sets: dict[str, tuple[list[Case], str]] = {name: (cases, ABSENT) for name, cases in logs.items()}
    sets["made-up branches"] = (made, NOT_MADE)
    yield from (_table(run, name, cases, absent) for name, (cases, absent) in sets.items())


def _table(run: Run, name: str, cases: list[Case], absent: str) -> Table:
    title = f"Person: share of the own messages told, {name}"
    if not cases:
        return Table(title, (), {}, absent)
    tally = Tally()
    for method in run.methods:
        for case in cases:
            for share in SHARES:
                text = run.write(method, case, case.budget(share))
                for message in own_messages(case):
                    tally.add(method, f"{share:.0%}", case.source, float(told(message, text, case)))
    count = sum(len(own_messages(case)) for case in cases)
    return tally.table(title, f"{count} messages of {len(cases)} sides; mean [95 % interval].")
