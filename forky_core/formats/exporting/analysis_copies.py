"""Copies for analysis: the documented tables of docs/analysis.md, all as of one moment.

A copy is made in a temporary folder by DuckDB's own Parquet writer, which holds up nobody; of a PostgreSQL database the
rows are read first. It becomes one file: a database with a schema `forky_v1`, or a ZIP archive of Parquet files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forky_core.conversation.workspace import Workspace
from forky_core.formats.files.spools import spool
from forky_core.formats.forky_file.files import replacing
from forky_core.model import ConversationId
from forky_core.model.errors import NotFound
from forky_core.store.contract import AnalysisSource, CopyForm

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class AnalysisCopy:
    """What a copy is to have."""

    form: CopyForm = "duckdb"
    conversations: frozenset[ConversationId] | None = None
    """None: all of them."""

    @property
    def suffix(self) -> str:
        return ".duckdb" if self.form == "duckdb" else ".zip"

    @property
    def media_type(self) -> str:
        return "application/octet-stream" if self.form == "duckdb" else "application/zip"


def readable(forky: Workspace) -> frozenset[ConversationId]:
    """The conversations that somebody may read, those in the trash too."""
    every = (*forky.conversations(), *forky.conversations(trashed=True))
    return frozenset(line.id for line in every)


def form_for(path: Path) -> CopyForm:
    """What a file's name asks for: a ZIP archive of Parquet files, or else one DuckDB file."""
    return "parquet" if path.suffix.lower() == ".zip" else "duckdb"


def write_copy(store: object, wanted: AnalysisCopy, to: Path) -> None:
    """Write a copy to a file that nobody but its owner may read, or in the place of one that is there.

    Raises:
        NotFound: the workspace is kept in memory only.
        BadContent: the file cannot be written; StoreError if there is no room for the work. Nothing is left behind.
    """
    with replacing(to, usual=0o600) as out:
        for piece in copy_pieces(store, wanted):
            out.write(piece)


def copy_pieces(store: object, wanted: AnalysisCopy) -> Iterator[bytes]:
    """The bytes of a copy, which is made when the first piece is asked for. Raises what `write_copy` raises."""
    with made_copy(store, wanted) as made, made.open("rb") as content:
        while piece := content.read(_PIECE):
            yield piece


@contextmanager
def made_copy(store: object, wanted: AnalysisCopy) -> Iterator[Path]:
    """A copy as a temporary file, which is removed at the end of the `with`.

    Raises:
        NotFound: the workspace is kept in memory only.
        StoreError: there is no room for it, or what keeps the workspace cannot be asked.
    """
    if not isinstance(store, AnalysisSource):
        raise NotFound("This workspace is kept in memory only; there is no file to copy.")
    with spool("analysis") as folder:
        yield store.write_tables(folder, wanted.form, wanted.conversations)
