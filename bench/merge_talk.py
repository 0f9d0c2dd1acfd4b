"""What a squash keeps of long talks between two people, half of which nothing was chosen by.

`python -m bench.merge_talk FILE` reads LoCoMo's archive (github.com/snap-research/locomo, `data/locomo10.zip`; CC BY-NC
and no part of this repository): ten friendships over months, each of many sessions. A session with at least LEAST_FACTS
names, dates, numbers or quoted phrases is a dialogue. The limit at which a line of pure prose is cut into sentences was
chosen on the conversations at even places; those at odd ones were looked at once, afterwards. Intervals are bootstraps
that draw whole conversations.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any
from zipfile import ZipFile

from bench.merge_cases import Role, chain
from bench.merge_prose import LEAST_REAL_TOKENS, Kept, kept
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Message

DRAWS = 2_000
_SESSION = "session_"


def sessions_in(archive: Path) -> Mapping[int, list[tuple[Message, ...]]]:
    """The sessions of each conversation, by its place among the names of the archive."""
    with ZipFile(archive) as file:
        names = sorted(name for name in file.namelist() if name.endswith(".json"))
        return {at: list(_sessions(json.loads(file.read(name)))) for at, name in enumerate(names)}


def _sessions(conversation: Mapping[str, Any]) -> Iterator[tuple[Message, ...]]:
    for name, turns in conversation.items():
        if not name.startswith(_SESSION) or not name.removeprefix(_SESSION).isdecimal() or not turns:
            continue
        first = conversation[f"{_SESSION}1"][0]["speaker"]
        said: list[tuple[Role, str]] = [
            ("user" if turn["speaker"] == first else "assistant", turn.get("clean_text") or turn["text"])
            for turn in turns
        ]
        if sum(estimate_tokens(text) for _, text in said) >= LEAST_REAL_TOKENS:
            yield chain(said)


def times_random(rows: Sequence[Kept]) -> float:
    return fmean(row.ours for row in rows) / fmean(row.random for row in rows)


def interval(by_conversation: Mapping[int, Sequence[Kept]]) -> tuple[float, float]:
    draw, places = random.Random(0), list(by_conversation)
    drawn = sorted(
        times_random([row for at in draw.choices(places, k=len(places)) for row in by_conversation[at]])
        for _ in range(DRAWS)
    )
    return drawn[DRAWS // 40], drawn[-DRAWS // 40 - 1]


def lines(archive: Path) -> Iterator[str]:
    yield f"{'conversations':<16}{'sessions':>9}{'ours':>7}{'random':>8}{'best':>7}{'times random':>22}"
    found = {
        at: [row for session in sessions if (row := kept(session)) is not None]
        for at, sessions in sessions_in(archive).items()
    }
    for title, rest in (("even: chosen by", 0), ("odd: held out", 1)):
        by = {at: rows for at, rows in found.items() if at % 2 == rest and rows}
        rows = [row for of_one in by.values() for row in of_one]
        if not rows:
            continue
        low, high = interval(by)
        shares = [fmean(getattr(row, column) for row in rows) for column in ("ours", "random", "best")]
        yield (
            f"{title:<16}{len(rows):>9}{shares[0]:>7.2f}{shares[1]:>8.2f}{shares[2]:>7.2f}"
            f"{f'{times_random(rows):.2f} [{low:.2f}, {high:.2f}]':>22}"
        )


if __name__ == "__main__":
    print("\n".join(lines(Path(sys.argv[1]))))
