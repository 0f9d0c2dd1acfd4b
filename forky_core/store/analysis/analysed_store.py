"""What every store that is an `AnalysisSource` does with its tables, once it has written them to files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path

from forky_core.model import ConversationId
from forky_core.store.analysis.copying import make_copy, redact_tables
from forky_core.store.analysis.partitions import write_partitions
from forky_core.store.contract import CopyForm, Partitions, Redaction


class AnalysedStore(ABC):
    """A store that can write the tables of docs/analysis.md."""

    @abstractmethod
    def _write_parquet(self, tables: Path, conversations: Collection[ConversationId] | None) -> None:
        """Write each table to `<table>.parquet` in this folder, all as of one moment. Raises StoreError."""

    def write_tables(
        self,
        folder: Path,
        form: CopyForm,
        conversations: Collection[ConversationId] | None = None,
        redaction: Redaction | None = None,
    ) -> Path:
        """Write the tables for analysis into one file; see `AnalysisSource`."""
        return make_copy(self._tables(folder, conversations), folder, form, redaction)

    def write_partitions(
        self, work: Path, folder: Path, workspace: str, redaction: Redaction | None = None
    ) -> Partitions:
        """Bring a folder of Parquet files up to date; see `AnalysisSource`."""
        tables = self._tables(work, None)
        if redaction is not None:
            redact_tables(tables, work, redaction)
        return write_partitions(tables, folder, workspace)

    def _tables(self, folder: Path, conversations: Collection[ConversationId] | None) -> Path:
        """The folder below this one where they have been written."""
        tables = folder / "tables"
        tables.mkdir()
        self._write_parquet(tables, conversations)
        return tables
