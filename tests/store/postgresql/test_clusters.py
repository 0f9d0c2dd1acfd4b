"""What CockroachDB and YugabyteDB ask of SQL, held against every statement that Forky sends, as PostgreSQL's own parser
reads it.

Forky was not run on them. What is held here is what their documentation says: advisory locks lock nothing or are off,
LISTEN is missing or off, a transaction may have to be tried again (40001, 40P01), a table may be written once in a
statement, and rows are on one node only if their key begins with what the tables are cut by, which is the workspace.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from forky_core.model import Change
from forky_core.people import people_on_server
from forky_core.people.team import Team
from forky_core.store.postgresql import statements
from forky_core.store.postgresql.migrations import FUNCTIONS_FILE, MIGRATIONS, SCHEMA_FILE
from forky_core.store.postgresql.store import PostgresStore
from tests.programs import CHECKOUT
from tests.store.talk import HERE, begin, change, said

pglast = pytest.importorskip("pglast", reason="The parser of PostgreSQL is not installed.")

OF_THE_DATABASE = {"OLDER_PROGRAMS_0": "looks for a process in whichever workspace it is"}
"""Statements that ask every node, with the reason."""
_SQL = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|LISTEN|NOTIFY|LOCK)\b")


class Statement(NamedTuple):
    name: str
    tree: Any


def nodes(tree: Any) -> Iterator[Any]:
    """Every node of a tree."""
    if isinstance(tree, tuple):
        for one in tree:
            yield from nodes(one)
    elif isinstance(tree, pglast.ast.Node):
        yield tree
        for name in tree:
            yield from nodes(getattr(tree, name))


def kind(node: Any) -> str:
    return type(node).__name__


def parsed(name: str, text: str) -> Iterator[Statement]:
    """The statements of a text, with a number where values are given."""
    numbered = re.sub(r"%\(\w+\)s|%s|\?", "$1", text).replace("%%", "%")
    for at, raw in enumerate(pglast.parse_sql(numbered)):
        yield Statement(f"{name}_{at}", raw.stmt)


def in_functions(text: str) -> Iterator[Statement]:
    """The statements within the functions that a text makes."""
    for raw in pglast.parse_sql(text):
        if kind(raw.stmt) != "CreateFunctionStmt":
            continue
        name = ".".join(part.sval for part in raw.stmt.funcname)
        options = {option.defname: option.arg for option in raw.stmt.options}
        if options["language"].sval == "sql":
            yield from parsed(name, options["as"][0].sval)
            continue
        whole = text.encode()[raw.stmt_location :][: raw.stmt_len or None].decode()
        for at, query in enumerate(_queries(pglast.parse_plpgsql(whole))):
            yield from parsed(f"{name}.{at}", query)


def _queries(tree: Any) -> Iterator[str]:
    if isinstance(tree, list):
        for one in tree:
            yield from _queries(one)
    elif isinstance(tree, dict):
        found = tree.get("PLpgSQL_expr")
        if found is not None and found.get("parseMode", 0) == 0:
            yield found["query"]
        for one in tree.values():
            yield from _queries(one)


def in_source(folder: Path) -> Iterator[Statement]:
    """The statements that are written out in the Python files of a folder; a name stands where one is put in."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                text = "".join(one.value if isinstance(one, ast.Constant) else "x" for one in node.values)  # type: ignore[misc]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            if _SQL.match(text):
                # What is no statement is a piece of one.
                with suppress(pglast.parser.ParseError):
                    yield from parsed(f"{file.name}:{node.lineno}", text)


@cache
def of_the_store() -> tuple[Statement, ...]:
    found = [
        Statement(f"{name}_{at}", one.tree)
        for name, value in vars(statements).items()
        if name.isupper() and not name.startswith("_")
        for at, text in enumerate((value,) if isinstance(value, str) else value)
        for one in parsed(name, text)
    ]
    return (*found, *in_functions(FUNCTIONS_FILE.read_text("utf-8")))


@cache
def of_the_people() -> tuple[Statement, ...]:
    return tuple(in_source(CHECKOUT / "forky_core" / "people"))


