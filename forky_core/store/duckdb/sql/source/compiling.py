"""From SQLAlchemy Core to modules of plain strings: the same source always makes the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from types import ModuleType
from typing import TypeAlias

from duckdb_sqlalchemy import Dialect
from sqlalchemy import MetaData
from sqlalchemy.sql.expression import ClauseElement

from forky_core.store.duckdb.sql.source import (
    blobs_and_settings,
    conversations,
    documents,
    generations,
    messages,
    operations,
    packs,
    search,
    tables,
)
from forky_core.store.duckdb.sql.source.bind_parameters import Repeated
from forky_core.store.duckdb.sql.statement import Each, Family, SqlStatement

Source: TypeAlias = ClauseElement | tuple[ClauseElement, ...]
"""One statement, or several under one name."""
HOME = Path(__file__).resolve().parent.parent
_MODULES: Mapping[str, tuple[ModuleType, ...]] = {
    "statements.py": (blobs_and_settings, conversations, generations, messages, operations, packs, search),
    "document_statements.py": (documents,),
}
DIALECT = Dialect(paramstyle="qmark")
_REPEATED = re.compile(f"{Repeated.BEGIN}(.*?){Repeated.JOINT}(.*?){Repeated.END}", re.DOTALL)
_WIDTH = 100


def compiled() -> dict[str, str]:
    """Each file's name and what it has to say."""
    texts = {name: "".join(_statements(modules)) for name, modules in _MODULES.items()}
    texts["tables.py"] = "".join(_tables(tables.metadata))
    return {name: _formatted(name, text) for name, text in texts.items()}


def sources() -> Iterator[tuple[str, Source]]:
    """Each statement of the source by its name, as it is written there."""
    for modules in _MODULES.values():
        yield from _named(modules)


def _named(modules: tuple[ModuleType, ...]) -> Iterator[tuple[str, Source]]:
    for module in modules:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, ClauseElement | tuple):
                yield name, value


def _statements(modules: tuple[ModuleType, ...]) -> Iterator[str]:
    yield '"""Written by `make sql` out of source/: not to be edited."""\n\nfrom __future__ import annotations\n\n'
    named: dict[str, str] = {}
    for name, value in _named(modules):
        assert name not in named, f"two statements are called {name}"
        named[name] = _literal(value)
    text = "\n\n".join(f"{name} = {named[name]}" for name in sorted(named))
    kinds = [kind.__name__ for kind in (Each, Family, SqlStatement) if f"{kind.__name__}(" in text]
    yield f"from forky_core.store.duckdb.sql.statement import {', '.join(kinds)}\n\n{text}\n"


def _literal(value: Source) -> str:
    if isinstance(value, tuple):
        return f"({''.join(f'{_literal(one)},' for one in value)})"
    form = value.compile(dialect=DIALECT, compile_kwargs={"render_postcompile": True})
    fixed = {name: value for name, value in (form.params or {}).items() if value is not None}
    return _pieces(str(form).strip(), getattr(form, "positiontup", None) or [], fixed)


def _pieces(text: str, names: list[str], fixed: Mapping[str, object]) -> str:
    assert text.count("?") == len(names)
    assert "'" not in text, "what is quoted in SQL could be broken by breaking lines"
    left = list(names)
    pieces: list[str] = []
    for at, part in enumerate(_REPEATED.split(text)):
        match at % 3:
            case 0 | 1:
                own = tuple(left[: part.count("?")])
                del left[: len(own)]
                pieces.append(_statement(part, own, {name: fixed[name] for name in own if name in fixed}))
            case _:
                pieces[-1] = f"Each({pieces[-1]}, {part!r})"
    return pieces[0] if len(pieces) == 1 else f"Family(({', '.join(pieces)}))"


def _statement(text: str, names: tuple[str, ...], fixed: Mapping[str, object]) -> str:
    lines = [
        line
        for clause in text.split("\n")
        for line in wrap(
            clause, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
        or [""]
    ]
    quoted = f'"""{chr(10).join(lines)}"""' if len(lines) > 1 else repr(text)
    arguments = [quoted, *([repr(names)] if names else []), *([ascii(dict(fixed))] if fixed else [])]
    return f"SqlStatement({', '.join(arguments)})"


def _tables(metadata: MetaData) -> Iterator[str]:
    yield '"""Written by `make sql` out of source/tables.py: not to be edited."""\n\n'
    yield "from __future__ import annotations\n\nfrom forky_core.store.duckdb.sql.statement import Table\n\n"
    quote = DIALECT.identifier_preparer.quote
    for table in sorted(metadata.tables.values(), key=lambda table: table.name):
        columns = tuple(column.name for column in table.columns)
        assert all(quote(name) == name for name in (table.name, *columns)), "names are written without quotes"
        yield f"{table.name} = Table({f'{table.schema}.{table.name}'!r}, {columns!r})\n"


def _formatted(name: str, text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(HOME / name), "-"]
    return subprocess.run(command, input=text, capture_output=True, check=True, encoding="utf-8").stdout
