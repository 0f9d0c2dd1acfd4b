"""What a squash without a model keeps: `python -m bench merge_quality`, or `python -m bench.merge_quality [PART …]`.

Parts: `log`, the hindsight benchmark on a real coding log (bench/merge_cases.py says how cases are cut); `prose`,
dialogues without code; `long`, the time and memory of a branch of 2,000 messages. docs/numbers.md has the tables and
docs/design/what-a-squash-keeps.md what was tried.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from bench.measure import Line, report
from bench.merge_cases import LOG, Case, Split, cases
from bench.merge_lexrank import lexrank
from bench.merge_long import long_lines
from bench.merge_peers import PEERS, Peer
from bench.merge_prose import prose_lines
from bench.merge_scores import Score, interval, is_valid, read_back, score
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.options import MergeOptions
from forky_core.merge.squash import squash_of

SHARES = (0.2, 0.1)
SPLITS: tuple[Split, ...] = ("development", "test")
ROWS: Mapping[str, Peer] = {**PEERS, "LexRank (sumy)": lexrank}
LEAST: Mapping[tuple[float, str], float] = {
    (0.2, "identifiers"): 0.88,
    (0.2, "lines"): 0.68,
    (0.1, "identifiers"): 0.70,
    (0.1, "lines"): 0.40,
}
"""What a quick try reached before; on the test split ours must not fall below it."""


def payload(case: Case, share: float) -> str:
    """What squashing the side into the trunk would write.

    All of the side is squashed: the log's tool speaks to the person, without a call, and a merge would take what it
    says at the end for a turn that is not complete.
    """
    messages = {message.id: message for message in (*case.trunk, *case.side)}
    place = MergeInputs(
        case.trunk[-1].id if case.trunk else None,
        case.side[-1].id,
        "main",
        "side",
        lookup=messages.__getitem__,
        parents_of=lambda id: messages[id].parents,
        count_tokens=estimate_tokens,
    )
    found = replace(place.incoming(), turns=case.side)
    return squash_of(place, found, MergeOptions("squash", budget=int(case.tokens * share))).payload


def ours(case: Case, share: float) -> Score:
    text = payload(case, share)
    quoted = read_back(text)
    valid = sum(is_valid(line, case.side) for line in quoted) / max(1, len(quoted))
    return score(case, [line.text for line in quoted], estimate_tokens(text), valid)


def peer(name: str, case: Case, share: float) -> Score:
    lines = ROWS[name](case, int(case.tokens * share))
    return score(case, lines, estimate_tokens("\n".join(lines)))


Ours = Callable[[Case, float], Score]


def table(split: Split, share: float) -> dict[str, list[tuple[int, Score]]]:
    """The scores of every row, with the sessions they are from; printed on the way."""
    mine = [case for case in cases() if case.split == split]
    sessions = len({case.session for case in mine})
    print(f"\n{split}, {share:.0%} of the branch's tokens: {len(mine)} cases from {sessions} sessions")
    print(f"{'':<18}{'identifiers':<20}{'whole lines':<20}{'size':>7}{'pollution':>11}{'valid':>8}")
    rows: dict[str, Ours] = {name: partial(peer, name) for name in ROWS}
    found: dict[str, list[tuple[int, Score]]] = {}
    for name, run in {**rows, "ours": ours}.items():
        scores = found[name] = [(case.session, run(case, share)) for case in mine]
        names, lines = _interval(scores, "identifiers"), _interval(scores, "lines")
        size, pollution = (_interval(scores, column)[0] for column in ("size", "pollution"))
        valid = f"{_interval(scores, 'valid')[0]:.1%}" if name == "ours" else ""
        print(f"{name:<18}{_shown(names):<20}{_shown(lines):<20}{size:>7.1%}{pollution:>11.2f}{valid:>8}")
    return found


def _interval(scores: Sequence[tuple[int, Score]], column: str) -> tuple[float, float, float]:
    by_session: dict[int, list[float]] = {}
    for session, one in scores:
        by_session.setdefault(session, []).append(getattr(one, column))
    return interval(by_session)


def _shown(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.2f} [{found[1]:.2f}, {found[2]:.2f}]"


def log_lines() -> list[Line]:
    if not LOG.exists():
        print(f"{LOG.name} is not beside the checkout: nothing to measure.")
        return []
    lines: list[Line] = []
    for share in SHARES:
        for split in SPLITS:
            found = table(split, share)
            if split == "test":
                lines += [
                    Line(
                        f"{column} kept at {share:.0%} of the tokens, test",
                        _interval(found["ours"], column)[0],
                        _interval(found["LexRank (sumy)"], column)[0],
                        None,
                        "",
                    )
                    for column in ("identifiers", "lines")
                ]
                lines += [
                    Line(
                        f"– of what is the least ({column})",
                        _interval(found["ours"], column)[0],
                        least,
                        1.0,
                        "",
                        at_least=True,
                    )
                    for (of, column), least in LEAST.items()
                    if of == share
                ]
            wrong = [1 - (one.valid or 0.0) for _, one in found["ours"]]
            lines.append(
                Line(f"lines that their citation does not bear, {share:.0%}, {split}", sum(wrong), 1, 0, "")
            )
    return lines


PARTS: Mapping[str, Callable[[bool], list[Line]]] = {
    "log": lambda _quick: log_lines(),
    "prose": lambda _quick: prose_lines(),
    "long": lambda quick: long_lines(quick=quick),
}


def lines(*, quick: bool = False, parts: Sequence[str] = tuple(PARTS)) -> list[Line]:
    return [line for part in parts for line in PARTS[part](quick)]


if __name__ == "__main__":
    sys.exit(0 if report(lines(parts=sys.argv[1:] or tuple(PARTS))) else 1)