@cache
def beside_them() -> tuple[Statement, ...]:
    """What makes tables, and what the other files of the store send."""
    people = [one for text in people_on_server._statements(()) for one in parsed("people", text)]
    steps = [one for step in MIGRATIONS for one in parsed(step.name, step.sql)]
    schema = parsed("schema.sql", SCHEMA_FILE.read_text("utf-8"))
    return (*people, *steps, *schema, *in_source(CHECKOUT / "forky_core" / "store" / "postgresql"))


@cache
def tables_with_a_workspace() -> frozenset[str]:
    found: set[str] = set()
    for one in parsed("schema.sql", SCHEMA_FILE.read_text("utf-8")):
        if kind(one.tree) != "CreateStmt":
            continue
        for part in one.tree.tableElts:
            is_like = kind(part) == "TableLikeClause" and part.relation.relname in found
            if is_like or (kind(part) == "ColumnDef" and part.colname == "workspace"):
                found.add(one.tree.relation.relname)
    return frozenset(found)


def test_every_statement_is_read() -> None:
    assert len(of_the_store()) > 110 and len(of_the_people()) > 120 and len(beside_them()) > 100
    assert len(tables_with_a_workspace()) == 15
    assert {
        one.name.partition(".")[2].partition(".")[0] for one in of_the_store() if "forky." in one.name
    } >= {"append", "keep_calls", "record"}


def test_no_statement_needs_advisory_locks_or_listens() -> None:
    """What is told to other processes (channel.py) is tried, and done without where it cannot be; a test of
    test_other_processes.py has that.
    """
    for one in (*of_the_store(), *of_the_people(), *beside_them()):
        for node in nodes(one.tree):
            assert kind(node) != "LockStmt", one.name
            is_told = kind(node) in {"ListenStmt", "NotifyStmt"}
            if kind(node) == "FuncCall":
                assert "advisory" not in node.funcname[-1].sval, one.name
                is_told = node.funcname[-1].sval == "pg_notify"
            assert not is_told or one.name.startswith("channel.py:"), one.name
            if kind(node) == "LockingClause":
                assert node.strength.name in {"LCS_FORUPDATE", "LCS_FORKEYSHARE"}, one.name


def test_no_statement_that_writes_names_a_table_twice() -> None:
    writing = {"InsertStmt", "UpdateStmt", "DeleteStmt"}
    seen = 0
    for one in (*of_the_store(), *of_the_people()):
        inside = [node for node in nodes(one.tree) if kind(node) in writing]
        seen += bool(inside)
        written = [node.relation.relname for node in inside]
        assert len(written) == len(set(written)), one.name
        if len(inside) > 1 or getattr(one.tree, "withClause", None) is not None:
            named = [node.relname for node in nodes(one.tree) if kind(node) == "RangeVar"]
            assert len(named) == len(set(named)), one.name
    assert seen > 60


def _unbound(query: Any) -> Iterator[str]:
    """Tables of a query that have a workspace which the query does not compare."""
    froms = [
        *(getattr(query, "fromClause", None) or ()),
        *(getattr(query, "usingClause", None) or ()),
        *([query.relation] if kind(query) in {"UpdateStmt", "DeleteStmt"} else []),
    ]
    tables, conditions = [], [query.whereClause]
    while froms:
        one = froms.pop()
        if kind(one) == "JoinExpr":
            froms += [one.larg, one.rarg]
            conditions.append(one.quals)
        elif kind(one) == "RangeVar":
            tables.append(one)
    compared: set[tuple[str, ...]] = set()
    while conditions:
        one = conditions.pop()
        if kind(one) == "BoolExpr" and one.boolop.name == "AND_EXPR":
            conditions += one.args
        elif kind(one) == "A_Expr" and [part.sval for part in one.name] == ["="]:
            for side in (one.lexpr, one.rexpr):
                if kind(side) == "ColumnRef" and all(hasattr(part, "sval") for part in side.fields):
                    compared.add(tuple(part.sval for part in side.fields))
    for table in tables:
        called = table.alias.aliasname if table.alias is not None else table.relname
        is_alone = len(tables) == 1 and ("workspace",) in compared
        if (
            table.relname in tables_with_a_workspace()
            and not is_alone
            and (called, "workspace") not in compared
        ):
            yield table.relname


