"""What a store offers to whoever analyses it: its tables as one file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from forky_core.model import ConversationId

CopyForm = Literal["duckdb", "parquet"]
"""One DuckDB file, or a ZIP archive of Parquet files."""
Redaction = Callable[[Iterable[str]], Callable[[str], str]]
"""From all texts to the function that returns each as it may be shown."""


@runtime_checkable
class AnalysisSource(Protocol):
    """A store that can give its tables away; one in memory is none."""

    def write_tables(
        self,
        folder: Path,
        form: CopyForm,
        conversations: Collection[ConversationId] | None = None,
        redaction: Redaction | None = None,
    ) -> Path:
        """Write the tables of docs/analysis.md, all as of one moment, into one file of an empty folder.

        With `conversations`, only what belongs to those, and the documents that they name.

        Raises:
            StoreFull, StoreError: something may be left in the folder.
        """
        ...
