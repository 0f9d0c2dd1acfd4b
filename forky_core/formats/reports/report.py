"""The parts of a report, which are independent of the form of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from forky_core.render.drawings import MergePicture

Reword = Callable[[str], str]
"""Replaces what looks private in a text, and returns all other texts as they are."""
OwnPage = Callable[[Reword], Iterator[bytes]]
"""Writes a thing's own page; it applies the function to every text of people and models."""
Value = str | int | float | None
"""The value of one field of a table."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences of Forky, as plain text; each is a paragraph."""

    type: ClassVar[str] = "sentences"
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """A text of a person or a model, as Markdown."""

    type: ClassVar[str] = "prose"
    text: str


@dataclass(frozen=True, slots=True)
class Exact:
    """A text that is shown with its lines and spaces, in which nothing is markup."""

    type: ClassVar[str] = "exact"
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that somebody attached."""

    type: ClassVar[str] = "picture"
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of a merge; forms that are text have its description instead."""

    type: ClassVar[str] = "drawing"
    picture: MergePicture
    description: str


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table; all rows are as long as the head."""

    type: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


Leaf = Sentences | Prose | Exact | Picture | Drawing | DataTable


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """One of several things that stand side by side."""

    title: str
    facts: str
    """A line below the title; "" for none."""
    blocks: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Columns side by side, or one below the other on a narrow page."""

    type: ClassVar[str] = "side by side"
    columns: tuple[ReportColumn, ...]


Block = Leaf | SideBySide


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section with a title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a comparison, an experiment, a poll, a merge or a replay, ready to be written as a file."""

    kind: str
    """The name of the thing, e.g. "comparison"."""
    title: str
    about: tuple[str, ...]
    """Sentences below the title."""
    sections: tuple[ReportSection, ...]
    table: DataTable | None = None
    """All of an experiment as rows, for spreadsheets and programs."""
    page: OwnPage | None = None
    """A page of its own for a thing that sections cannot show well."""
    word: Reword = str
    """The function for all texts of `page`; in a copy without private values it replaces these."""
