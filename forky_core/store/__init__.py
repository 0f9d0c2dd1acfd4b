"""Where conversations are kept: a contract, and the stores that keep it.

`contract.py` and `document_contract.py` say what Forky needs; `duckdb.py` and `memory.py` keep it, and share what is
pure (deciding, auditing, words). Of DuckDB: what it is asked (sql/), the file (file/), the one thread that writes
(writing/), how rows are read (reading/), and what is held of them in memory (held/).
"""
