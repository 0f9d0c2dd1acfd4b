"""The views for analysis in the database itself, in a schema `forky_v1`, for whoever asks with psql or another program.

They are defined in views.sql and described in docs/analysis.md. Forky itself reads none of them. They are made where
somebody asks for them. A migration that changes a column which they read has to drop them first.
"""

from __future__ import annotations

from pathlib import Path

from psycopg import errors

from forky_core.model.errors import StoreError
from forky_core.store.postgresql.database import Database

VIEWS = Path(__file__).with_name("views.sql")


def make_views(database: Database) -> None:
    """Create the views, or replace them. Whoever was allowed to read the former ones may read the new ones.

    Raises:
        StoreError: the server cannot be reached, the role may not, or older views cannot be replaced.
    """
    with database.saying(), database.connect() as connection, connection.transaction():
        try:
            connection.execute(VIEWS.read_text("utf-8"))
        except (
            errors.InvalidTableDefinition,
            errors.InvalidFunctionDefinition,
            errors.WrongObjectType,
        ) as error:
            raise StoreError(
                f"The schema forky_v1 of {database.name} has views that cannot be replaced: "
                f"{error.diag.message_primary}. Nothing was changed.",
                "Remove them with DROP SCHEMA forky_v1 CASCADE, and whatever else needs them, and make them again.",
            ) from error