def unbound(statement: Statement) -> list[str]:
    queries = [
        node for node in nodes(statement.tree) if kind(node) in {"SelectStmt", "UpdateStmt", "DeleteStmt"}
    ]
    return [table for query in queries for table in _unbound(query)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1 FROM forky.messages m WHERE m.id = 'x'", ["messages"]),
        ("SELECT 1 FROM forky.messages WHERE workspace = 'w' OR true", ["messages"]),
        ("SELECT 1 FROM forky.messages m JOIN forky.entries e ON e.key = m.role WHERE m.workspace = 'w'", ["entries"]),
        ("SELECT 1 WHERE EXISTS (SELECT 1 FROM forky.blobs)", ["blobs"]),
        ("DELETE FROM forky.blobs WHERE sha256 = 'x'", ["blobs"]),
        ("SELECT 1 FROM forky.messages WHERE workspace = 'w' AND id = 'x'", []),
    ],
)  # fmt: skip
def test_what_forgets_the_workspace_is_found(text: str, found: list[str]) -> None:
    (one,) = parsed("made up", text)
    assert unbound(one) == found


def test_every_statement_stays_in_one_workspace() -> None:
    astray = {one.name: found for one in of_the_store() if (found := unbound(one))}
    assert astray.keys() == OF_THE_DATABASE.keys(), astray


def test_every_unique_key_of_a_workspace_begins_with_it() -> None:
    keys: list[tuple[str, str]] = []
    for one in beside_them():
        if kind(one.tree) not in {"IndexStmt", "CreateStmt"} or one.tree.relation.schemaname != "forky":
            continue  # The people are no part of what is cut.
        if kind(one.tree) == "IndexStmt":
            if one.tree.unique:
                keys.append((one.tree.relation.relname, one.tree.indexParams[0].name))
            continue
        for part in one.tree.tableElts:
            constraints = [part] if kind(part) == "Constraint" else getattr(part, "constraints", None) or ()
            for constraint in constraints:
                if constraint.contype.name in {"CONSTR_PRIMARY", "CONSTR_UNIQUE"}:
                    first = constraint.keys[0].sval if constraint.keys else part.colname
                    keys.append((one.tree.relation.relname, first))
    of_workspaces = [(table, first) for table, first in keys if table in tables_with_a_workspace()]
    assert len(of_workspaces) > 15
    assert [pair for pair in of_workspaces if pair[1] != "workspace"] == []


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_a_cluster_wants_to_have_tried_again_is_tried_again(url: str, state: str) -> None:
    """The server refuses every first two tries, as a cluster does where transactions meet."""
    with PostgresStore.open(url) as store:
        begin(store, said("hello"))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"""
                CREATE SEQUENCE forky.tries;
                CREATE FUNCTION forky.meets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('forky.tries') % 3 <> 0 THEN RAISE 'again' USING ERRCODE = '{state}'; END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER meets BEFORE INSERT ON forky.operations FOR EACH ROW EXECUTE FUNCTION forky.meets();
                CREATE TRIGGER meets BEFORE INSERT ON forky.settings FOR EACH ROW EXECUTE FUNCTION forky.meets();
            """)
        change(store, Change("title", "A talk", "B"))
        store.set_setting("key", "value")
        assert store.view(HERE).title == "B" and store.setting("key") == "value"
        assert len(store.operations(HERE)) == 2 and store.verify().clean
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT last_value FROM forky.tries").fetchone() == (6,)


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_question_that_a_cluster_wants_to_have_asked_again_is_asked_again(url: str, state: str) -> None:
    """The server refuses every first two tries, of conversations and of people."""
    team = Team(url)
    with PostgresStore.open(url) as store:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"""
                CREATE SEQUENCE forky.tries;
                CREATE FUNCTION forky.asked() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('forky.tries') % 3 <> 0 THEN RAISE 'again' USING ERRCODE = '{state}'; END IF;
                    RETURN 7;
                END $$;
            """)
        question = "SELECT forky.asked()"
        assert store._database.reading(lambda lent: lent.execute(question).fetchone()) == (7,)
        assert team.database.row(question) == (7,)
    team.close()
