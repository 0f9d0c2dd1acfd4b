"""Column "true": whether the text says what holds at the end of a branch, and nothing that does not.

Each line of data/true-<language>.jsonl is a branch with statements that must stand, that must not stand, and that must
not stand without their correction; docs/mergebench.md describes the format. A payload *lies* if one of the latter two
is broken. A payload that tells neither a value nor its correction does not lie; it only keeps less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import sentencex

from bench.mergebench.case import LANGUAGES, Case, Language, Split, folded, turns_of
from bench.mergebench.run import NOT_MADE, Run, some
from bench.mergebench.sources import DATA
from bench.mergebench.table import Table, Tally

BUDGETS: Mapping[str, tuple[float, int]] = {"20%, at least 120 tokens": (0.2, 120), "20%": (0.2, 0)}
"""A share of the side's tokens, and a least; the first is what Forky takes where nobody names a budget."""
QUICK_ITEMS = 25

Statement = tuple[str, ...]
"""Keys that all have to stand in one line; a key may give alternatives, divided by `|`."""


@dataclass(frozen=True, slots=True)
class Item:
    """One branch with what may be said of it."""

    case: Case
    kind: str
    must: tuple[Statement, ...]
    must_not: tuple[Statement, ...]
    only_with: tuple[tuple[Statement, Statement], ...]
    """Pairs: a statement, and the correction that has to stand in its line or in a later one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one payload says of a branch."""

    lies: tuple[str, ...]
    """A sentence for each statement that is broken."""
    kept: float | None
    """The share of the `must` statements that stand; None where there are none."""


class BadItem(ValueError):
    """A line of a data file has not the form that docs/mergebench.md describes."""


def load(language: Language, split: Split, data: Path = DATA) -> list[Item]:
    """The items of a language and a half; [] where there is no such file.

    Raises:
        BadItem: a line has another form.
    """
    file = data / f"true-{language}.jsonl"
    rows = file.read_text("utf-8").splitlines() if file.is_file() else []
    items = [
        _item(json.loads(row), language, f"{file.name}, line {at}") for at, row in enumerate(rows, 1) if row
    ]
    return [item for item in items if item.case.split == split]


def _item(row: Mapping[str, Any], language: Language, where: str) -> Item:
    try:
        if row["split"] not in ("development", "test"):
            raise BadItem(f"{where}: the split {row['split']!r} is none.")
        case = Case(
            row["id"],
            row.get("scenario") or row["id"],
            language,
            cast("Split", row["split"]),
            turns_of(row["trunk"]),
            turns_of(row["side"]),
        )
        return Item(
            case,
            row["kind"],
            tuple(map(_statement, row.get("must", ()))),
            tuple(map(_statement, row.get("must_not", ()))),
            tuple((_statement(old), _statement(new)) for old, new in row.get("only_with", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadItem(f"{where}: {error}") from error


def _statement(keys: Any) -> Statement:
    if not isinstance(keys, list) or not keys:
        raise ValueError(f"{keys!r} is no list of keys.")
    if not all(isinstance(key, str) and key.strip("| ") for key in keys):
        raise ValueError(f"{keys!r} holds no text.")
    return tuple(keys)


def judge(item: Item, payload: str) -> Verdict:
    """What is broken and what is kept in a payload.

    A `must` stands if one line of the payload holds all its keys. A statement that must not stand, or not alone, stands
    if one sentence does: two neighbouring sentences are not read as one claim.
    """
    lines = [folded(line) for line in payload.splitlines() if line.strip()]
    sentences = [_sentences(line, item.case.language) for line in lines]
    lies = [
        f"must not stand: {' + '.join(statement)}"
        for statement in item.must_not
        if any(stands(statement, sentence) for cut in sentences for sentence in cut)
    ]
    for old, new in item.only_with:
        said = [at for at, cut in enumerate(sentences) if any(stands(old, sentence) for sentence in cut)]
        if said and not any(stands(new, line) for line in lines[max(said) :]):
            lies.append(f"{' + '.join(old)} stands without {' + '.join(new)}")
    kept = [any(stands(statement, line) for line in lines) for statement in item.must]
    return Verdict(tuple(lies), sum(kept) / len(kept) if kept else None)


def stands(statement: Statement, text: str) -> bool:
    """Whether a folded text holds every key of a statement."""
    return all(_pattern(key).search(text) for key in statement)


@lru_cache(maxsize=8192)
def _pattern(key: str) -> re.Pattern[str]:
    """Finds one of a key's alternatives; a number only where it stands whole: 80 is not said by 8080 or 80.5."""
    return re.compile("|".join(map(_whole, filter(None, map(str.strip, folded(key).split("|"))))))


def _whole(key: str) -> str:
    before = r"(?<!\d)(?<!\d[.,])" if key[0].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if key[-1].isdigit() else ""
    return f"{before}{re.escape(key)}{after}"


@lru_cache(maxsize=8192)
def _sentences(line: str, language: Language) -> tuple[str, ...]:
    return tuple(sentencex.segment(language, line))


def tables(run: Run, data: Path = DATA) -> list[Table]:
    """Lies and truths by budget, by language and by kind."""
    items = [
        item for language in LANGUAGES for item in some(run, load(language, run.split, data), QUICK_ITEMS)
    ]
    if not items:
        return [Table("True", (), {}, NOT_MADE)]
    lies, truths = Tally(), Tally()
    for method in run.methods:
        for item in items:
            for label, (share, least) in BUDGETS.items():
                text = run.write(method, item.case, item.case.budget(share, least))
                verdict = judge(item, text)
                heads = [label]
                if label == next(iter(BUDGETS)):
                    heads += [item.case.language, item.kind]
                for head in heads:
                    lies.add(method, head, item.case.source, float(bool(verdict.lies)))
                    if verdict.kept is not None:
                        truths.add(method, head, item.case.source, verdict.kept)
    count = f"{len(items)} branches; mean [95 % interval]."
    languages = [language for language in LANGUAGES if any(item.case.language == language for item in items)]
    kinds = sorted({item.kind for item in items})
    missing = [language for language in LANGUAGES if language not in languages]
    if missing:
        count += f" No file yet for: {', '.join(missing)}."
    return [
        lies.table("True: lies per 100 payloads", count, (*BUDGETS, *languages), 100),
        truths.table("True: share of the truths kept", count, (*BUDGETS, *languages)),
        lies.table("True: lies per 100 payloads, by kind", count, kinds, 100),
        truths.table("True: share of the truths kept, by kind", count, kinds),
    ]
