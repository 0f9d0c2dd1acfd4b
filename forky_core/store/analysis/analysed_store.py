"""What every store that is an `AnalysisSource` does with its tables, once it has written them to files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path

from forky_core.model import ConversationId
from forky_core.store.analysis.copying import make_copy
from forky_core.store.contract import CopyForm


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
    ) -> Path:
        """Write the tables for analysis into one file; see `AnalysisSource`."""
        tables = folder / "tables"
        tables.mkdir()
        self._write_parquet(tables, conversations)
        return make_copy(tables, folder, form)
