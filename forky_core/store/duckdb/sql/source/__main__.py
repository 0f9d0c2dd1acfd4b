"""`make sql`: write the compiled modules anew."""

from __future__ import annotations

from forky_core.store.duckdb.sql.source.compiling import HOME, compiled

for name, text in compiled().items():
    (HOME / name).write_bytes(text.encode())
