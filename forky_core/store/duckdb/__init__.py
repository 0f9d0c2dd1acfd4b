"""The store that keeps conversations in one DuckDB file.

`store.py` keeps the contract. Beside it: the statements (sql/), the file (file/), the one thread that writes (write/),
the functions that read rows (read/), and the cache of what pages ask for at every run (cache/).
"""
