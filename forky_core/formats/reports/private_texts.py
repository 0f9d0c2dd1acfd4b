"""Finds what looks private in a report, and makes a copy with placeholders instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from forky_core.formats.exporting.redaction import PrivateValue, found_in, rewording
from forky_core.formats.reports.report import OwnPage, Report, Reword

T = TypeVar("T")
_DRAWN = frozenset(("picture",))
"""Fields that are not searched: other fields have their texts, too, and coordinates look like phone numbers."""


def private_values(report: Report) -> tuple[PrivateValue, ...]:
    """Find keys, accounts, cards, e-mail addresses and phone numbers in the texts of a report."""
    return found_in(_texts(report))


def without_private(report: Report, ticked: Iterable[PrivateValue]) -> Report:
    """Return a copy in which placeholders replace the `ticked` values, also on the thing's own page."""
    chosen = tuple(ticked)
    if not chosen:
        return report
    word = rewording(chosen)
    return replace(reworded_value(report, word), word=word)


def with_names(report: Report, name_of: Reword) -> Report:
    """Return a copy with names instead of people's ids, also on the thing's own page."""
    if name_of is str:
        return report
    page = _named(report.page, name_of) if report.page is not None else None
    return replace(reworded_value(report, name_of), page=page)


def _named(write: OwnPage, name_of: Reword) -> OwnPage:
    return lambda word: write(lambda text: word(name_of(text)))


def reworded_value(value: T, word: Reword) -> T:
    """Return a copy of a value with `word` applied to every text in it: in dataclasses, tuples, lists and mappings, at
    any depth, except for keys of mappings.
    """
    made: Any = value
    if isinstance(value, str):
        made = type(value)(word(value)) if type(value) is not str else word(value)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {
            one.name: new
            for one in fields(value)
            if one.init and (new := reworded_value(old := getattr(value, one.name), word)) is not old
        }
        made = replace(value, **changed) if changed else value
    elif isinstance(value, Mapping):
        pairs = {key: reworded_value(one, word) for key, one in value.items()}
        made = value if all(pairs[key] is one for key, one in value.items()) else pairs
    elif isinstance(value, tuple | list):
        items = [reworded_value(one, word) for one in value]
        if any(new is not old for new, old in zip(items, value, strict=True)):
            made = items if isinstance(value, list) else tuple(items)
    return made  # type: ignore[no-any-return]


def _texts(value: Any, where: str = "the title") -> Iterator[tuple[str, str]]:
    """Yield every text of a report with the title of its section."""
    if isinstance(value, str):
        yield where, value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            if one.name not in _DRAWN:
                inner = getattr(value, one.name)
                yield from _texts(inner, _place(value, one.name, where))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _texts(one, where)


def _place(value: Any, name: str, where: str) -> str:
    if name == "table":
        return "the table"
    title = getattr(value, "title", None)
    return f"“{title[:60]}”" if isinstance(title, str) and name not in ("title", "kind") else where
