"""Every statement of the store is one that a real server plans."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg

from forky_core.store.base import session
from forky_core.store.duckdb import statements as duckdb_statements
from forky_core.store.postgresql import statements
from forky_core.store.postgresql.migrations import FUNCTIONS_FILE

EVERY = {
    f"{name}_{at}": text
    for name, value in vars(statements).items()
    if name.isupper() and not name.startswith("_")
    for at, text in enumerate((value,) if isinstance(value, str) else value)
}
OF_THE_DATABASE = {"SIZE_0", "KNOW_SCHEMA_0", "FORGET_SCHEMAS_0", "OLDER_PROGRAMS_0"}
"""Statements that are not about a workspace."""
_LISTS = {
    "conversations", "numbers", "segments_list", "depths", "keys", "values", "ids", "names", "named", "words", "patterns",
    "places", "texts", "overlaps", "lengths", "terms", "chunks_list", "frequencies", "vectors",
}  # fmt: skip
_NUMBERS = {
    "after", "last", "most", "skip", "first", "number", "started", "made", "updated", "version", "size", "added", "overlap",
    "operation", "messages", "gesture", "seen", "reached", "began", "moved",
}  # fmt: skip


def given(name: str, text: str) -> Any:
    """A value of the kind that a parameter of a statement has."""
    cast = re.search(rf"%\({name}\)s::(\w+(?:\[\])?)", text)
    kind = cast[1] if cast else ""
    if kind == "json":
        return "[]"
    if kind.endswith("[]") or re.search(rf"(?:ANY|ALL) ?\(%\({name}\)s\)", text):
        return []
    if kind in {"int", "bigint"} or name in _NUMBERS or (name in {"chunks", "terms"} and "chunks +" in text):
        return 1
    if name in {"schema", "usable_from"}:
        return 1
    if name in {"whole", "shelved"}:
        return True
    if name in {"content", "vector"}:
        return b""
    if kind == "uuid" or name in {"low", "high", "newest"} or (name in {"id", "last"} and _is_uuid(text)):
        return "0" * 32
    return "x"


def _is_uuid(text: str) -> bool:
    return any(table in text for table in ("forky.messages", "forky.operations"))


def failures(url: str, texts: Mapping[str, str]) -> dict[str, str]:
    """What PostgreSQL says against each statement that it does not plan."""
    found: dict[str, str] = {}
    with psycopg.connect(url, options="-c forky.workspace=x", autocommit=True) as connection:
        for name, text in texts.items():
            values = {one: given(one, text) for one in re.findall(r"%\((\w+)\)s", text)}
            if name == "ERASED_0":
                values["last"] = "0" * 32
            try:
                assert connection.execute(f"EXPLAIN {text}", values).fetchall()
            except psycopg.Error as error:
                found[name] = str(error)
    return found


def test_a_real_server_plans_every_statement(shared: str) -> None:
    assert len(EVERY) > 100
    assert failures(shared, EVERY) == {}


def test_what_the_base_asks_both_engines_have_with_the_same_parameters() -> None:
    base = "".join(path.read_text("utf-8") for path in Path(session.__file__).parent.glob("*.py"))
    asked = set(re.findall(r"\b_?sql\.([A-Z_]+)", base))
    assert len(asked) > 50
    here = {name: _parameters(statements, name, r"%\((\w+)\)s") - {"workspace"} for name in asked}
    assert here == {name: _parameters(duckdb_statements, name, r"\$(\w+)") for name in asked}


def _parameters(engine: ModuleType, name: str, pattern: str) -> set[str]:
    text = getattr(engine, name)
    return set(re.findall(pattern, text if isinstance(text, str) else " ".join(text)))


def test_planning_a_statement_finds_a_column_that_is_missing(shared: str) -> None:
    found = failures(
        shared, {"BROKEN": "SELECT shoe_size FROM forky.messages", "SETTINGS": statements.SETTINGS}
    )
    assert list(found) == ["BROKEN"] and "shoe_size" in found["BROKEN"]


def test_every_statement_names_the_workspace() -> None:
    """Which is the key by which rows are cut up; test_clusters.py has what else clusters ask for."""
    unnamed = {name for name, text in EVERY.items() if "%(workspace)s" not in text}
    assert unnamed == OF_THE_DATABASE


def test_every_insertion_names_its_columns() -> None:
    """A column that is added later is then left out, and not taken for another one."""
    sources = {**EVERY, "functions.sql": FUNCTIONS_FILE.read_text("utf-8")}
    nameless = r"INSERT INTO forky\.\w+(?: AS \w+)?\s+(?![\s(]|AS )"
    assert {name for name, text in sources.items() if re.search(nameless, text)} == set()
