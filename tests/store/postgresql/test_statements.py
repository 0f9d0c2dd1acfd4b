"""Every statement of the store is one that a real server plans, and is in the form that clusters ask for."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from forky_core.store.postgresql import statements
from forky_core.store.postgresql.migrations import SCHEMA_FILE

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


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_real_server_plans_it(shared: str, name: str) -> None:
    text = EVERY[name]
    values = {found: given(found, text) for found in re.findall(r"%\((\w+)\)s", text)}
    if name == "ERASED_0":
        values["last"] = "0" * 32
    with psycopg.connect(shared, options="-c forky.workspace=x") as connection:
        plan = connection.execute(f"EXPLAIN {text}", values).fetchall()
    assert plan


@pytest.mark.parametrize("name", sorted(EVERY))
def test_it_names_the_workspace_and_asks_for_nothing_that_clusters_lack(name: str) -> None:
    text = EVERY[name]
    assert "%(workspace)s" in text or name in OF_THE_DATABASE, "the shard key is in every statement"
    lowered = text.lower()
    assert not re.search(r"advisory|listen |notify|lock table|for share\b", lowered)
    if "with " in lowered and re.search(r"insert|update|delete", lowered):
        tables = re.findall(r"(?:into|update|from) (forky\.\w+)", lowered)
        assert len(tables) == len(set(tables)), "no table twice in one writing statement"


def test_every_unique_key_begins_with_the_workspace() -> None:
    schema = SCHEMA_FILE.read_text("utf-8")
    keys = re.findall(r"PRIMARY KEY \(([^)]*)\)|UNIQUE INDEX \w+ ON [\w.]+ \(([^)]*)\)", schema)
    found = [one or other for one, other in keys]
    assert len(found) > 12
    assert [key for key in found if not key.startswith("workspace")] == []
    assert not re.search(r"advisory|pg_notify|LISTEN", schema)
