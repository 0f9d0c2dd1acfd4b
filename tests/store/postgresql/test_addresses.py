"""Addresses that are none: a sentence, and never a part of the password."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.model.errors import StoreError
from forky_core.store.opening import open_store
from forky_core.store.postgresql.error_sentences import shown_url


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://forky:p%secret@127.0.0.1:5432/forky",
        "postgresql://forky:p/secret@127.0.0.1:5432/forky",
        "postgresql://forky:p secret@127.0.0.1:5432/forky",
        "postgresql://127.0.0.1/forky?sslmod=secret",
    ],
)
def test_an_address_that_cannot_be_read_is_told_without_a_part_of_the_password(url: str) -> None:
    with pytest.raises(StoreError, match="cannot be read") as refused:
        open_store(url)
    assert "secret" not in f"{refused.value} {refused.value.hint}" and refused.value.__cause__ is None
    assert "%2F" in refused.value.hint


def test_a_database_is_called_by_its_name_and_host() -> None:
    assert shown_url("postgresql://ada:p%2Fsecret@db.example/talks") == (
        "The PostgreSQL database “talks” at db.example"
    )
    assert shown_url("postgresql://") == "The PostgreSQL database “postgres” at this machine"


def test_other_kinds_of_databases_are_refused_and_make_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for location in ("mysql://x/y", Path("mysql://x/y")):
        with pytest.raises(StoreError, match="DuckDB file or in PostgreSQL"):
            open_store(location)
    assert list(tmp_path.iterdir()) == []
