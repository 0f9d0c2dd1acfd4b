"""Every statement the DuckDB store runs: written once in SQLAlchemy Core, compiled ahead of time, run as strings.

    source/        written by hand: tables.py, and a file of statements for each subject; only `make sql` imports it
    statements.py, document_statements.py, tables.py        written by `make sql` out of source/, and checked in
    statement.py   what those are made of, and what can be asked of them
    running.py     asking DuckDB, which parses each text once

Importing SQLAlchemy and compiling all of it took a fifth of a second of every start. A change is made in source/, then
`make sql` writes it down; tests/store/test_sql.py finds what was forgotten. In tests/store/test_statements.py DuckDB
plans every statement on an empty database, and each is compiled for PostgreSQL.
"""
